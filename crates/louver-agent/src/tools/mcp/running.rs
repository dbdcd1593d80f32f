use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{RoleClient, RunningService};

use super::diagnostics::Diagnostics;
use crate::tools::process_group::ProcessGroup;

/// The service, and the process behind it if there is one.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) service: RunningService<RoleClient, ClientConfig>,
    pub(super) process: Option<(ProcessGroup, Diagnostics)>,
}

/// Who we say we are.
pub(super) fn client() -> ClientConfig {
    ClientConfig::new(ClientCapabilities::default(), Implementation::new("louver", env!("CARGO_PKG_VERSION")))
}
