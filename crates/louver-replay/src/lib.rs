//! Replays recorded conversations under any window policy: what it costs, what it forgets, whether it is legal.
//!
//! A request stands before each run of the model's messages. The history up to there is given to a policy, which emits
//! a request; then the recorded answer is appended, whatever the request held. Each request is priced by the
//! provider's cache rules, judged by its wire rules, and searched for what the recorded answer refers to.
//!
//! Replay is off-policy: a real agent would read evicted files again. Recall is necessary, not sufficient, and nothing
//! here is task success.
//!
//! ```
//! use louver::wire::Body;
//! use louver_replay::{Conversation, Options, replay};
//!
//! let body = Body::parse(r#"{"model": "gpt-5.5", "messages": [
//!     {"role": "user", "content": "What is in src/lib.rs?"},
//!     {"role": "assistant", "content": "A function."},
//!     {"role": "user", "content": "Which?"},
//!     {"role": "assistant", "content": "parse_body."}]}"#, None)?;
//! let conversation = Conversation::of_body("example.json", &body);
//! let options = Options::of_policies(&["messages", "tokens"])?;
//! let report = replay(&[conversation], &options, &|_| {})?;
//! assert_eq!(report.runs.len(), 2);
//! assert_eq!(report.runs[0].requests, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
pub mod input;
pub mod report;
pub mod retention;

mod assumptions;
mod baseline;
mod billed;
mod contender;
mod contents;
mod conversation;
mod error;
mod explain;
mod fitted;
mod law;
mod measure;
mod once;
mod optimum;
mod options;
mod prepared;
mod replay;
mod run;
mod searches;
mod snapshot;
mod terms;
mod watch;

pub use assumptions::AssumptionsError;
pub use billed::Billed;
pub use contender::Contender;
pub use conversation::{Conversation, Strand, Turn};
pub use error::ReplayError;
pub use explain::{explain, request};
pub use options::{CachePrices, DEFAULT_POLICIES, NoCachePrices, Options, Selection};
pub use replay::{OnProgress, Progress, replay, replay_files};
pub use report::Report;
pub use searches::{Search, Searches};
