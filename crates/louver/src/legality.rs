//! Is this history legal, and what would make it so?

use crate::json::JsonError;
use crate::policy::PolicyKind;
use crate::tokens::{AtMost, Counter};
use crate::window::{Window, WindowConfig};
use crate::wire::{Body, Fix, Format, Violation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every rule that the provider would refuse this input for.
///
/// ```
/// use louver::legality::check;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[{"role":"tool","tool_call_id":"a","content":"?"}]"#, Some(Format::OpenAiChat))?;
/// let violations = check(&body);
/// assert_eq!(violations[0].rule, "result-without-call");
/// assert_eq!(violations[0].path(body.history_path()), "$[0].role");
/// # Ok::<(), louver::json::JsonError>(())
/// ```
#[must_use]
pub fn check(body: &Body) -> Vec<Violation> {
    body.format().wire().check(&body.history())
}

/// What is legal here and may be refused all the same, such as ids that come again. It breaks no rule that is sure, so
/// [`repair`] leaves it alone.
///
/// ```
/// use louver::{Body, legality};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hi"}]"#, Some(louver::Format::Anthropic))?;
/// assert!(legality::advise(&body).is_empty());
/// # Ok::<(), louver::JsonError>(())
/// ```
#[must_use]
pub fn advise(body: &Body) -> Vec<Violation> {
    body.format().wire().advise(&body.history())
}

/// Whether the provider would refuse this input because it is more than a model's context window holds. Found at the
/// first message that no longer fits; the tokens are the counter's.
///
/// ```
/// use louver::tokens::Chars4;
/// use louver::{Body, legality};
/// use std::sync::Arc;
///
/// let body = Body::parse(r#"{"messages":[{"role":"user","content":"Eight and eight"}],"system":"Be brief."}"#, None)?;
/// assert!(legality::check_window(&body, &(Arc::new(Chars4) as _), 9).is_none());
/// let too_long = legality::check_window(&body, &(Arc::new(Chars4) as _), 5).unwrap();
/// assert_eq!((too_long.rule, too_long.index), ("context-window", 0));
/// assert!(too_long.message.starts_with("prompt is too long: "), "{}", too_long.message);
/// # Ok::<(), louver::JsonError>(())
/// ```
#[must_use]
pub fn check_window(body: &Body, counter: &Arc<dyn Counter>, context_window: u64) -> Option<Violation> {
    // A bound is quick, and most histories are far from full.
    if let Some(at_most) = AtMost::of(counter) {
        counted(body, Arc::new(at_most), context_window)?;
    }
    let (tokens, index) = counted(body, Arc::clone(counter), context_window)?;
    let message = match body.format() {
        Format::Anthropic => format!("prompt is too long: {tokens} tokens > {context_window} maximum"),
        Format::OpenAiChat => format!(
            "This model's maximum context length is {context_window} tokens. However, your messages resulted in {tokens} \
             tokens. Please reduce the length of the messages."
        ),
        Format::OpenAiResponses => {
            "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned()
        }
        Format::Gemini => {
            format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({context_window}).")
        }
    };
    Some(Violation { rule: "context-window", index, place: String::new(), message })
}

/// What everything comes to, and the first message with which it is too much; nothing where it never is.
fn counted(body: &Body, counter: Arc<dyn Counter>, context_window: u64) -> Option<(u64, usize)> {
    let mut config = WindowConfig::new(body.format(), PolicyKind::Everything);
    config.counter = counter;
    let mut window = Window::new(config.with_frame(body)).ok()?;
    let mut first = None;
    for message in body.messages() {
        let index = window.push(Arc::clone(message));
        let is_over = window.tokens() > context_window;
        // A provider's compaction takes the place of what stands before it.
        first = is_over.then_some(first.unwrap_or(index));
    }
    first.map(|index| (window.tokens(), index))
}

/// A legal history and what it took.
///
/// ```
/// use louver::{Body, legality};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hi"}]"#, None)?;
/// let repaired = legality::repair(&body)?;
/// assert!(repaired.fixes.is_empty() && repaired.json == body.text()); // what is legal is left alone
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The same kind of JSON as the input.
    pub json: String,
    /// The changes, by index into the input.
    pub fixes: Vec<Fix>,
}

impl Repaired {
    /// The repaired history of `body`, the input it was made of: each message with the index of the one it stands for.
    ///
    /// ```
    /// use louver::legality::repair;
    /// use louver::{Body, Format};
    ///
    /// let body = Body::parse(r#"[{"role":"user","content":"Hi"},{"role":"user","content":" "}]"#, Some(Format::Anthropic))?;
    /// let repaired = repair(&body).unwrap();
    /// assert_eq!(repaired.messages(&body).map(|(index, _)| index).collect::<Vec<_>>(), [Some(0)]);
    /// # Ok::<(), louver::JsonError>(())
    /// ```
    pub fn messages<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = (Option<usize>, &'a str)> {
        mended(body, &self.fixes)
    }
}

/// Why a history could not be made legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// Something is refused that is not ours to change, such as cache marks outside the history.
    #[error("the history cannot be made legal: {}", .left.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unmended {
        /// The history as far as it could be mended.
        repaired: Repaired,
        /// What is still refused in it, by index into that; never empty.
        left: Vec<Violation>,
    },
    /// A fix wrote what cannot be read, which property tests rule out.
    #[error("the repaired history cannot be read")]
    Unreadable(#[from] JsonError),
}

/// The smallest legal history. A legal one comes back byte for byte.
///
/// ```
/// use louver::legality::repair;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hi"},{"role":"user","content":" "}]"#, Some(Format::Anthropic))?;
/// assert_eq!(repair(&body).unwrap().json, r#"[{"role":"user","content":"Hi"}]"#);
/// # Ok::<(), louver::json::JsonError>(())
/// ```
///
/// # Errors
///
/// The result is checked again, and something in it is still refused.
pub fn repair(body: &Body) -> Result<Repaired, RepairError> {
    let fixes = body.format().wire().repair(&body.history());
    let json = if fixes.is_empty() { body.text().to_owned() } else { body.render(mended(body, &fixes)) };
    let left = check(&Body::parse(&json, Some(body.format()))?);
    let repaired = Repaired { json, fixes };
    match left.is_empty() {
        true => Ok(repaired),
        false => Err(RepairError::Unmended { repaired, left }),
    }
}

/// The messages of the input under these changes.
fn mended<'a>(body: &'a Body, fixes: &'a [Fix]) -> impl Iterator<Item = (Option<usize>, &'a str)> {
    let mut inserted: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut changed: BTreeMap<usize, Option<&str>> = BTreeMap::new();
    for fix in fixes {
        match fix {
            Fix::Remove { index, .. } => drop(changed.insert(*index, None)),
            Fix::Replace { index, raw, .. } => drop(changed.insert(*index, Some(raw))),
            Fix::Insert { index, raw, .. } => inserted.entry(*index).or_default().push(raw),
        }
    }
    let messages = body.messages();
    (0..=messages.len()).flat_map(move |index| {
        let own = inserted.remove(&index).into_iter().flatten().map(|raw| (None, raw));
        let original = messages.get(index).and_then(|message| match changed.get(&index) {
            Some(change) => change.map(|raw| (Some(index), raw)),
            None => Some((Some(index), message.raw())),
        });
        own.chain(original)
    })
}
