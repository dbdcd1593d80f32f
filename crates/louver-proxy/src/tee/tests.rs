use super::*;
use http::HeaderValue;

const ANTHROPIC: &str = concat!(
    "event: message_start\n",
    r#"data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":300,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200},"output_tokens":1}}}"#,
    "\n\n: a comment\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_start\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    "\n\nevent: content_block_delta\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\"usage\":{\"input_tokens\":9}} \\"}}"#,
    "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15,"cache_creation_input_tokens":300,"output_tokens_details":{"thinking_tokens":4}}}"#,
    "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

const CHAT: &str = concat!(
    ": OPENROUTER PROCESSING\n\n",
    r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
    "\n\n",
    r#"data: {"id":"chatcmpl-1","model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
    "\n\n",
    r#"data: {"id":"chatcmpl-1","model":"gpt-5","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":20},"completion_tokens_details":{"reasoning_tokens":5}}}"#,
    "\n\ndata: [DONE]\n\n",
);

const RESPONSES: &str = concat!(
    "event: response.created\n",
    r#"data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"gpt-5","status":"in_progress","error":null,"usage":null}}"#,
    "\n\nevent: response.in_progress\n",
    r#"data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","status":"in_progress"}}"#,
    "\n\nevent: response.output_text.delta\n",
    r#"data: {"type":"response.output_text.delta","sequence_number":2,"delta":"Hi"}"#,
    "\n\nevent: response.completed\n",
    r#"data: {"type":"response.completed","sequence_number":3,"response":{"id":"resp_1","model":"gpt-5","status":"completed","incomplete_details":null,"error":null,"output":[{"usage":1}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":10,"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m_tokens":10,"ttl_12h_tokens":20}},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":58}}}"#,
    "\n\n",
);

const GEMINI: &str = concat!(
    r#"data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":1},"modelVersion":"gemini-2.5-pro","responseId":"r1"}"#,
    "\r\n\r\n",
    r#"data: {"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":30,"cachedContentTokenCount":20,"candidatesTokenCount":4,"thoughtsTokenCount":6,"toolUsePromptTokenCount":5},"modelVersion":"gemini-2.5-pro","responseId":"r1"}"#,
    "\r\n\r\n",
);

fn headers(kind: &'static str, coding: Option<&'static str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    headers
}

fn read(format: Format, kind: &'static str, pieces: &[&[u8]]) -> (Said, Option<FirstReal>) {
    let mut tee = Tee::new(format, &headers(kind, None));
    for piece in pieces {
        tee.push(piece);
    }
    let first_real = tee.first_real();
    (tee.finish(), first_real)
}

fn said(usage: AnswerUsage, stop: &str, model: &str, id: &str) -> Said {
    Said {
        usage: Some(usage),
        stop_reason: Some(stop.to_owned()),
        model: Some(model.to_owned()),
        response_id: Some(id.to_owned()),
        ..Said::default()
    }
}

fn streams() -> [(Format, &'static str, Said); 4] {
    let usage = |input, read, write, long, output, reasoning| AnswerUsage {
        input_tokens: input,
        cache_read_tokens: read,
        cache_write_tokens: write,
        cache_write_long_tokens: long,
        output_tokens: output,
        reasoning_tokens: reasoning,
        ..AnswerUsage::default()
    };
    [
        (Format::Anthropic, ANTHROPIC, said(usage(3, 7, 100, 200, 15, 4), "end_turn", "claude-sonnet-4-5", "msg_1")),
        (Format::OpenAiChat, CHAT, said(usage(16, 64, 20, 0, 9, 5), "stop", "gpt-5", "chatcmpl-1")),
        (Format::OpenAiResponses, RESPONSES, said(usage(10, 10, 10, 20, 8, 2), "completed", "gpt-5", "resp_1")),
        (Format::Gemini, GEMINI, said(usage(15, 20, 0, 0, 10, 6), "STOP", "gemini-2.5-pro", "r1")),
    ]
}

#[test]
fn every_stream_says_the_same_wherever_it_is_cut() {
    for (format, stream, expected) in streams() {
        let bytes = stream.as_bytes();
        for cut in 0..=bytes.len() {
            let got = read(format, "text/event-stream; charset=utf-8", &[&bytes[..cut], &bytes[cut..]]);
            assert_eq!(got, (expected.clone(), Some(FirstReal::Content)), "{format} cut at {cut}");
        }
        let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(format, "text/event-stream", &bytewise).0, expected, "{format}");
    }
}

#[test]
fn leading_events_are_not_real() {
    for (format, stream, before) in [
        (Format::Anthropic, ANTHROPIC, "event: content_block_start"),
        (Format::OpenAiChat, CHAT, "data: "),
        (Format::OpenAiResponses, RESPONSES, "event: response.output_text.delta"),
    ] {
        let (leading, rest) = stream.split_at(stream.find(before).unwrap());
        assert_eq!(read(format, "text/event-stream", &[leading.as_bytes()]).1, None, "{format}");
        let end = rest.find("\n\n").unwrap() + 2;
        let with_one = [leading.as_bytes(), &rest.as_bytes()[..end]];
        assert_eq!(read(format, "text/event-stream", &with_one).1, Some(FirstReal::Content), "{format}");
    }
}

