//! Figures by provider, for Prometheus, under the names that OpenTelemetry has for them. Models are not told apart: their
//! names come from clients, and whoever reads these figures has shown no token.

use crate::ending::{AnswerUsage, Answered, End};
use crate::outcome::Outcome;
use louver_store::{NanoUsd, Tokens};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// The upper ends of the buckets, in seconds, as the convention has them.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// Counts since the start of the process.
#[derive(Debug, Default)]
pub(super) struct ByUpstream(Mutex<BTreeMap<String, Figures>>);

#[derive(Clone, Debug, Default)]
struct Figures {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    outcomes: [u64; Outcome::ALL.len()],
    cache_breaks: u64,
    left_out: u64,
    saved: i64,
    failed: u64,
    duration: Histogram,
    first_chunk: Histogram,
}

#[derive(Clone, Debug, Default)]
struct Histogram {
    buckets: [u64; SECONDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        SECONDS.iter().zip(&mut self.buckets).filter(|(end, _)| seconds <= **end).for_each(|(_, bucket)| *bucket += 1);
    }
}

/// One request, as far as it is counted here.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) tokens: Option<Tokens>,
    pub(super) is_cache_break: bool,
    pub(super) saved: Option<NanoUsd>,
}

impl ByUpstream {
    pub(super) fn note(&self, answered: &Answered, counted: &Counted) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(provider(answered.upstream.as_str()).to_owned()).or_default().add(answered, counted);
    }

    /// All figures, as Prometheus reads them.
    pub(super) fn write(&self, text: &mut String) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let rows: Vec<(String, Figures)> = all
            .into_iter()
            .map(|(provider, figures)| (format!("gen_ai_provider_name=\"{}\"", escaped(&provider)), figures))
            .collect();
        for (name, help, modality, value) in COUNTERS {
            let modality = if *modality { ",gen_ai_token_modality=\"unknown\"" } else { "" };
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
            for (labels, figures) in &rows {
                let _ = writeln!(text, "{name}{{{labels}{modality}}} {}", value(figures));
            }
        }
        decisions(text, &rows);
        for (name, help, histogram) in HISTOGRAMS {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
            rows.iter().for_each(|(labels, figures)| histogram(figures).write(text, name, labels));
        }
    }
}

/// Name, help, whether it has a modality, value.
type Counter = (&'static str, &'static str, bool, fn(&Figures) -> f64);

const COUNTERS: &[Counter] = &[
    ("gen_ai_client_inference_usage_input_tokens_total", "Prompt tokens.", true, |figures| figures.input as f64),
    (
        "gen_ai_client_inference_usage_cache_read_input_tokens_total",
        "Prompt tokens that the provider read from its cache.",
        true,
        |figures| figures.cache_read as f64,
    ),
    (
        "gen_ai_client_inference_usage_cache_write_input_tokens_total",
        "Prompt tokens that the provider wrote to its cache.",
        true,
        |figures| figures.cache_write as f64,
    ),
    ("gen_ai_client_inference_usage_output_tokens_total", "Tokens of answers.", true, |figures| figures.output as f64),
    (
        "gen_ai_client_inference_usage_reasoning_output_tokens_total",
        "Tokens of answers that were reasoning.",
        true,
        |figures| figures.reasoning as f64,
    ),
    ("louver_tokens_left_out_total", "Tokens that clients held and Louver did not send.", false, |figures| {
        figures.left_out as f64
    }),
    ("louver_cache_break_total", "Requests that could not use the provider's cache.", false, |figures| {
        figures.cache_breaks as f64
    }),
    ("louver_upstream_failed_total", "Answers that the upstream did not finish.", false, |figures| {
        figures.failed as f64
    }),
];

type Timed = (&'static str, &'static str, fn(&Figures) -> &Histogram);

const HISTOGRAMS: &[Timed] = &[
    ("gen_ai_client_operation_duration_seconds", "From the request's head to the answer's end.", |figures| {
        &figures.duration
    }),
    (
        "gen_ai_client_operation_time_to_first_chunk_seconds",
        "From the request's head to the answer's first byte.",
        |figures| &figures.first_chunk,
    ),
];

impl Histogram {
    fn write(&self, text: &mut String, name: &str, labels: &str) {
        for (end, count) in SECONDS.iter().zip(&self.buckets) {
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end}\"}} {count}");
        }
        let Self { count, sum, .. } = self;
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum{{{labels}}} {sum}\n{name}_count{{{labels}}} {count}");
    }
}

