//! What the Responses API insists on before it looks at the history.

use crate::Violation;
use crate::body::is_missing;
use crate::models;
use crate::provider::Request;
use crate::refusal::Refusal;

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    if let Some(field) = ["model", "input"].into_iter().find(|field| is_missing(&request.body, field)) {
        return Err(Refusal::MissingField { field });
    }
    let violation = input_type(request).or_else(|| new_cache_fields(request));
    violation.map_or(Ok(()), |violation| Err(Refusal::Illegal(violation)))
}

fn input_type(request: &Request) -> Option<Violation> {
    let input = &request.body["input"];
    let message = "Invalid type for 'input': expected one of a string or an array of items.";
    (!input.is_string() && !input.is_array()).then(|| Violation::new("invalid-request", "input", message))
}

/// The cache options of newer models are unknown parameters to older ones.
fn new_cache_fields(request: &Request) -> Option<Violation> {
    let is_old = !models::find(&request.model).cache.reports_writes;
    (is_old && !is_missing(&request.body, "prompt_cache_options")).then(|| {
        Violation::new("invalid-request", "prompt_cache_options", "Unknown parameter: 'prompt_cache_options'.")
    })
}
