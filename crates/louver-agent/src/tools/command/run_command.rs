use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::allow_list::is_inside;
use super::{AllowList, ArgumentPaths, command_line};
use crate::launch::Launcher;
use crate::tools::environment::is_executable;
use crate::tools::excerpt::Excerpt;
use crate::tools::process_group::ProcessGroup;
use crate::tools::refusal::{Refusal, quote};
use crate::tools::{Environment, Limits, Root, Tool, ToolDefinition, ToolOutput, arguments};

/// `run_command`: runs a program in the root, without a shell.
///
/// It gets the arguments exactly as given, the variables of its [`Environment`] and nothing to read. When it ends, is
/// too slow, prints too much or is not waited for any longer, it is killed with everything it started.
#[derive(Debug, Clone)]
pub struct RunCommand {
    root: Root,
    limits: Limits,
    allow: AllowList,
    environment: Environment,
    paths: ArgumentPaths,
    launcher: Option<Launcher>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    timeout_seconds: Option<u64>,
}

/// Why a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Exited,
    TooSlow,
    TooMuch,
}

const MAX_COMMAND_BYTES: usize = 64 << 10;
/// What is left in the pipe is read for so long; somebody who got away may hold it open.
const DRAIN_TIME: Duration = Duration::from_millis(500);

impl RunCommand {
    /// Runs commands that `allow` names in `root`.
    pub fn new(root: Root, limits: Limits, allow: AllowList, environment: Environment) -> Self {
        Self { root, limits, allow, environment, paths: ArgumentPaths::default(), launcher: None }
    }

    /// Sets what arguments may point at.
    #[must_use]
    pub fn argument_paths(mut self, paths: ArgumentPaths) -> Self {
        self.paths = paths;
        self
    }

    /// Sets what starts the programs: with one, they end with this process, and can be confined.
    #[must_use]
    pub fn launcher(mut self, launcher: Launcher) -> Self {
        self.launcher = Some(launcher);
        self
    }

    async fn run(&self, arguments: Value) -> Result<ToolOutput, Refusal> {
        let request: Request = arguments::parse(&self.definition(), arguments)?;
        let limit = self.time_limit(&request)?;
        let words = words(request)?;
        self.allow.check(&words)?;
        self.paths.check(&self.root, &words[1..])?;
        let program = self.program(&words[0])?;
        let (group, receiver) = self.spawn(&program, &words[1..]).map_err(|error| failed(&words[0], &error))?;
        let mut output = Excerpt::new(self.limits.output_bytes);
        let (ending, status) =
            self.attend(group, receiver, limit, &mut output).await.map_err(|error| failed(&words[0], &error))?;
        Ok(self.report(ending, status, limit, output))
    }

    fn time_limit(&self, request: &Request) -> Result<Duration, Refusal> {
        let max = self.limits.command_time;
        match request.timeout_seconds.map(Duration::from_secs) {
            None => Ok(max),
            Some(wanted) if !wanted.is_zero() && wanted <= max => Ok(wanted),
            Some(_) => Err(Refusal::new(format!("timeout_seconds must be between 1 and {}", max.as_secs()))),
        }
    }

    fn program(&self, name: &str) -> Result<PathBuf, Refusal> {
        if name.contains('/') {
            let program = PathBuf::from(name);
            // It may have been put there only now.
            if is_inside(&self.root, &program) {
                let problem = "is inside the root, where it could have been written by you; use another one";
                return Err(Refusal::new(format!("the program {} {problem}", quote(name))));
            }
            return match self.launcher.is_some() && !is_executable(&program) {
                true => Err(failed(name, &io::ErrorKind::NotFound.into())),
                false => Ok(program),
            };
        }
        let missing = || Refusal::new(format!("the program {} is not installed; use another one", quote(name)));
        self.environment.find(name, self.root.path()).ok_or_else(missing)
    }

    fn spawn(&self, program: &Path, arguments: &[String]) -> io::Result<(ProcessGroup, Receiver)> {
        let (reader, writer) = io::pipe()?;
        let set = |command: &mut Command| {
            let command = command.current_dir(self.root.path()).stdin(Stdio::null());
            command.stdout(writer.try_clone()?).stderr(writer);
            Ok(())
        };
        let group = ProcessGroup::spawn(self.launcher.as_ref(), program, arguments, &self.environment, set)?;
        Ok((group, Receiver::from_owned_fd(reader.into())?))
    }

