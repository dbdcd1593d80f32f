//! Is this history legal, and what would make it so?

use crate::json::JsonError;
use crate::wire::{Body, Fix, Violation};
use std::collections::BTreeMap;

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

/// A legal history and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The same kind of JSON as the input.
    pub json: String,
    /// The changes, by index into the input.
    pub fixes: Vec<Fix>,
}

/// The smallest legal history. A legal one comes back byte for byte.
///
/// # Errors
///
/// Never for what a format's own repair proposes; the result is read again to be sure.
pub fn repair(body: &Body) -> Result<Repaired, JsonError> {
    let fixes = body.format().wire().repair(&body.history());
    if fixes.is_empty() {
        return Ok(Repaired { json: body.text().to_owned(), fixes });
    }
    let json = apply(body, &fixes);
    Body::parse(&json, Some(body.format()))?;
    Ok(Repaired { json, fixes })
}

fn apply(body: &Body, fixes: &[Fix]) -> String {
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
    let sent = (0..=messages.len()).flat_map(|index| {
        let own = inserted.get(&index).into_iter().flatten().map(|raw| (None, *raw));
        let original = messages.get(index).and_then(|message| match changed.get(&index) {
            Some(change) => change.map(|raw| (Some(index), raw)),
            None => Some((Some(index), message.raw())),
        });
        own.chain(original)
    });
    body.render(sent)
}
