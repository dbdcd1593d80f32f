use std::time::Duration;

use louver_agent::ApiKey;
use louver_agent::tools::{
    Environment, Limits, McpError, McpServer, McpServerConfig, McpTransport, ToolOutput, ToolSet,
};
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;

use crate::fixture::Fixture;

/// The example that `cargo test` builds beside the tests.
fn program() -> String {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/mcp_server");
    assert!(program.exists(), "build it first: cargo build -p louver-agent --example mcp_server");
    program.display().to_string()
}

fn config(args: &[&str]) -> McpServerConfig {
    starting(&program(), args, &[])
}

fn starting(command: &str, args: &[&str], env_allow: &[&str]) -> McpServerConfig {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let environment = Environment::inherit(env_allow);
    named(McpTransport::Process { command: command.to_owned(), args: owned(args), environment, launcher: None })
}

fn named(transport: McpTransport) -> McpServerConfig {
    McpServerConfig { name: "test".into(), transport, timeout: Duration::from_secs(60) }
}

async fn connect(config: McpServerConfig) -> Result<(McpServer, ToolSet), McpError> {
    let server = McpServer::connect(config, &Limits { output_bytes: 1_000, ..Limits::default() }).await?;
    let mut tools = ToolSet::default();
    for tool in server.tools() {
        tools.add(tool).unwrap();
    }
    Ok((server, tools))
}

async fn call(tools: &ToolSet, name: &str, arguments: Value) -> (bool, String) {
    let ToolOutput { text, is_error, .. } = tools.call(name, arguments).await;
    (is_error, text)
}

#[tokio::test]
async fn tools_of_all_pages_are_offered_under_the_name_of_the_server() {
    let (server, tools) = connect(config(&[])).await.unwrap();
    let names: Vec<String> = tools.definitions().into_iter().map(|definition| definition.name).collect();
    let expected =
        ["crash", "echo", "fail", "flood", "hang", "odd_name__", "picture", "refuse", "structured", "variables"];
    assert_eq!(names, expected.map(|name| format!("test__{name}")));
    let echo = &tools.definitions()[1];
    assert_eq!(echo.description, "Says it again.");
    assert_eq!(echo.schema["required"], json!(["text"]));
    server.shut_down().await;
}

