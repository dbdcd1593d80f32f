//! What a run gives the model to work with, and the bounds of it.

use super::Shell;
use super::asking::Asking;
use crate::input::spoken;
use crate::settings::Run;
use anyhow::{Context, bail, ensure};
use louver_agent::launch::{Confinement, Guard, Launcher};
use louver_agent::tools::{AllowList, Environment, Limits, Root, RunCommand, ToolSet};
use std::path::Path;
use std::sync::Arc;

/// How programs are started.
#[derive(Debug)]
pub(super) struct Programs {
    launcher: Option<Launcher>,
    confinement: Confinement,
    is_read_only: bool,
}

/// The tools of a run, how its servers are started, and who is asked.
pub(super) struct Toolbox {
    pub(super) tools: ToolSet,
    pub(super) programs: Programs,
    pub(super) asking: Option<Arc<Asking>>,
}

impl Toolbox {
    /// Puts together what the arguments say.
    pub(super) fn of(job: &Run<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Self> {
        let args = job.args;
        let own = [&args.state, &args.config, &args.log, &args.events].into_iter().filter_map(Option::as_deref);
        let root = open_root(&args.root, own)?;
        refuse_reachable(&root, job)?;
        let programs = Programs::of(job, &root, shell)?;
        let mut tools = tools(root, &args.allow, programs.confined())?;
        warn_of_missing_programs(&args.allow, shell);
        if args.read_only {
            let commands = tools.take("run_command");
            tools = tools.harmless();
            commands.map(|tool| tools.add(tool)).transpose()?;
        }
        let asking = args.ask.then(Asking::at_terminal).transpose()?.map(Arc::new);
        Ok(Self { tools, programs, asking })
    }
}

impl Programs {
    fn of(job: &Run<'_>, root: &Root, shell: &mut Shell<'_>) -> anyhow::Result<Self> {
        let args = job.args;
        let mut confinement = Confinement::to(root.path());
        if args.allow_tcp {
            confinement = confinement.allow_tcp();
        }
        if args.read_only {
            confinement = confinement.read_only();
        }
        if args.allow_tcp && !is_confining(job) {
            shell.printer.warning(
                "--allow-tcp has no effect: there is no command (--allow) and no server (`confine`) to confine",
            );
        }
        let launcher = shell.launcher.clone();
        let guard = launcher.as_ref().map_or(Guard::None, |_| Guard::of_this_kernel());
        if !args.allow.is_empty() {
            ensure!(
                !args.read_only || guard != Guard::None,
                "--read-only cannot keep commands from writing, because this kernel has no Landlock: leave --allow out"
            );
            match guard {
                Guard::Full => {}
                Guard::Files if args.allow_tcp => {}
                Guard::Files => shell.printer.warning("commands can use TCP: the Landlock of this kernel is too old"),
                Guard::None => {
                    shell.printer.warning("commands are not confined to the root: there is no Landlock here")
                }
            }
        }
        Ok(Self { launcher, confinement, is_read_only: args.read_only })
    }

    /// What starts programs that are confined.
    fn confined(&self) -> Option<Launcher> {
        self.launcher.clone().map(|launcher| launcher.confining(self.confinement.clone()))
    }

    /// What starts an MCP server.
    pub(super) fn for_server(&self, is_confined: bool) -> anyhow::Result<Option<Launcher>> {
        if is_confined {
            ensure!(
                self.launcher.is_some() && Guard::of_this_kernel() != Guard::None,
                "cannot be confined, because this kernel has no Landlock: take out `confine`"
            );
            return Ok(self.confined());
        }
        if self.is_read_only {
            bail!("could write anywhere, which --read-only forbids: give it `confine: true`");
        }
        Ok(self.launcher.clone())
    }
}

/// Says which allowed programs are not there: every call of them will fail.
fn warn_of_missing_programs(allow: &[String], shell: &mut Shell<'_>) {
    let environment = Environment::inherit::<&str>([]);
    let programs = allow.iter().filter_map(|entry| entry.split_whitespace().next());
    for program in programs.filter(|program| !environment.has(program)) {
        shell.printer.warning(&format!("--allow {program}: there is no such program here"));
    }
}

/// Whether there are programs that are confined to the root.
fn is_confining(job: &Run<'_>) -> bool {
    !job.args.allow.is_empty() || job.config.tools.mcp_servers.values().any(|server| server.confine)
}

/// The other tools are kept from files that the run itself depends on. A program that is confined to the root is not: no
/// kernel takes a file out of a folder that it allows.
fn refuse_reachable(root: &Root, job: &Run<'_>) -> anyhow::Result<()> {
    let names: Vec<String> = root.hidden_files().map(|file| file.display().to_string()).collect();
    let (it, is) = if names.len() == 1 { ("it", "is") } else { ("them", "are") };
    ensure!(
        names.is_empty() || !is_confining(job),
        "{} {is} inside the root, where a command (--allow) or a server (`confine`) could read and change {it}: keep {it} \
         elsewhere, or give the programs another --root",
        names.join(", ")
    );
    Ok(())
}

/// The folder that the tools cannot leave, without files that the run itself depends on.
pub(super) fn open_root<'p>(path: &Path, own: impl IntoIterator<Item = &'p Path>) -> anyhow::Result<Root> {
    let mut root = Root::open(path).map_err(spoken).with_context(|| path.display().to_string())?;
    for file in own {
        root.hide(file).map_err(spoken).with_context(|| file.display().to_string())?;
    }
    Ok(root)
}

/// File tools inside the folder, and the commands that are allowed.
pub(super) fn tools(root: Root, allow: &[String], launcher: Option<Launcher>) -> anyhow::Result<ToolSet> {
    let mut tools = ToolSet::for_root(&root, Limits::default());
    if !allow.is_empty() {
        let allow = AllowList::new(allow)?;
        allow.check_root(&root)?;
        let mut command = RunCommand::new(root, Limits::default(), allow, Environment::inherit::<&str>([]));
        if let Some(launcher) = launcher {
            command = command.launcher(launcher);
        }
        tools.add(Arc::new(command))?;
    }
    Ok(tools)
}
