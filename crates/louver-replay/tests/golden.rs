//! Six requests per provider, billed by hand.
//!
//! Four characters are a token, so every message below is written to a round size: `m(100)` is a message of exactly
//! 100 tokens. The system prompt has 1,000 tokens (400 for Gemini), the numbers of which the comments say how they come
//! about. Prices are the catalogue's, in dollars per million tokens.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

use louver::wire::{Body, Format};
use louver_replay::report::RunRow;
use louver_replay::{Conversation, Options, replay};
use serde_json::{Value, json};

/// A text of so many tokens at four characters each; different for different names.
fn text(name: &str, tokens: usize) -> String {
    let mut text = format!("{name} ");
    while text.len() < tokens * 4 {
        text.push('x');
    }
    text
}

fn run(body: &Value, format: Format, policies: &[&str], window: u64) -> Vec<RunRow> {
    let body = Body::parse(&body.to_string(), Some(format)).unwrap();
    let mut options = Options::of_policies(policies).unwrap();
    options.counter = "chars4".parse().unwrap();
    options.context_window = Some(window);
    options.max_output = Some(1_000);
    replay(&[Conversation::of_body("golden", &body)], &options, &|_| {}).unwrap().runs
}

/// To the millionth of a dollar.
fn millionths(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
}

/// `claude-haiku-5-5`: input 0.1, write 0.125, read 0.01, output 0.5; above 100,000 tokens of input 0.5, 0.625, 0.05
/// and 2.5. Nothing below 512 tokens is cached. Entries are the system prompt and every earlier request.
///
/// | request | history | total T | read R | written W = T - R |
/// |---|---|---|---|---|
/// | 1 | 10,000 | 11,000 | 0 | 11,000 |
/// | 2 | + 100 + 20,000 | 31,100 | 11,000 | 20,100 |
/// | 3 | + 100 + 30,000 | 61,200 | 31,100 | 30,100 |
/// | 4 | + 100 + 38,700 | 100,000 | 61,200 | 38,800 |
/// | 5 | + 100 + 1,900 | 102,000 | 100,000 | 2,000 |
/// | 6 | + 100 + 900 | 103,000 | 102,000 | 1,000 |
///
/// Requests 1 to 4 are billed low (100,000 is not above 100,000): written 100,000 * 0.125 = 12,500; read
/// (11,000 + 31,100 + 61,200) * 0.01 = 1,033. Requests 5 and 6 are billed high, all of each: written
/// 3,000 * 0.625 = 1,875; read 202,000 * 0.05 = 10,100. Output: 4 * 100 * 0.5 + 2 * 100 * 2.5 = 700.
/// Together 26,208 millionths of a dollar.
#[test]
fn anthropic_reads_whole_requests_and_pays_the_tier_for_all_of_a_request() {
    let sizes = [10_000, 20_000, 30_000, 38_700, 1_900, 900];
    let mut messages = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        messages.push(json!({"role": "user", "content": text(&format!("question{number}"), size)}));
        messages.push(json!({"role": "assistant", "content": text(&format!("answer{number}"), 100)}));
    }
    let body = json!({"model": "claude-haiku-5-5", "system": text("system", 1_000), "messages": messages});
    let rows = run(&body, Format::Anthropic, &["everything"], 1_000_000);
    let row = &rows[0];
    assert_eq!(row.requests, 6);
    assert_eq!(
        (row.tokens.uncached, row.tokens.written, row.tokens.read, row.tokens.output),
        (0, 103_000, 305_300, 600)
    );
    let usd = (millionths(row.usd.written), millionths(row.usd.read), millionths(row.usd.output));
    assert_eq!(usd, (14_375, 11_133, 700));
    assert_eq!((millionths(row.cost_usd), millionths(row.baseline_usd)), (26_208, 26_208));
    assert_eq!((row.saving, row.regret, row.cuts, row.overflows), (Some(0.0), Some(1.0), 0, 0));
}

/// The first three requests in a window of 62,000, of which 62,000 * 0.9 - 1,000 = 54,800 may be used.
///
/// | request | sent | T | R | W |
/// |---|---|---|---|---|
/// | 1, 2 | as above | 11,000; 31,100 | 0; 11,000 | 11,000; 20,100 |
/// | 3 | 61,200 is over: a cut behind the first message | at most 54,800 | 11,000: request 1 is still a prefix | the rest |
#[test]
fn behind_a_cut_anthropic_reads_the_longest_request_that_is_still_a_prefix() {
    let sizes = [10_000, 20_000, 30_000];
    let mut messages = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        messages.push(json!({"role": "user", "content": text(&format!("question{number}"), size)}));
        messages.push(json!({"role": "assistant", "content": text(&format!("answer{number}"), 100)}));
    }
    let body = json!({"model": "claude-haiku-5-5", "system": text("system", 1_000), "messages": messages});
    let rows = run(&body, Format::Anthropic, &["full-cut"], 62_000);
    let row = &rows[0];
    assert_eq!((row.cuts, row.overflows, row.illegal), (1, 0, 0));
    let third = row.detail.series[2].tokens;
    assert!(row.detail.series[2].is_cut && third <= 54_800);
    assert_eq!(row.tokens.read, 11_000 + 11_000);
    assert_eq!(row.tokens.written, 11_000 + 20_100 + third - 11_000);
    assert_eq!(row.floor_tokens, third);
}