    /// Reads the output until the program ends or has to be ended.
    async fn attend(
        &self,
        group: ProcessGroup,
        mut receiver: Receiver,
        limit: Duration,
        output: &mut Excerpt,
    ) -> io::Result<(Ending, ExitStatus)> {
        let ending = tokio::select! {
            ended = group.ended() => ended.map(|()| Ending::Exited)?,
            () = sleep(limit) => Ending::TooSlow,
            () = self.flood(&mut receiver, output) => Ending::TooMuch,
        };
        let status = group.finish().await?;
        // Whatever is missing at the end is missing because it never came.
        let _ = timeout(DRAIN_TIME, read(&mut receiver, output, self.limits.printed_bytes)).await;
        Ok((ending, status))
    }

    /// Reads the output; comes back only if there is too much of it.
    async fn flood(&self, receiver: &mut Receiver, output: &mut Excerpt) {
        read(receiver, output, self.limits.printed_bytes).await;
        if output.total() < self.limits.printed_bytes {
            std::future::pending::<()>().await;
        }
    }

    fn report(&self, ending: Ending, status: ExitStatus, limit: Duration, output: Excerpt) -> ToolOutput {
        let mut text = self.environment.redact(output.into_text());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let end = match (ending, status.code(), status.signal()) {
            (Ending::TooSlow, ..) => format!("killed after {limit:?}; run something that takes less"),
            (Ending::TooMuch, ..) => {
                format!("killed after printing {} bytes; run something that prints less", self.limits.printed_bytes)
            }
            (Ending::Exited, Some(code), _) => format!("exit code {code}"),
            (Ending::Exited, None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
        };
        text.push_str(&format!("[{end}]"));
        ToolOutput { is_error: ending != Ending::Exited || !status.success(), ..ToolOutput::text(text) }
    }
}

/// Reads until the end, or until `max_bytes` have come in all.
async fn read(receiver: &mut Receiver, output: &mut Excerpt, max_bytes: u64) {
    let mut buffer = vec![0; 64 << 10];
    while output.total() < max_bytes {
        match receiver.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => output.push(&buffer[..length]),
        }
    }
}

/// The words of the command, then the arguments as they are.
fn words(request: Request) -> Result<Vec<String>, Refusal> {
    let args = request.args.unwrap_or_default();
    let size = request.command.len() + args.iter().map(|argument| argument.len() + 1).sum::<usize>();
    if size > MAX_COMMAND_BYTES {
        let reason = format!(
            "the command has {size} bytes, more than {MAX_COMMAND_BYTES}; put what is long in a file with write_file"
        );
        return Err(Refusal::new(reason));
    }
    let mut words = command_line::split(&request.command)?;
    if words.is_empty() {
        return Err(Refusal::new("the command is empty; name a program"));
    }
    words.extend(args);
    if words.iter().any(|word| word.contains('\0')) {
        return Err(Refusal::new("the command has a NUL character in it; leave that out"));
    }
    Ok(words)
}

fn failed(program: &str, error: &io::Error) -> Refusal {
    Refusal::new(format!("{} could not be run: {error}", quote(program)))
}

#[async_trait::async_trait]
impl Tool for RunCommand {
    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Runs one program in the root and returns what it prints and its exit code. There is no shell: no pipes, \
             redirections, variables or wildcards. It is killed after {} seconds with everything it started; of long \
             output the start and the end are kept. {}.",
            self.limits.command_time.as_secs(),
            self.allow.allowed()
        );
        let properties = json!({
            "command": {"type": "string", "description": "The program and its arguments, split at spaces; quotes work."},
            "args": {
                "type": "array",
                "items": {"type": "string"},
                "description": "More arguments, each passed on exactly as it is.",
            },
            "timeout_seconds": {"type": "integer", "minimum": 1, "description": "Kill it after this time."},
        });
        ToolDefinition::new("run_command", &description, &properties, &["command"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        self.run(arguments).await.unwrap_or_else(|refusal| refusal.of("run_command"))
    }
}
