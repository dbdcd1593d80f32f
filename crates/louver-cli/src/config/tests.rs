use super::{Config, McpServer, Problem, ProviderKind, Wire, schema};
use louver::policy::{MessagesConfig, TokensConfig};
use serde_json::Value;
use std::collections::BTreeSet;

const EXAMPLE: &str = include_str!("../../../../examples/config.yml");

fn parse(text: &str) -> Config {
    Config::parse(text).unwrap().config
}

fn problems(text: &str) -> Vec<String> {
    Config::parse(text).unwrap_err().iter().map(Problem::to_string).collect()
}

/// The example with its commented-out keys switched on: a `#` without a space behind it.
fn whole_example() -> String {
    let switched_on = EXAMPLE.lines().map(|line| {
        let text = line.trim_start();
        match text.strip_prefix('#') {
            Some(key) if key.starts_with(char::is_alphabetic) => line.replacen('#', "", 1),
            _ => line.to_owned(),
        }
    });
    switched_on.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_says_what_holds_without_it() {
    let (example, nothing) = (parse(EXAMPLE), Config::default());
    assert_eq!(example.messages(), MessagesConfig::default());
    assert_eq!(example.tokens(), TokensConfig::default());
    assert_eq!(example.policy.as_deref(), Some("messages"));
    assert_eq!((example.provider, example.profile), (nothing.provider, nothing.profile));
    assert_eq!(example.context, nothing.context);
    assert_eq!(example.execution.max_iterations, nothing.execution.max_iterations);
}

#[test]
fn the_example_shows_every_key_of_the_schema() {
    let whole = whole_example();
    let provider = parse(&whole).provider.unwrap();
    assert_eq!(
        (provider.kind, provider.api_key_env.as_deref()),
        (ProviderKind::AnthropicApi, Some("ANTHROPIC_API_KEY"))
    );
    let mut keys = BTreeSet::new();
    collect_keys(&schema(), &mut keys);
    for key in &keys {
        assert!(whole.contains(&format!("{key}:")), "the example does not show `{key}`");
    }
}

fn collect_keys(schema: &Value, keys: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        keys.extend(properties.keys().cloned());
        assert_eq!(schema["additionalProperties"], Value::Bool(false));
    }
    for definition in schema["$defs"].as_object().into_iter().flat_map(|defs| defs.values()) {
        collect_keys(definition, keys);
    }
}

#[test]
fn the_schema_and_the_walker_know_the_same_keys() {
    let mut keys = BTreeSet::new();
    collect_keys(&schema(), &mut keys);
    let said = problems(
        "q: 1\nprovider: {type: sandbox, q: 1}\nexecution: {q: 1, conversation: {q: 1}}\ncontext: {q: 1}\nladder: {q: 1}\ntools: {q: 1, mcp_servers: {a: {q: 1}}}\nproxy: {q: 1, upstreams: {a: {q: 1}}}",
    );
    let listed = said.iter().filter_map(|line| line.split_once("expected ")).flat_map(|(_, keys)| keys.split(", "));
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), keys);
}

#[test]
fn the_full_block_wins_over_the_shorthand() {
    let short = parse("execution: {max_conversation_messages: 7}").messages();
    assert_eq!(short, MessagesConfig { max_messages: 7, ..MessagesConfig::default() });
    let both = parse("execution: {max_conversation_messages: 7, conversation: {max_messages: 9}}").messages();
    assert_eq!(both.max_messages, 9);
    let beside = parse("execution: {max_conversation_messages: 7, conversation: {preserve_last_n: 2}}").messages();
    assert_eq!((beside.max_messages, beside.preserve_last_n), (7, 2));
}