/// `gpt-5.4`: input 2.5, read 0.25, output 15, writes are free of charge but for the input price; above 272,000 tokens
/// of input 5, 0.5 and 22.5. Nothing below 1,024 tokens is cached, reads are multiples of 128.
///
/// | request | history | T | known | R | W |
/// |---|---|---|---|---|---|
/// | 1 | 1,000 + 10 | 1,010 | | below the minimum: uncached 1,010 | 0 |
/// | 2 | + 10 + 1,000 | 2,020 | 1,010 | 0 (7 * 128 = 896 is below the minimum) | 2,020 |
/// | 3 | + 10 + 990 | 3,020 | 2,020 | 15 * 128 = 1,920 | 1,100 |
/// | 4 | + 10 + 268,970 | 272,000 | 3,020 | 23 * 128 = 2,944 | 269,056 |
/// | 5 | + 10 + 990 | 273,000 | 272,000 | 2125 * 128 = 272,000 | 1,000 |
/// | 6 | + 10 + 990 | 274,000 | 273,000 | 2132 * 128 = 272,896 | 1,104 |
///
/// Low: uncached 1,010 * 2.5 = 2,525; written 272,176 * 2.5 = 680,440; read 4,864 * 0.25 = 1,216; output 40 * 15 = 600.
/// High: written 2,104 * 5 = 10,520; read 544,896 * 0.5 = 272,448; output 20 * 22.5 = 450. Together 968,199.
#[test]
fn openai_reads_in_steps_and_pays_the_tier_for_all_of_a_request() {
    let sizes = [10, 1_000, 990, 268_970, 990, 990];
    let mut messages = vec![json!({"role": "system", "content": text("system", 1_000)})];
    for (number, size) in sizes.into_iter().enumerate() {
        messages.push(json!({"role": "user", "content": text(&format!("question{number}"), size)}));
        messages.push(json!({"role": "assistant", "content": text(&format!("answer{number}"), 10)}));
    }
    let body = json!({"model": "gpt-5.4", "messages": messages});
    let rows = run(&body, Format::OpenAiChat, &["everything"], 1_000_000);
    let row = &rows[0];
    let tokens = (row.tokens.uncached, row.tokens.written, row.tokens.read, row.tokens.output);
    assert_eq!(tokens, (1_010, 274_280, 549_760, 60));
    let usd = (millionths(row.usd.uncached), millionths(row.usd.written), millionths(row.usd.read));
    assert_eq!(usd, (2_525, 690_960, 273_664));
    assert_eq!((millionths(row.usd.output), millionths(row.cost_usd)), (1_050, 968_199));
}

/// `gemini-2.5-pro`: input 1.25, read 0.125, output 10; above 200,000 tokens of input 2.5, 0.25 and 15. Nothing below
/// 2,048 tokens is cached; no steps.
///
/// | request | history | T | known | R | W |
/// |---|---|---|---|---|---|
/// | 1 | 400 + 600 | 1,000 | | uncached 1,000 | 0 |
/// | 2 | + 50 + 1,000 | 2,050 | 1,000 | 0, below the minimum | 2,050 |
/// | 3 | + 50 + 900 | 3,000 | 2,050 | 2,050 | 950 |
/// | 4 | + 50 + 196,950 | 200,000 | 3,000 | 3,000 | 197,000 |
/// | 5 | + 50 + 950 | 201,000 | 200,000 | 200,000 | 1,000 |
/// | 6 | + 50 + 950 | 202,000 | 201,000 | 201,000 | 1,000 |
///
/// Low: uncached 1,000 * 1.25 = 1,250; written 200,000 * 1.25 = 250,000; read 5,050 * 0.125 = 631.25; output 200 * 10 =
/// 2,000. High: written 2,000 * 2.5 = 5,000; read 401,000 * 0.25 = 100,250; output 100 * 15 = 1,500. Together
/// 360,631.25.
#[test]
fn gemini_reads_from_its_minimum_on_and_pays_the_tier_for_all_of_a_request() {
    let sizes = [600, 1_000, 900, 196_950, 950, 950];
    let mut contents = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        contents.push(json!({"role": "user", "parts": [{"text": text(&format!("question{number}"), size)}]}));
        contents.push(json!({"role": "model", "parts": [{"text": text(&format!("answer{number}"), 50)}]}));
    }
    let system = json!({"parts": [{"text": text("system", 400)}]});
    let body = json!({"model": "gemini-2.5-pro", "systemInstruction": system, "contents": contents});
    let rows = run(&body, Format::Gemini, &["everything"], 1_000_000);
    let row = &rows[0];
    let tokens = (row.tokens.uncached, row.tokens.written, row.tokens.read, row.tokens.output);
    assert_eq!(tokens, (1_000, 202_000, 406_050, 300));
    assert_eq!(millionths(row.cost_usd * 100.0), 36_063_125);
}
