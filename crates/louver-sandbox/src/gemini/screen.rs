//! What the `generateContent` API insists on before it looks at the history.

use crate::Violation;
use crate::provider::Request;
use crate::refusal::Refusal;

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    request.require(&["contents"])?;
    let message = "Invalid value at 'contents': expected a list of contents.";
    Refusal::if_any((!request.body["contents"].is_array()).then(|| Violation::invalid("contents", message)))
}
