//! What every language's face of Louver has in common: settings by name, windows and conversations over JSON text, the
//! functions of the command line, and errors that say what a face's exceptions carry.
//!
//! A face turns its language's values into JSON text ([`Texts`]), remembers which object a message came from, and gives the
//! same objects back where a view says so ([`Sent`]). It decides nothing.

mod conversations;
mod fault;
mod fit;
pub mod functions;
mod live;
pub mod replay;
mod settings;
mod texts;

pub use conversations::{Asked, Conversations};
pub use fault::Fault;
pub use fit::{Fit, Job};
pub use live::{Frame, Live, Sent};
pub use settings::{Resolved, Settings};
pub use texts::Texts;
