use std::fmt;

use crate::api_key::ApiKey;
use crate::launch::Launcher;
use crate::tools::Environment;

/// How an MCP server is talked to.
///
/// `Debug` leaves arguments and addresses out: some servers take their keys there.
#[derive(Clone)]
pub enum McpTransport {
    /// A program that is started, speaks over its standard streams, and is ended.
    Process {
        /// The program, found in `PATH` unless it is a path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The environment variables it gets to see.
        environment: Environment,
        /// What starts it, so that all it starts ends with this process; it may confine it.
        launcher: Option<Launcher>,
    },
    /// A server that is there already and speaks streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// What it wants to see as a bearer token.
        token: Option<ApiKey>,
    },
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { command, args, environment, launcher } => formatter
                .debug_struct("Process")
                .field("command", command)
                .field("args", &format_args!("({} not shown)", args.len()))
                .field("environment", environment)
                .field("launcher", launcher)
                .finish(),
            Self::Http { token, .. } => formatter.debug_struct("Http").field("token", token).finish_non_exhaustive(),
        }
    }
}
