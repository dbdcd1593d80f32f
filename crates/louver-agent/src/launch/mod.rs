//! Starting programs so that they end with the run and, if wanted, touch nothing but what they need.
//!
//! A program is not started directly but by a second process of the same binary, its attendant. The attendant lives as
//! long as the program and holds one end of a pipe: when the other end closes, because the run wants it or because the
//! run itself was killed, everything that the program started is killed, whatever sessions and groups it moved to, since
//! orphans come to the attendant. A third process takes limits and confinement upon itself and becomes the program; it
//! dies if its attendant does. So nothing has to happen between `fork` and `exec`.

#[cfg(target_os = "linux")]
mod attendant;
#[cfg(target_os = "linux")]
mod confined;
mod confinement;
mod launcher;
#[cfg(target_os = "linux")]
mod processes;
mod readable;

pub use confinement::{Confinement, Guard};
pub(crate) use launcher::Life;
pub use launcher::{Launcher, serve};