#[test]
fn the_keys_of_a_file_say_which_window_it_wants() {
    let wanted = |text: &str| parse(text).wanted_policy().map(|policy| policy.name().to_owned());
    assert_eq!(wanted("execution: {max_conversation_messages: 7}").as_deref(), Some("messages"));
    assert_eq!(wanted("context: {auto_condense_context: true}").as_deref(), Some("tokens"));
    assert_eq!(wanted("profile: code").as_deref(), Some("tokens"));
    assert_eq!(wanted("profile: code\nexecution: {conversation: {max_messages: 7}}").as_deref(), Some("both"));
    assert_eq!(wanted("policy: both\nexecution: {max_conversation_messages: 7}").as_deref(), Some("both"));
    assert_eq!(wanted("context: {context_window: 9000}\nladder: {ledger_tokens: 5}"), None);
    // A key says which window is meant, even if it says what holds anyway.
    assert_eq!(wanted("context: {auto_condense_context: false}").as_deref(), Some("tokens"));
    assert_eq!(wanted("execution: {conversation: {max_messages: 100}}").as_deref(), Some("messages"));
    assert_eq!(wanted("context: {custom_condensing_prompt: null}"), None);
}

#[test]
fn the_bounds_of_a_run_are_read() {
    let execution =
        parse("execution: {max_turns: 7, max_tokens: 900, max_cost_usd: 0.25, timeout_seconds: 30}").execution;
    assert_eq!((execution.max_turns, execution.max_tokens, execution.timeout_seconds), (7, Some(900), 30));
    assert_eq!(execution.max_cost_usd.map(|cost| cost.usd()), Some(0.25));
    let unset = parse("execution: {max_tokens: 0, max_cost_usd: null}").execution;
    assert_eq!((unset.max_tokens, unset.max_cost_usd, unset.max_turns), (None, None, 200));
    assert_eq!(parse("execution: {max_cost_usd: 3}").execution.max_cost_usd.map(|cost| cost.usd()), Some(3.0));
    assert_eq!(
        problems("execution:\n  max_turns: 0\n  max_tokens: -1\n  max_cost_usd: -0.5\n  timeout_seconds: soon"),
        [
            "2: execution.max_turns: 0 is out of range: at least 1",
            "3: execution.max_tokens: -1 is out of range: at least 0",
            "4: execution.max_cost_usd: -0.5 is out of range: above 0, up to 1000000",
            "5: execution.timeout_seconds: expected a whole number, found text",
        ]
    );
}

#[test]
fn a_file_of_the_other_runner_is_taken_with_warnings() {
    let checked = Config::parse(
        "version: 1
provider: {type: claude-cli, model: opus}
execution: {max_iterations: 9, max_consecutive_failures: 3, timeout_per_iteration: 300, conversation: {max_messages: 30}}
permissions: {scope_enforcement: strict, auto_commit: true}
validation: {pre_commit: [npm test]}
git: {commit_prefix: 'ai:'}
notifications: {level: all}
skills: {enabled: true}
security: {skip_permissions: true}",
    )
    .unwrap();
    assert_eq!((checked.config.execution.max_iterations, checked.config.messages().max_messages), (9, 30));
    assert_eq!(checked.config.provider, None);
    let said: Vec<String> = checked.warnings.iter().map(Problem::to_string).collect();
    assert_eq!(said.len(), 10, "{said:#?}");
    assert_eq!(said[0], "1: version: is ignored: it means nothing here");
    assert!(said[1].starts_with("2: provider.type: `claude-cli` is ignored"), "{said:?}");
    assert!(problems("versions: 1")[0].contains("unknown key"), "a slip is still one");
}

#[test]
fn keys_that_the_policy_does_not_read_are_named() {
    let idle = |text: &str| {
        let config = parse(text);
        config.idle_keys(&config.wanted_policy().unwrap())
    };
    assert_eq!(
        idle("policy: ladder\nexecution: {max_conversation_messages: 7}\nprofile: code"),
        ["execution.max_conversation_messages", "profile"]
    );
    assert_eq!(idle("policy: messages\nladder: {ledger_tokens: 5}"), ["ladder"]);
    assert_eq!(idle("policy: both\nexecution: {max_conversation_messages: 7}\nprofile: code"), [""; 0]);
}

