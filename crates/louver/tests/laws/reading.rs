//! What nobody would send on purpose.

/// Bodies that are wrong in every way that the design names.
fn hostile() -> Vec<Vec<u8>> {
    let mut bodies: Vec<Vec<u8>> =
        ["", "{", "[{\"role\":", "[1,2]", "{\"messages\":{}}", "[{\"role\":7,\"content\":[[]]}]", "\"text\"", "[{}]"]
            .map(|text| text.as_bytes().to_vec())
            .to_vec();
    bodies.push(b"[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]".to_vec());
    bodies.push("[".repeat(10_000).into_bytes());
    bodies.push(format!(r#"[{{"role":"user","content":{}1{}}}]"#, "[".repeat(10_000), "]".repeat(10_000)).into_bytes());
    bodies
}

/// Whatever is read, there is a history or an error that says where; and what can be read comes out as it went in.
pub(crate) fn no_input_panics(read: impl Fn(&[u8]) -> Result<String, String>) {
    for body in hostile() {
        let Err(error) = read(&body) else { continue };
        let says_where = error.contains(|c: char| c.is_ascii_digit() || c == '$' || c == '[');
        assert!(says_where, "law 11: an error without a place: {error}");
    }
    let surrogate = r#"[{"role":"user","content":"\ud800 alone"}]"#;
    assert_eq!(read(surrogate.as_bytes()).as_deref(), Ok(surrogate), "law 11: a lone surrogate does not pass through");
}
