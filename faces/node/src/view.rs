//! A view, as numbers and texts.

use crate::errors::thrown;
use louver::Format;
use louver_face::{Fault, Frame, Sent, Settings, Texts};
use napi_derive::napi;
use serde::Serialize;
use std::sync::Arc;

/// The messages of a view: where each stands in the history, and the texts of those that are ours or changed, in order.
#[napi(object)]
#[derive(Debug)]
pub struct View {
    /// An index for what is as it came in, `-1` for a message of ours, `-2 - index` for a changed one.
    pub places: Vec<i32>,
    /// JSON texts.
    pub texts: Vec<String>,
}

impl View {
    pub(crate) fn of(sent: Vec<Sent>) -> Self {
        let mut view = Self { places: Vec::with_capacity(sent.len()), texts: Vec::new() };
        for message in sent {
            let place = |index| i32::try_from(index).unwrap_or(i32::MAX - 2);
            match message {
                Sent::Same(index) => view.places.push(place(index)),
                Sent::New { raw, like } => {
                    view.places.push(like.map_or(-1, |index| -2 - place(index)));
                    view.texts.push(raw);
                }
            }
        }
        view
    }
}

/// Reads settings that came as JSON.
pub(crate) fn settings(json: &str) -> napi::Result<Settings> {
    let given = serde_json::from_str(json).map_err(|error| thrown(Fault::Usage(error.to_string())))?;
    Settings::read(given).map_err(thrown)
}

/// A value as JSON.
pub(crate) fn shown(value: &impl Serialize) -> napi::Result<String> {
    serde_json::to_string(value).map_err(|error| thrown(Fault::settings(error)))
}

/// What stands around a history, where anything does.
pub(crate) fn frame(text: Option<String>, format: Format) -> napi::Result<Option<Frame>> {
    text.map(|text| Frame::read(text, format).map_err(thrown)).transpose()
}

/// The texts of the last histories: what is as it was is not told again.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    histories: Vec<Vec<Arc<str>>>,
}

impl Heard {
    /// A history that begins with so many messages of one of them, and goes on with those that are told.
    pub(crate) fn texts(&mut self, slot: u32, common: u32, rest: &Texts) -> Texts {
        let (slot, common) = (slot as usize, common as usize);
        if self.histories.len() <= slot {
            self.histories.resize_with(slot + 1, Vec::new);
        }
        let history = &mut self.histories[slot];
        history.truncate(common);
        history.extend((0..rest.len()).map(|index| Arc::from(rest.raw(index))));
        let mut texts = Texts::default();
        history.iter().for_each(|raw| texts.share(raw.clone()));
        texts
    }
}

/// Messages in one text, since each crossing costs more than its bytes: a list as V8 writes it, or texts with NULs between.
pub(crate) fn texts(text: String, is_list: bool) -> Texts {
    if is_list { Texts::list(text) } else { Texts::joined(text) }
}
