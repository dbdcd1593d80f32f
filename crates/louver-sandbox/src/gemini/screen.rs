//! What the `generateContent` API insists on before it looks at the history.

use crate::Violation;
use crate::body::is_missing;
use crate::provider::Request;
use crate::refusal::Refusal;

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    if is_missing(&request.body, "contents") {
        return Err(Refusal::MissingField { field: "contents" });
    }
    if !request.body["contents"].is_array() {
        let message = "Invalid value at 'contents': expected a list of contents.";
        return Err(Refusal::Illegal(Violation::new("invalid-request", "contents", message)));
    }
    Ok(())
}