#[test]
fn a_failure_as_the_first_real_event_is_heard() {
    let lead = &RESPONSES[..RESPONSES.find("event: response.output_text.delta").unwrap()];
    let streams = [
        (
            Format::OpenAiResponses,
            format!(
                "{lead}event: response.failed\ndata: {}\n\n",
                r#"{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#
            ),
            "context_length_exceeded",
        ),
        (
            Format::OpenAiResponses,
            "data: {\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"m\",\"param\":null}\n\n".to_owned(),
            "context_length_exceeded",
        ),
        (
            Format::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"m\"}}\n\n".to_owned(),
            "invalid_request_error",
        ),
        (Format::OpenAiChat, "data: {\"error\":{\"message\":\"m\",\"code\":\"context_length_exceeded\"}}\n\n".to_owned(), "context_length_exceeded"),
        (
            Format::Gemini,
            "data: {\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}\n\n".to_owned(),
            "INVALID_ARGUMENT",
        ),
    ];
    for (format, stream, code) in streams {
        let (said, first_real) = read(format, "text/event-stream", &[stream.as_bytes()]);
        assert!(matches!(&first_real, Some(FirstReal::Failed(error)) if error.code == code), "{first_real:?}");
        assert_eq!(said.error, Some(ErrorSaid { code: code.to_owned() }));
    }
}

#[test]
fn an_error_behind_content_is_said_but_not_first() {
    let stream = format!(
        "{ANTHROPIC}event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"m\"}}}}\n\n"
    );
    let (said, first_real) = read(Format::Anthropic, "text/event-stream", &[stream.as_bytes()]);
    assert_eq!(first_real, Some(FirstReal::Content));
    assert_eq!(said.error, Some(ErrorSaid { code: "overloaded_error".to_owned() }));
}

#[test]
fn an_answer_in_one_piece_is_read_whatever_its_size() {
    let text = "x".repeat(3_000_000);
    let whole = format!(
        r#"{{"id":"msg_2","type":"message","model":"m","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":2}}}}"#
    );
    let (got, _) = read(Format::Anthropic, "application/json", &[whole.as_bytes()]);
    let usage = AnswerUsage { input_tokens: 1, output_tokens: 2, ..AnswerUsage::default() };
    assert_eq!(got, said(usage, "tool_use", "m", "msg_2"));
}

#[test]
fn a_gemini_stream_without_events_is_an_array() {
    let chunks: Vec<&str> = GEMINI.split("\r\n\r\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    let array = format!("[{}]", chunks.join(",\r\n"));
    let (got, _) = read(Format::Gemini, "application/json; charset=UTF-8", &[array.as_bytes()]);
    assert_eq!(got, streams()[3].2);
}

#[test]
fn the_apis_own_compaction_stands_beside_the_answer() {
    let whole = r#"{"usage":{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":100,"cache_read_input_tokens":50,"output_tokens":30},{"type":"message","input_tokens":5,"output_tokens":6}]}}"#;
    let (got, _) = read(Format::Anthropic, "application/json", &[whole.as_bytes()]);
    let beside = AnswerUsage { beside_input_tokens: 150, beside_output_tokens: 30, ..AnswerUsage::default() };
    assert_eq!(got.usage, Some(beside));
}

#[test]
fn compressed_answers_are_read_as_they_come() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let (lead, rest) = ANTHROPIC.split_at(900);
    encoder.write_all(lead.as_bytes()).unwrap();
    encoder.flush().unwrap();
    let first = std::mem::take(encoder.get_mut());
    encoder.write_all(rest.as_bytes()).unwrap();
    let second = encoder.finish().unwrap();
    let mut tee = Tee::new(Format::Anthropic, &headers("text/event-stream", Some("gzip")));
    tee.push(&first);
    assert_eq!(tee.first_real(), Some(FirstReal::Content), "what has come is read before the rest has");
    tee.push(&second);
    assert_eq!(tee.finish(), streams()[0].2);

    for (name, coded) in [
        ("zstd", zstd::encode_all(ANTHROPIC.as_bytes(), 3).unwrap()),
        ("br", {
            let mut out = Vec::new();
            brotli::BrotliCompress(&mut ANTHROPIC.as_bytes(), &mut out, &Default::default()).unwrap();
            out
        }),
    ] {
        let mut tee = Tee::new(Format::Anthropic, &headers("text/event-stream", Some(name)));
        coded.chunks(7).for_each(|piece| tee.push(piece));
        assert_eq!(tee.finish(), streams()[0].2, "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_a_doubt() {
    let doubtful = Said { is_doubtful: true, ..Said::default() };
    let mut tee = Tee::new(Format::Anthropic, &headers("text/event-stream", Some("gzip")));
    tee.push(ANTHROPIC.as_bytes());
    tee.push(b"and more");
    assert_eq!(tee.finish(), doubtful);
    let mut tee = Tee::new(Format::Anthropic, &headers("text/event-stream", Some("unheard-of")));
    tee.push(ANTHROPIC.as_bytes());
    assert_eq!(tee.finish(), doubtful);
    let bomb = zstd::encode_all(&vec![b' '; MAX_EXPANDED + 1][..], 3).unwrap();
    let mut tee = Tee::new(Format::Anthropic, &headers("text/event-stream", Some("zstd")));
    tee.push(&bomb);
    assert_eq!(tee.finish(), doubtful);
}