/// What became of requests, and the money that this saved; a saving can be negative, so it is no counter.
fn decisions(text: &mut String, rows: &[(String, Figures)]) {
    let _ = writeln!(
        text,
        "# HELP louver_decision_total Requests by how they ended.\n# TYPE louver_decision_total counter"
    );
    for (labels, figures) in rows {
        for (outcome, count) in Outcome::ALL.iter().zip(&figures.outcomes) {
            let _ = writeln!(text, "louver_decision_total{{{labels},outcome=\"{outcome}\"}} {count}");
        }
    }
    let name = "louver_cost_saved_usd";
    let _ = writeln!(text, "# HELP {name} What requests cost less than they would have uncut.\n# TYPE {name} gauge");
    for (labels, figures) in rows {
        let _ = writeln!(text, "{name}{{{labels}}} {}", NanoUsd(figures.saved).usd());
    }
}

impl Figures {
    fn add(&mut self, answered: &Answered, counted: &Counted) {
        let index = Outcome::ALL.iter().position(|known| *known == answered.outcome).unwrap_or_default();
        self.outcomes[index] += 1;
        self.failed += u64::from(answered.end == End::UpstreamFailed);
        self.cache_breaks += u64::from(counted.is_cache_break);
        self.left_out += counted.tokens.map_or(0, |tokens| tokens.held.saturating_sub(tokens.sent));
        self.saved = self.saved.saturating_add(counted.saved.unwrap_or_default().0);
        self.duration.add(answered.duration.as_secs_f64());
        if let Some(first) = answered.first_byte {
            self.first_chunk.add(first.as_secs_f64());
        }
        if let Some(usage) = answered.said.usage {
            self.count(usage);
        }
    }

    fn count(&mut self, usage: AnswerUsage) {
        self.input = self.input.saturating_add(usage.prompt_tokens());
        self.cache_read = self.cache_read.saturating_add(usage.cache_read_tokens);
        let written = usage.cache_write_tokens.saturating_add(usage.cache_write_long_tokens);
        self.cache_write = self.cache_write.saturating_add(written);
        self.output = self.output.saturating_add(usage.output_tokens);
        self.reasoning = self.reasoning.saturating_add(usage.reasoning_tokens);
    }
}

/// The convention's name of an upstream. Several upstreams of one provider are one row: Prometheus takes no two of a name.
fn provider(upstream: &str) -> &str {
    match upstream {
        "chatgpt" => "openai",
        "gemini" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        other => other,
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::Said;
    use crate::model_request::{Purpose, UpstreamName};
    use louver::Format;
    use std::time::Duration;

    fn answered(upstream: &str, outcome: Outcome) -> Answered {
        let usage = AnswerUsage { input_tokens: 10, cache_read_tokens: 80, output_tokens: 5, ..AnswerUsage::default() };
        Answered {
            upstream: UpstreamName::new(upstream),
            format: Format::Gemini,
            purpose: Purpose::Generate,
            outcome,
            status: None,
            end: End::Whole,
            said: Said { usage: Some(usage), ..Said::default() },
            rescues: 0,
            first_byte: Some(Duration::from_millis(30)),
            duration: Duration::from_millis(300),
        }
    }

    fn counted() -> Counted {
        let tokens = Some(Tokens { sent: 90, held: 400 });
        Counted { tokens, is_cache_break: true, saved: Some(NanoUsd(1_500_000_000)) }
    }

    #[test]
    fn two_upstreams_of_one_provider_are_one_row() {
        let meters = ByUpstream::default();
        for upstream in ["chatgpt", "openai"] {
            meters.note(&answered(upstream, Outcome::Cut), &counted());
        }
        let mut text = String::new();
        meters.write(&mut text);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("louver_tokens_left_out_total")).collect();
        assert_eq!(lines, [r#"louver_tokens_left_out_total{gen_ai_provider_name="openai"} 620"#]);
    }

    #[test]
    fn figures_have_the_names_of_the_convention() {
        let meters = ByUpstream::default();
        meters.note(&answered("gemini", Outcome::Cut), &counted());
        meters.note(&answered("gemini", Outcome::Kept), &counted());
        let mut text = String::new();
        meters.write(&mut text);
        let labels = r#"gen_ai_provider_name="gcp.gemini""#;
        for line in [
            format!(
                "gen_ai_client_inference_usage_input_tokens_total{{{labels},gen_ai_token_modality=\"unknown\"}} 180"
            ),
            format!("louver_tokens_left_out_total{{{labels}}} 620"),
            format!("louver_decision_total{{{labels},outcome=\"cut\"}} 1"),
            format!("louver_cost_saved_usd{{{labels}}} 3"),
            format!("gen_ai_client_operation_duration_seconds_bucket{{{labels},le=\"0.16\"}} 0"),
            format!("gen_ai_client_operation_duration_seconds_bucket{{{labels},le=\"0.32\"}} 2"),
            format!("gen_ai_client_operation_time_to_first_chunk_seconds_count{{{labels}}} 2"),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        let typed = text.lines().filter(|line| line.starts_with("# TYPE")).count();
        assert_eq!(typed, COUNTERS.len() + HISTOGRAMS.len() + 2);
    }
}