#[tokio::test]
async fn results_of_every_kind_come_back_as_text() {
    let (server, tools) = connect(config(&[])).await.unwrap();
    let ok = |text: &str| (false, text.to_owned());
    assert_eq!(call(&tools, "test__echo", json!({"text": "héllo\n"})).await, ok("héllo\n"));
    assert_eq!(call(&tools, "test__echo", json!(null)).await, ok("nothing"));
    assert_eq!(call(&tools, "test__odd_name__", json!({})).await, ok("odd"));
    let picture = ok("[image/png content of about 3000 bytes is not shown]");
    assert_eq!(call(&tools, "test__picture", json!({})).await, picture);
    assert_eq!(call(&tools, "test__structured", json!({})).await, ok(r#"{"sum":3}"#));
    server.shut_down().await;
}

#[tokio::test]
async fn failures_are_errors_that_the_model_can_read() {
    let (server, tools) = connect(config(&[])).await.unwrap();
    let error = |text: &str| (true, text.to_owned());
    assert_eq!(call(&tools, "test__fail", json!({})).await, error("that went wrong"));
    let refused = error("test: the MCP server refused the call: no such thing");
    assert_eq!(call(&tools, "test__refuse", json!({})).await, refused);
    assert_eq!(call(&tools, "test__echo", json!([1])).await, error("the arguments must be a JSON object"));
    server.shut_down().await;
}

#[tokio::test]
async fn a_flood_is_cut_in_the_middle() {
    let (server, tools) = connect(config(&[])).await.unwrap();
    let (_, text) = call(&tools, "test__flood", json!({})).await;
    assert!(text.len() < 1_100 && text.contains("[... 8387608 bytes left out ...]"), "{}", text.len());
    server.shut_down().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_not_waited_for_and_can_be_used_again() {
    let (server, tools) = connect(McpServerConfig { timeout: Duration::from_secs(5), ..config(&[]) }).await.unwrap();
    let expected = "test: the MCP server did not answer within 5s; ask for less";
    assert_eq!(call(&tools, "test__hang", json!({})).await, (true, expected.to_owned()));
    assert_eq!(call(&tools, "test__echo", json!({"text": "still here"})).await, (false, "still here".to_owned()));
    server.shut_down().await;
}

#[tokio::test]
async fn a_server_that_dies_answers_with_an_error_from_then_on() {
    let (server, tools) = connect(config(&[])).await.unwrap();
    let ended = (true, "test: the MCP server has ended, and its tools with it; do it another way".to_owned());
    assert_eq!(call(&tools, "test__crash", json!({})).await, ended);
    assert_eq!(call(&tools, "test__echo", json!({"text": "x"})).await, ended);
    server.shut_down().await;
}

#[tokio::test]
async fn a_server_is_shut_down_in_good_order_once() {
    let fixture = Fixture::new();
    let (alive, goodbye) = (fixture.pipe("alive"), fixture.path("goodbye"));
    let arguments = ["hold", &alive.path, "goodbye", goodbye.to_str().unwrap()];
    let (server, tools) = connect(config(&arguments)).await.unwrap();
    server.shut_down().await;
    alive.closed();
    assert_eq!(std::fs::read_to_string(goodbye).unwrap(), "goodbye");
    server.shut_down().await;
    let (is_error, text) = call(&tools, "test__echo", json!({"text": "x"})).await;
    assert!(is_error && text.contains("has ended"), "{text}");
}

#[tokio::test]
async fn a_server_that_does_not_listen_is_killed() {
    let fixture = Fixture::new();
    let alive = fixture.pipe("alive");
    let (server, _tools) = connect(config(&["hold", &alive.path, "deaf"])).await.unwrap();
    server.shut_down().await;
    alive.closed();
}

#[tokio::test]
async fn a_server_lives_as_long_as_its_tools() {
    let fixture = Fixture::new();
    let alive = fixture.pipe("alive");
    let (server, tools) = connect(config(&["hold", &alive.path, "deaf"])).await.unwrap();
    drop(server);
    assert_eq!(call(&tools, "test__echo", json!({"text": "x"})).await, (false, "x".to_owned()));
    drop(tools);
    alive.closed();
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_an_error_that_says_why() {
    let fixture = Fixture::new();
    let error = async |config: McpServerConfig| connect(config).await.unwrap_err().to_string();

    let missing = error(starting("/no/such/program", &[], &[])).await;
    let expected = "could not be started: there is no program `/no/such/program`; install or correct it";
    assert_eq!(missing, format!("the MCP server `test` {expected}"));

    let broken = error(config(&["broken"])).await;
    let expected = "ended before it was ready; it said: Error: \"no configuration found\"";
    assert_eq!(broken, format!("the MCP server `test` {expected}"));

    let alive = fixture.pipe("alive");
    let mute = config(&["hold", &alive.path, "mute"]);
    let mute = error(McpServerConfig { timeout: Duration::from_secs(2), ..mute }).await;
    assert!(mute.starts_with("the MCP server `test` did not get ready within 2s; start `"), "{mute}");
    alive.closed();

    let crowded = error(config(&["crowded"])).await;
    assert_eq!(crowded, "the MCP server `test` has more than 200 tools");

    let no_server = error(starting("true", &[], &[])).await;
    assert_eq!(no_server, "the MCP server `test` ended before it was ready");

    for name in ["", "a__b", "_a", "a_", "a b", "é", "a/b", &"x".repeat(33)] {
        let text = error(McpServerConfig { name: name.to_owned(), ..config(&[]) }).await;
        assert!(text.contains("has a name that cannot be used"), "{text}");
    }
}

#[tokio::test]
async fn a_server_sees_only_allowed_variables_and_cannot_repeat_their_values() {
    // Cargo sets these for tests; they stand for the keys that the process holds.
    let secret = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let (server, tools) = connect(starting(&program(), &[], &["CARGO_MANIFEST_DIR"])).await.unwrap();
    let (_, text) = call(&tools, "test__variables", json!({})).await;
    assert!(text.contains("CARGO_MANIFEST_DIR=***"), "{text}");
    assert!(!text.contains(&secret) && !text.contains("CARGO_PKG_NAME"), "{text}");
    let shown = format!("{server:?} {tools:?}");
    assert!(!shown.contains(&secret), "{shown}");
    server.shut_down().await;
}

#[tokio::test]
async fn debug_output_shows_no_arguments() {
    let (server, tools) = connect(config(&["--token=sk-very-secret"])).await.unwrap();
    let shown = format!("{server:?} {tools:#?} {:?}", config(&["--token=sk-very-secret"]));
    assert!(!shown.contains("sk-very-secret"), "{shown}");
    server.shut_down().await;
}

/// A server that listens, killed with this value.
struct Listening {
    url: String,
    _process: tokio::process::Child,
}

async fn listening(args: &[&str]) -> Listening {
    let mut command = tokio::process::Command::new(program());
    command.arg("http").args(args).stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut lines = tokio::io::BufReader::new(process.stdout.take().unwrap()).lines();
    Listening { url: lines.next_line().await.unwrap().unwrap(), _process: process }
}

fn token(text: &str) -> Option<ApiKey> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Some(ApiKey::from_file(file.path()).unwrap())
}

#[tokio::test]
async fn a_server_at_an_address_is_used_like_any_other() {
    let listening = listening(&["token", "sk-very-secret"]).await;
    let http = McpTransport::Http { url: listening.url.clone(), token: token("sk-very-secret") };
    let (server, tools) = connect(named(http)).await.unwrap();
    assert_eq!(tools.definitions().len(), 10);
    assert_eq!(call(&tools, "test__echo", json!({"text": "x"})).await, (false, "x".to_owned()));
    let hidden = (false, "my *** is safe".to_owned());
    assert_eq!(call(&tools, "test__echo", json!({"text": "my sk-very-secret is safe"})).await, hidden);
    let shown = format!("{server:?}");
    assert!(!shown.contains("sk-very-secret") && !shown.contains(&listening.url), "{shown}");
    server.shut_down().await;
    assert!(call(&tools, "test__echo", json!({"text": "x"})).await.0);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_an_error_without_its_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = async |url: String, token: Option<ApiKey>| {
        connect(named(McpTransport::Http { url, token })).await.unwrap_err().to_string()
    };
    let nobody = error(format!("http://{free}/mcp?key=sk-very-secret"), None).await;
    assert!(nobody.starts_with("the MCP server `test` cannot be reached: "), "{nobody}");
    assert!(nobody.ends_with("; is its address right?") && !nobody.contains("sk-very-secret"), "{nobody}");

    let listening = listening(&["token", "sk-very-secret"]).await;
    let wrong = error(listening.url.clone(), token("sk-other-secret")).await;
    assert!(wrong.contains("403") && !wrong.contains("secret"), "{wrong}");
}