#[test]
fn the_ladder_is_told_what_the_file_says() {
    let config = parse("policy: ladder-careful\nladder: {keep_recent_tokens: 5, leave_below_tokens: 6, pin: [KEEP]}");
    let mut policy = config.wanted_policy().unwrap();
    config.apply(&mut policy);
    let ladder = policy.ladder().unwrap();
    assert_eq!((ladder.keep_recent_tokens, ladder.ledger_tokens), (5, 16_000), "what is not said is as the row has it");
    assert_eq!((ladder.leave_below_tokens, &ladder.pin[..]), (6, &["KEEP".to_owned()][..]));
    assert_eq!(ladder.when, louver::policy::CutWhen::Pays);
    let mut policy = louver::PolicyKind::default_for(true);
    parse("ladder: {when: full}").apply(&mut policy);
    assert_eq!(policy.ladder().unwrap().when, louver::policy::CutWhen::Full);
    assert_eq!(problems("ladder: {when: never}"), ["1: ladder.when: `never` is none of pays, full"]);
    let said = problems("ladder: {rungs: [top], pin: ['']}");
    assert!(said[0].contains("ladder.pin[0]") || said[1].contains("ladder.pin[0]"), "{said:?}");
}

#[test]
fn the_page_of_the_specification_is_valid() {
    let config = parse(
        "policy: both
provider: { type: anthropic-api, model: claude-sonnet-5-5, base_url: 'https://a.example', api_key_env: ANTHROPIC_API_KEY }
execution:
  max_iterations: 50
  max_conversation_messages: 100      # shorthand
  conversation:                       # full form
    max_messages: 100
    summarize_on_trim: true
    preserve_first_n: 1
    preserve_last_n: 20
context:                              # the token window
  auto_condense_context: true
  auto_condense_context_percent: 75
  custom_condensing_prompt: null
  condensing_provider: { type: openai-api, model: gpt-5 }
  profile_thresholds: { code: 60, chat: 80, default: -1 }
profile: code",
    );
    let tokens = config.tokens();
    assert_eq!(louver::policy::effective_threshold(&tokens), (60, None));
    assert!(tokens.auto_condense_context && config.messages().summarize_on_trim);
    assert_eq!(config.context.condensing_provider.unwrap().kind, ProviderKind::OpenaiApi);
}

#[test]
fn everything_wrong_is_told_at_once_by_line() {
    let said = problems("context:\n  auto_condense_context_percent: 101\nexecution:\n  max_iterations: 0\npolicy: 3\n");
    assert_eq!(
        said,
        [
            "2: context.auto_condense_context_percent: 101 is out of range: 1 to 100",
            "4: execution.max_iterations: 0 is out of range: at least 1",
            "5: policy: expected text, found a whole number",
        ]
    );
}

#[test]
fn a_wire_format_must_be_one_that_the_api_speaks() {
    assert_eq!(parse("provider: {type: openai-api, wire: responses}").provider.unwrap().chosen_wire(), Wire::Responses);
    assert_eq!(parse("provider: {type: openai-api}").provider.unwrap().chosen_wire(), Wire::Chat);
    let said = problems(
        "provider:\n  type: anthropic-api\n  wire: chat\ncontext: {condensing_provider: {type: openai-api, wire: messages}}",
    );
    assert_eq!(
        said,
        [
            "3: provider.wire: `chat` is none of messages",
            "4: context.condensing_provider.wire: `messages` is none of chat, responses",
        ]
    );
}

