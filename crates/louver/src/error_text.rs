//! What an error says, in whichever shape.

use serde_json::Value;

/// How much of an error that is no JSON is looked at.
const MAX_PLAIN: usize = 4096;

/// Code and message of an error, in whichever of the providers' shapes it came.
///
/// ```
/// use louver::refusal::ErrorText;
///
/// let said = ErrorText::of_body(br#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#);
/// assert_eq!((said.code.as_str(), said.message.as_str()), ("overloaded_error", "Overloaded"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ErrorText {
    /// The provider's word for the kind of error; empty where it has none.
    pub code: String,
    /// Can quote content: not for logs.
    pub message: String,
}

impl std::fmt::Debug for ErrorText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorText").field("code", &self.code).finish_non_exhaustive()
    }
}

impl ErrorText {
    /// Of an answer's whole body, JSON or not.
    pub fn of_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => list.first().map(Self::of_answer).unwrap_or_default(),
            Ok(value) => Self::of_answer(&value),
            Err(_) => {
                let plain = &body[..body.len().min(MAX_PLAIN)];
                Self { code: String::new(), message: String::from_utf8_lossy(plain).into_owned() }
            }
        }
    }

    fn of_answer(answer: &Value) -> Self {
        match &answer["error"] {
            Value::Null => Self::of_value(answer),
            error => Self::of_value(error),
        }
    }

    /// Of an error object, or of a text in its place.
    pub fn of_value(error: &Value) -> Self {
        if let Value::String(message) = error {
            return Self { code: String::new(), message: message.clone() };
        }
        let text = |keys: &[&str]| keys.iter().find_map(|key| error[*key].as_str()).unwrap_or_default().to_owned();
        // Gateways put the provider's own body into the message of theirs; its words are in there all the same.
        Self { code: text(&["code", "type", "status"]), message: text(&["message", "detail"]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_an_error_is_read() {
        for (body, code, message) in [
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"m"}}"#,
                "invalid_request_error",
                "m",
            ),
            (
                r#"{"error":{"message":"m","type":"t","param":null,"code":"context_length_exceeded"}}"#,
                "context_length_exceeded",
                "m",
            ),
            (r#"{"error":{"message":"m","type":"t","code":null}}"#, "t", "m"),
            (r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#, "INVALID_ARGUMENT", "m"),
            (r#"{"message":"Input is too long for requested model."}"#, "", "Input is too long for requested model."),
            (r#"{"error":"m"}"#, "", "m"),
            (r#"{"detail":"m"}"#, "", "m"),
            ("<html>413</html>", "", "<html>413</html>"),
            ("[]", "", ""),
        ] {
            let expected = ErrorText { code: code.to_owned(), message: message.to_owned() };
            assert!(ErrorText::of_body(body.as_bytes()) == expected, "{body}");
        }
    }
}
