//! A strict local stand-in for the Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini APIs.
//!
//! It serves on loopback, refuses what the providers refuse with their own status codes and words, streams with their
//! event names, keeps books of the prompt cache, and answers from a script. Nothing of it is shared with the engine:
//! it is a second reading of the rules, so that each can be tested against the other.
//!
//! # How do I run a client against it?
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use louver_sandbox::{Sandbox, Scenario, Turn};
//! use serde_json::{Value, json};
//!
//! let scenario = Scenario::new("hello").turn(Turn::text("Hello to you."));
//! let sandbox = Sandbox::builder().scenario(scenario).start("127.0.0.1:0").await?;
//!
//! let request = json!({"model": "gpt-5", "messages": [{"role": "user", "content": "Hello."}]});
//! let url = format!("{}/v1/chat/completions", sandbox.url());
//! # let _ = rustls::crypto::ring::default_provider().install_default();
//! let answer = reqwest::Client::new().post(url).bearer_auth("any key").json(&request).send().await?;
//! let answer: Value = answer.json().await?;
//! assert_eq!(answer["choices"][0]["message"]["content"], "Hello to you.");
//! assert_eq!(sandbox.journal()[0].messages, 1);
//!
//! sandbox.shutdown().await;
//! # Ok(()) }
//! ```
//!
//! # How do I only judge a history?
//!
//! With [`judge`], which needs no server.
//!
//! # Which run does a request belong to?
//!
//! The one that its `x-sandbox-run` header names. Without that header, requests with the same API key, format and model
//! are one run, and a history that is a single message of the user starts it over.
//!
//! # Which keys are accepted?
//!
//! Any that is not empty and does not start with `bad`.
//!
//! # How are tokens counted?
//!
//! See [`Counter`]: by default a token is four characters of what the model sees.

mod answer;
mod anthropic;
mod body;
mod books;
mod builder;
mod clock;
mod connection;
mod counter;
mod exchange;
mod fingerprint;
mod format;
mod gemini;
mod guard;
mod journal;
mod judge;
mod limits;
mod listing;
mod models;
mod openai_chat;
mod openai_error;
mod openai_request;
mod openai_responses;
mod outgoing;
mod parameters;
mod prompt;
mod provider;
mod refusal;
mod runs;
mod sandbox;
mod scenario;
mod server;
mod sse;
mod violation;

pub use builder::Builder;
pub use clock::{Clock, ManualClock, SystemClock};
pub use counter::Counter;
pub use format::{Format, UnknownFormat};
pub use journal::JournalEntry;
pub use judge::judge;
pub use limits::Limits;
pub use sandbox::{Running, Sandbox};
pub use scenario::{Call, Fault, Scenario, ScenarioError, Task, Tool, Tools, Turn, demo_files};
pub use violation::Violation;
