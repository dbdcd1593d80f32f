//! What the Responses API insists on before it looks at the history.

use crate::Violation;
use crate::openai_request::new_cache_fields;
use crate::provider::Request;
use crate::refusal::Refusal;

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    request.require(&["model", "input"])?;
    Refusal::if_any(input_type(request).or_else(|| new_cache_fields(request)))
}

fn input_type(request: &Request) -> Option<Violation> {
    let input = &request.body["input"];
    let message = "Invalid type for 'input': expected one of a string or an array of items.";
    (!input.is_string() && !input.is_array()).then(|| Violation::invalid("input", message))
}
