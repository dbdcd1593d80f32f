//! One decision over a whole input: the command line's, as functions.

use crate::errors::thrown;
use crate::view::{View, settings, shown};
use louver::Body;
use louver_face::Fault;
use louver_face::functions::{self, Mended, Output};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// A whole input as text: what it says, and where its history stands.
#[napi]
#[derive(Debug)]
pub struct NativeInput {
    body: Body,
}

/// A conversation with another history.
#[napi(object)]
#[expect(missing_debug_implementations, reason = "a buffer of Node has none")]
pub struct NativeOutput {
    /// As text; nothing where nothing had to be done.
    pub json: Option<String>,
    /// The same as bytes, where bytes were asked for.
    pub bytes: Option<Buffer>,
    /// Its messages.
    pub view: Option<View>,
    /// What was decided or changed, as JSON.
    pub report: String,
    /// The sentence that says what is still refused, where anything is.
    pub refused: Option<String>,
    /// What is still refused, as JSON.
    pub left: Option<String>,
}

/// In which form the result is wanted.
#[napi(string_enum)]
#[derive(Debug)]
pub enum Wanted {
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// The places of objects.
    Objects,
}

#[napi]
impl NativeInput {
    /// Reads bytes.
    #[napi(factory)]
    pub fn of_bytes(bytes: &[u8], format: Option<String>) -> napi::Result<Self> {
        let format = functions::format_named(format.as_deref()).map_err(thrown)?;
        let body = Body::parse_bytes(bytes, format).map_err(|error| thrown(Fault::from(&error)))?;
        Ok(Self { body })
    }

    /// Reads a text.
    #[napi(factory)]
    pub fn of_text(text: String, format: Option<String>) -> napi::Result<Self> {
        let format = functions::format_named(format.as_deref()).map_err(thrown)?;
        let body = Body::parse(&text, format).map_err(|error| thrown(Fault::from(&error)))?;
        Ok(Self { body })
    }

    /// Where the history stands: a path such as `$.messages`, or `$` for a bare list.
    #[napi(getter)]
    pub fn history_path(&self) -> String {
        self.body.history_path().to_owned()
    }

    /// The text of one message.
    #[napi]
    pub fn message(&self, index: u32) -> Option<String> {
        self.body.messages().get(index as usize).map(|message| message.raw().to_owned())
    }

    /// Leaves messages out until the conversation fits.
    #[napi]
    pub fn trim(&self, settings_json: String, wanted: Wanted) -> napi::Result<NativeOutput> {
        let (output, report) = functions::trim(&self.body, &settings(&settings_json)?).map_err(thrown)?;
        Ok(NativeOutput::of(output, &wanted, shown(&report)?))
    }

    /// Every rule that the provider would refuse it for, as JSON.
    #[napi]
    pub fn check(&self) -> napi::Result<String> {
        shown(&functions::check(&self.body))
    }

    /// The smallest legal history.
    #[napi]
    pub fn repair(&self, wanted: Wanted) -> napi::Result<NativeOutput> {
        let Mended { output, changes, left } = functions::repair(&self.body).map_err(thrown)?;
        let mended = NativeOutput::of(output, &wanted, shown(&changes)?);
        let Some((refused, left)) = left else { return Ok(mended) };
        Ok(NativeOutput { refused: Some(refused), left: Some(shown(&left)?), ..mended })
    }

    /// What fills the window, as JSON.
    #[napi]
    pub fn inspect(&self, settings_json: String) -> napi::Result<String> {
        shown(&functions::inspect(&self.body, &settings(&settings_json)?).map_err(thrown)?)
    }

    /// What was left out, as JSON.
    #[napi]
    pub fn recall(&self, wanted: String, limit: u32, settings_json: String) -> napi::Result<String> {
        let settings = settings(&settings_json)?;
        shown(&functions::recall(&self.body, &wanted, limit as usize, settings).map_err(thrown)?)
    }
}

impl NativeOutput {
    fn of(output: Option<Output>, wanted: &Wanted, report: String) -> Self {
        let mut given = Self { json: None, bytes: None, view: None, report, refused: None, left: None };
        let Some(Output { json, sent }) = output else { return given };
        match wanted {
            Wanted::Text => given.json = Some(json),
            Wanted::Bytes => given.bytes = Some(json.into_bytes().into()),
            Wanted::Objects => given.view = Some(View::of(sent)),
        }
        given
    }
}
