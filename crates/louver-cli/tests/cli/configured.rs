//! `run` with a configuration, against sandboxes that the test starts: every key has its effect.

use crate::Run;
use assert_cmd::cargo::cargo_bin;
use louver_sandbox::{Call, JournalEntry, Running, Sandbox, Scenario, Turn};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A folder to work in, and servers beside it.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    runtime: Runtime,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("TASK.md"), "Look around.").unwrap();
        Self { folder, runtime: Runtime::new().unwrap() }
    }

    pub(crate) fn sandbox(&self, scenario: Scenario) -> Running {
        self.serve(Sandbox::builder().scenario(scenario))
    }

    fn serve(&self, sandbox: louver_sandbox::Builder) -> Running {
        self.runtime.block_on(sandbox.start("127.0.0.1:0")).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A run in the folder with this configuration, a key in `TEST_KEY`, and a state file.
    pub(crate) fn command(&self, config: &str) -> Command {
        std::fs::write(self.path("config.yml"), config).unwrap();
        let mut command = Command::new(cargo_bin!("louver"));
        command.env("TEST_KEY", "sk-test").current_dir(self.folder.path());
        command.args(["run", "TASK.md", "--config", "config.yml", "--state", "run.state"]);
        command
    }

    pub(crate) fn run(&self, config: &str) -> Run {
        let output = self.command(config).output().unwrap();
        Run {
            code: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A provider in a configuration.
pub(crate) fn provider(kind: &str, sandbox: &Running) -> String {
    format!("{{type: {kind}, base_url: '{}', api_key_env: TEST_KEY}}", sandbox.url())
}

/// So many steps, each with enough words that a summary of a few is shorter than they are.
fn steps(count: usize) -> Scenario {
    let said =
        "It was named in the plan, and nothing that was read so far contradicts it, so it is read whole. ".repeat(3);
    let read = |n: usize| Call::new("read_file", json!({"path": format!("src/file_{n}.rs")}));
    let step = |n: usize| Turn::calls([read(n)]).saying(format!("Step {n}. {said}"));
    let steps = (0..count).fold(Scenario::new("steps"), |scenario, n| scenario.turn(step(n)));
    steps.turn(Turn::calls([Call::new("task_complete", json!({"summary": "All is read."}))]))
}

/// A model that says which prompt it was asked for a summary with.
fn summariser() -> Scenario {
    Scenario::new("summariser").turn(Turn::text("By other words.")).summary(Turn::text("By the usual words."))
}

fn paths(journal: &[JournalEntry]) -> Vec<&str> {
    assert!(journal.iter().all(|entry| entry.status == 200 && entry.violations.is_empty()), "{journal:?}");
    let mut paths: Vec<&str> = journal.iter().map(|entry| entry.path.as_str()).collect();
    paths.dedup();
    paths
}

#[test]
fn every_wire_format_is_spoken_as_configured() {
    let wires = [
        ("anthropic-api", "messages", "/v1/messages"),
        ("openai-api", "chat", "/v1/chat/completions"),
        ("openai-api", "responses", "/v1/responses"),
        ("sandbox", "responses", "/v1/responses"),
    ];
    for (kind, wire, path) in wires {
        let world = World::new();
        let sandbox = world.sandbox(steps(30));
        let named = format!("{{type: {kind}, wire: {wire}, base_url: '{}/v1', api_key_env: TEST_KEY}}", sandbox.url());
        let config =
            format!("provider: {named}\nexecution: {{conversation: {{max_messages: 20, preserve_last_n: 6}}}}");
        let run = world.run(&config);
        assert!(run.done().contains("All is read."), "{}", run.stdout);
        let journal = sandbox.journal();
        assert_eq!((paths(&journal), journal.len()), (vec![path], 31), "{wire}");
        let largest = journal.iter().map(|entry| entry.messages).max().unwrap();
        assert!((19..=24).contains(&largest), "{wire}: {largest}");
    }
}

#[test]
fn summaries_come_from_the_provider_that_is_configured_for_them() {
    let world = World::new();
    let (conversation, condensing) = (world.sandbox(steps(30)), world.sandbox(summariser()));
    let window = "execution: {conversation: {max_messages: 20, preserve_last_n: 6, summarize_on_trim: true}}";
    let config = |context: &str| format!("provider: {}\n{window}\n{context}", provider("anthropic-api", &conversation));

    let own = world.run(&config(""));
    assert!(own.done().contains("Summaries"), "{}", own.stdout);
    let asked = conversation.journal().len() - 31;
    assert!(asked > 0, "summaries are asked of the conversation's own model");

    let other = provider("openai-api", &condensing);
    let run = world.run(&config(&format!("context: {{condensing_provider: {other}}}")));
    assert!(run.done().contains("Summaries"), "{}", run.stdout);
    assert!(run.stderr.contains("Context condensed: By the usual words."), "{}", run.stderr);
    assert_eq!(conversation.journal().len() - asked - 31, 31, "the conversation's own model is not asked any more");
    assert_eq!(paths(&condensing.journal()), ["/v1/chat/completions"]);
}

#[test]
fn the_prompt_for_summaries_can_be_replaced() {
    let world = World::new();
    let (conversation, condensing) = (world.sandbox(steps(30)), world.sandbox(summariser()));
    let run = world.run(&format!(
        "provider: {}\nexecution: {{max_conversation_messages: 20, conversation: {{preserve_last_n: 6, \
         summarize_on_trim: true}}}}\ncontext: {{custom_condensing_prompt: Put it shortly., condensing_provider: {}}}",
        provider("anthropic-api", &conversation),
        provider("anthropic-api", &condensing)
    ));
    assert!(run.done().contains("Summaries"), "{}", run.stdout);
    assert!(run.stderr.contains("Context condensed: By other words."), "{}", run.stderr);
}

#[test]
fn the_token_window_condenses_at_the_share_of_the_profile() {
    let world = World::new();
    let conversation = world.sandbox(steps(30));
    // One percent of its window is 2,000 tokens, which the task outgrows.
    let named = provider("anthropic-api", &conversation).replace('}', ", model: claude-haiku-4-5}");
    let run = |rest: &str| {
        world.run(&format!("policy: tokens\nprovider: {named}\ncontext: {{auto_condense_context_percent: 1, {rest}"))
    };
    let is_condensed = |run: &Run| run.done().contains("Summaries");
    assert!(!is_condensed(&run("auto_condense_context: false}")));
    assert!(is_condensed(&run("auto_condense_context: true}")));
    assert!(!is_condensed(&run("auto_condense_context: true, profile_thresholds: {code: 90}}\nprofile: code")));
    assert!(is_condensed(&run("auto_condense_context: true, profile_thresholds: {code: 90}}\nprofile: chat")));
}

#[test]
fn iterations_end_where_the_configuration_says() {
    let world = World::new();
    let idle = world.sandbox(Scenario::new("idle").turn(Turn::text("I think about it.")));
    let run = world.run(&format!("provider: {}\nexecution: {{max_iterations: 3}}", provider("openai-api", &idle)));
    assert_eq!((run.code, idle.journal().len()), (1, 3), "{}", run.stderr);
    assert!(run.stdout.contains("out of iterations") && run.stderr.contains("max_iterations"), "{}", run.stderr);
}

#[test]
fn a_key_that_is_missing_for_summaries_is_named_with_its_place() {
    let world = World::new();
    let run = world.run("context: {condensing_provider: {type: openai-api, api_key_env: NO_SUCH_KEY}}");
    let said = run.refused();
    assert!(said.starts_with("context.condensing_provider: no key in NO_SUCH_KEY: set it"), "{said}");
}

#[test]
fn nobody_at_the_address_is_one_sentence_with_the_address_but_not_its_password() {
    let world = World::new();
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run =
        world.run(&format!("provider: {{type: openai-api, base_url: 'http://me:hush@{free}', api_key_env: TEST_KEY}}"));
    assert_eq!(run.code, 3, "{}", run.stderr);
    let error = run.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(error.starts_with("error: cannot connect to the provider"), "{error}");
    assert!(error.ends_with(&format!("; is provider.base_url right ({free})?")), "{error}");
    assert!(run.stderr.contains("cannot connect to the provider; trying again in "), "{}", run.stderr);
    assert!(!(run.stderr + &run.stdout).contains("hush"));
}

#[test]
fn a_window_that_nobody_knows_has_to_be_configured() {
    let world = World::new();
    let sandbox = world.serve(Sandbox::builder().scenario(steps(30)).any_model(true));
    let named = provider("openai-api", &sandbox).replace('}', ", model: my-own-model}");
    let unknown = world.run(&format!("policy: tokens\nprovider: {named}"));
    assert_eq!(
        unknown.refused(),
        "the policy `tokens` needs to know the context window of `my-own-model`, which is not in the catalogue: set \
         context.context_window"
    );
    let run = world.run(&format!("policy: tokens\nprovider: {named}\ncontext: {{context_window: 12000}}"));
    assert!(run.done().contains("All is read."), "{}", run.stdout);
    assert!(run.stderr.contains("Context truncated: "), "{}", run.stderr);
    let small = world.run(&format!("policy: tokens\nprovider: {named}\ncontext: {{context_window: 9000}}"));
    assert!(small.refused().starts_with("context.context_window: a context window of 9000 tokens"), "{}", small.stderr);
}

#[test]
fn a_key_that_others_could_read_on_the_way_is_warned_of() {
    let world = World::new();
    let sandbox = world.sandbox(steps(1));
    let run = |url: &str| {
        let config = format!("provider: {{type: anthropic-api, base_url: '{url}', api_key_env: TEST_KEY}}");
        let output = world.command(&config).env("HTTP_PROXY", sandbox.url()).output().unwrap();
        Run::of(&output)
    };
    let here = run(&sandbox.url());
    assert!(here.done().contains("All is read.") && !here.stderr.contains("warning: "), "{}", here.stderr);
    let elsewhere = run("http://gateway.invalid");
    let warning = "warning: provider.base_url is plain http to another machine: anybody on the way can read the key and all \
                   that is said\n";
    // The sandbox, asked as a proxy, does not answer for others.
    assert_eq!(elsewhere.code, 3, "{}", elsewhere.stderr);
    assert!(elsewhere.stderr.starts_with(warning), "{}", elsewhere.stderr);
}

#[test]
fn a_flag_for_commands_is_idle_where_there_are_none() {
    let world = World::new();
    let sandbox = world.sandbox(steps(1));
    let config = format!("provider: {{type: anthropic-api, base_url: '{}', api_key_env: TEST_KEY}}", sandbox.url());
    std::fs::create_dir(world.path("root")).unwrap();
    let run = |flags: &[&str]| Run::of(&world.command(&config).args(["--root", "root"]).args(flags).output().unwrap());
    let idle = "warning: --allow-tcp has no effect: ";
    let alone = run(&["--allow-tcp"]);
    assert!(alone.done().contains("All is read.") && alone.stderr.contains(idle), "{}", alone.stderr);
    let used = run(&["--allow-tcp", "--allow", "ls"]);
    assert!(used.done().contains("All is read.") && !used.stderr.contains(idle), "{}", used.stderr);
    assert!(!used.stderr.contains("there is no such program"), "{}", used.stderr);
    let missing = run(&["--allow", "ls", "--allow", "no-such-program --flag"]);
    let warning = "warning: --allow no-such-program: there is no such program here\n";
    assert!(missing.done().contains("All is read.") && missing.stderr.contains(warning), "{}", missing.stderr);
}