#[test]
fn mcp_servers_are_read_by_name() {
    let config = parse(
        "tools:
  mcp_servers:
    files: { command: npx, args: [-y, some-server, '8080'], env: [TOKEN], timeout_seconds: 5 }
    there:
      url: https://there.example/mcp
      token_env: THERE_TOKEN
",
    );
    let files = McpServer {
        command: Some("npx".to_owned()),
        args: ["-y", "some-server", "8080"].map(str::to_owned).to_vec(),
        env: vec!["TOKEN".to_owned()],
        timeout_seconds: 5,
        ..McpServer::default()
    };
    let there = McpServer {
        url: Some("https://there.example/mcp".to_owned()),
        token_env: Some("THERE_TOKEN".to_owned()),
        ..McpServer::default()
    };
    assert_eq!(config.tools.mcp_servers, [("files".to_owned(), files), ("there".to_owned(), there)].into());
}

#[test]
fn everything_wrong_with_mcp_servers_is_told_by_line_without_values() {
    let said = problems(
        "tools:
  mcp_servers:
    a__b: { command: x }
    nothing:
    list: [x]
    wrong:
      command: ' '
      args: [--port, 8080, --token=sk-very-secret]
      env: { TOKEN: sk-very-secret }
      timeout_seconds: 0
    value:
      command: x
      env:
        - sk-very-secret
    both: { command: x, url: 'https://x' }
    mixed: { url: gopher, args: [x], token_env: sk-very-secret }
    lost: { command: x, token_env: TOKEN }
",
    );
    assert_eq!(
        said,
        [
            "3: tools.mcp_servers.a__b: a server's name has letters, digits, `-` and single `_`, and at most 32 of them",
            "4: tools.mcp_servers.nothing.command: is missing: the program to start (or `url`, if the server is there \
             already)",
            "5: tools.mcp_servers.list: expected a block of keys, found a list",
            "7: tools.mcp_servers.wrong.command: must name a program",
            "8: tools.mcp_servers.wrong.args[1]: expected text, found a whole number: put it in quotes",
            "9: tools.mcp_servers.wrong.env: expected a list of names, found a block of keys",
            "10: tools.mcp_servers.wrong.timeout_seconds: 0 is out of range: 1 to 3600",
            "14: tools.mcp_servers.value.env[0]: must be the name of an environment variable, not its value",
            "15: tools.mcp_servers.both.url: stands beside `command`: a server is started or is there, not both",
            "16: tools.mcp_servers.mixed.args: goes with `command` only",
            "16: tools.mcp_servers.mixed.token_env: must be the name of an environment variable, not its value",
            "16: tools.mcp_servers.mixed.url: must start with http:// or https://",
            "17: tools.mcp_servers.lost.token_env: goes with `url` only",
        ]
    );
}

#[test]
fn an_empty_file_and_empty_blocks_say_nothing() {
    assert_eq!(parse(""), Config::default());
    assert_eq!(parse("# only a comment\n"), Config::default());
    assert_eq!(parse("execution:\ncontext:\nprovider:\n"), Config::default());
}

#[test]
fn a_threshold_that_will_not_hold_is_a_warning() {
    let checked = Config::parse("context:\n  profile_thresholds:\n    code: 30\n    chat: -1\n").unwrap();
    let warnings: Vec<_> = checked.warnings.iter().map(|problem| (problem.line, problem.path.as_str())).collect();
    assert_eq!(warnings, [(3, "context.profile_thresholds.code")]);
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    let said = problems("provider: {type: sandbox, api_key_env: sk-very-secret, api_key: sk-very-secret}").join("\n");
    assert!(said.contains("provider.api_key_env") && !said.contains("secret"), "{said}");
}

#[test]
fn hosts_of_the_page_are_names_alone() {
    assert_eq!(parse("proxy: {hosts: [louver.example.com]}").proxy.hosts, ["louver.example.com"]);
    for wrong in ["http://louver.example.com", "louver.example.com:8787"] {
        let found = problems(&format!("proxy: {{hosts: ['{wrong}']}}"));
        assert!(found.len() == 1 && found[0].contains("a name alone"), "{found:?}");
    }
}
