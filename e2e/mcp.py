"""The real Claude Code and Codex ask `louver mcp` for what `louver proxy` left out, with `louver sandbox` for a provider. Run by
clients.sh."""

import argparse
import concurrent.futures
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from clients import CLIENTS, DONE, Server, World

ADDRESS = 12
TOKEN = "a-token-that-opens-the-api"
# Whose conversations they are: `louver mcp` finds those of the user who runs it.
USER = "ann"
# Clients put both into every prompt.
MOST_INSTRUCTIONS, MOST_TOOLS = 200, 1_200
SPOKEN = [
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "e2e", "version": "1"}}),
    ("tools/list", {}),
    ("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
    ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
]


class Provider:
    """The sandbox, with what its script cannot say: a model reads the tag from the ledger before it (`TAG:12`), and OpenAI's
    API names the namespace of a tool apart from its name (`mcp__louver/recall`) and has items of their own for searches of
    tools. Keeps the bodies that arrive."""

    def __init__(self, sandbox):
        host = sandbox.url.removeprefix("http://")
        self.bodies = bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.command == "POST":
                    bodies.append(body)
                connection = http.client.HTTPConnection(host, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                said = spoken(answer.read().decode(), body.decode()).encode()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "date"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_GET = do_POST = forward

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def spoken(answer, request):
    """An answer as the provider's model gives it."""
    if tag := re.search(r"\[Conversation Ledger\] ([0-9a-f]{12}) ", request):
        answer = answer.replace("TAG:", f"{tag[1]}:")
    lines = []
    for line in answer.split("\n"):
        if line.startswith("data: {") and "function_call" in line:
            line = "data: " + json.dumps(json.loads(line.removeprefix("data: "), object_hook=item))
        lines.append(line)
    return "\n".join(lines)


def item(value):
    """An output item as OpenAI's API has it."""
    if value.get("type") == "function_call" and "/" in value["name"]:
        namespace, name = value["name"].split("/")
        return value | {"name": name, "namespace": namespace}
    if value.get("type") == "function_call" and value["name"] == "tool_search":
        arguments = json.loads(value["arguments"] or "{}")
        value = value | {"type": "tool_search_call", "execution": "client", "arguments": arguments}
        del value["name"]
    return value


def claude_servers(world, url, store):
    """What `docs/proxy.md` says, once over each transport."""
    header = f"x-louver-token: {TOKEN}"
    return [
        ["claude", "mcp", "add", "louver", "--", world.louver, "mcp", "--store", store],
        ["claude", "mcp", "add", "--transport", "http", "louver-http", f"{url}/louver/mcp", "--header", header],
    ]


def codex_servers(world, url, store):
    return [["codex", "mcp", "add", "louver", "--", world.louver, "mcp", "--store", store]]


def codex_http(home, url):
    """`codex mcp add` knows no header but `authorization`."""
    with open(home / ".codex/config.toml", "a") as config:
        config.write(f'\n[mcp_servers.louver-http]\nurl = "{url}/louver/mcp"\n')
        config.write('env_http_headers = { "x-louver-token" = "LOUVER_TOKEN" }\n')


def claude_results(body):
    """The tools that were called, each with what it gave."""
    parts = [part for message in body["messages"] for part in message["content"] if isinstance(part, dict)]
    names = {part["id"]: part["name"] for part in parts if part["type"] == "tool_use"}
    return [(names[part["tool_use_id"]], texts(part["content"])) for part in parts if part["type"] == "tool_result"]


def codex_results(body):
    called = {entry["call_id"]: entry for entry in body["input"] if entry.get("type") == "function_call"}
    for entry in body["input"]:
        if entry.get("type") == "function_call_output":
            call = called[entry["call_id"]]
            yield "/".join(filter(None, (call.get("namespace"), call["name"]))), texts(entry["output"])


def texts(content):
    """What a tool gave. Clients add parts of their own, and Claude Code an empty line before them."""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return [part.rstrip("\n") for part in parts]


def strings(value):
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def raw(body, field):
    """The bytes of a field of a body."""
    text, wanted = body.decode(), json.loads(body)[field]
    for found in re.finditer(rf'"{field}":\s*', text):
        value, end = json.JSONDecoder().raw_decode(text, found.end())
        if value == wanted:
            return text[found.end() : end]
    raise AssertionError(f"there is no {field}")


# Both clients begin without a server that starts slowly and say later that it is there; here they wait for it.
SETUPS = {
    "claude": {
        "window": 50_000,
        "recalls": ["mcp__louver__recall", "mcp__louver-http__recall"],
        "searches": False,
        "servers": claude_servers,
        "history": "messages",
        "role": "user",
        "message": lambda message: message["content"][0]["content"],
        "results": claude_results,
        "more": ["--allowedTools", "Read,mcp__louver__recall,mcp__louver-http__recall"],
        "environment": {"MCP_CONNECTION_NONBLOCKING": "false"},
    },
    "codex": {
        "window": 34_000,
        "recalls": ["mcp__louver/recall", "mcp__louver_http/recall"],
        "searches": True,
        "servers": codex_servers,
        "history": "input",
        "role": "tool",
        "message": lambda message: message["output"],
        "results": lambda body: list(codex_results(body)),
        "more": ["-c", "mcp_servers.louver.required=true", "-c", "mcp_servers.louver-http.required=true"],
        "environment": {},
    },
}


def script(world, client, turns):
    """A model that reads files, then asks for what was left out: over stdio as ledgers write it, over HTTP with the tag."""
    spec, setup = CLIENTS[client], SETUPS[client]
    tool, argument, prefix = spec["tool"](world.folder)
    steps = [[{"name": tool, "arguments": {argument: f"{prefix}f{number}.txt"}}] for number in range(turns)]
    if setup["searches"]:
        steps.append([{"name": "tool_search", "arguments": {"query": "louver recall"}}])
    for name, what in zip(setup["recalls"], (f"[louver:{ADDRESS}]", f"TAG:{ADDRESS}")):
        steps.append([{"name": name, "arguments": {"what": what}}])
    said = [{"text": f"Step {number}.", "calls": calls} for number, calls in enumerate(steps)]
    for turn in said if spec["thinks"] else ():
        turn["thinking"] = "What is next?"
    path = world.work / f"mcp-{client}.json"
    path.write_text(json.dumps({"name": "mcp", "tools": "as_written", "turns": [*said, {"text": DONE}]}))
    return path


def over_stdio(world, store):
    """What the server says of itself, line by line."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) for method, params in SPOKEN]
    command = [world.louver, "mcp", "--store", store]
    asked = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60, check=True)
    return asked.stdout.splitlines()


def over_http(url, headers):
    for method, params in SPOKEN:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        headers = {"content-type": "application/json", **headers}
        yield urllib.request.urlopen(urllib.request.Request(f"{url}/louver/mcp", body, headers)).read().decode()


def told(world, url, store):
    """What the server says of itself, which is the same over both transports."""
    by_pipe, by_http = over_stdio(world, store), list(over_http(url, {"x-louver-token": TOKEN}))
    assert by_pipe == by_http, (by_pipe, by_http)
    return by_pipe


def tokens(url, instructions, tools):
    """What a prompt grows by, as the sandbox counts it for Claude."""

    def counted(said, **fields):
        body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": said}], **fields}
        headers = {"content-type": "application/json", "x-api-key": "sk-fake", "anthropic-version": "2023-06-01"}
        request = urllib.request.Request(f"{url}/v1/messages/count_tokens", json.dumps(body).encode(), headers)
        return json.load(urllib.request.urlopen(request))["input_tokens"]

    declared = [{"name": t["name"], "description": t["description"], "input_schema": t["inputSchema"]} for t in tools]
    return counted(f"Hello. {instructions}", tools=declared) - counted("Hello. ")


def recalls(world, client, turns):
    """A client's model asks for a message that was left out, and has it back in its tool's result."""
    setup, started = SETUPS[client], time.monotonic()
    state, window = world.state(f"mcp-{client}"), f"--context-window={setup['window']}"
    store = str(state / "store.db")
    sandbox = Server([world.louver, "sandbox", f"--scenario={script(world, client, turns)}", window], state / "sandbox.log")
    provider = Provider(sandbox)
    ends = [f"--upstream={name}={provider.url}" for name in ("anthropic", "openai")]
    kept = [f"--store={store}", "--archive=full", "--token-env=LOUVER_TOKEN", window]
    proxy = Server([world.louver, "proxy", "--listen=127.0.0.1:0", *kept, *ends], state / "proxy.log")
    try:
        urllib.request.urlopen(f"{proxy.url}/louver/mcp", b"{}")
        raise AssertionError("nobody asked for a token")
    except urllib.error.HTTPError as error:
        assert error.code == 401, error
    before = told(world, proxy.url, store)

    environment = {"USER": USER, "LOUVER_TOKEN": TOKEN} | setup["environment"]
    for command in setup["servers"](world, proxy.url, store):
        added = world.command(command, state, environment, 60)
        assert added.returncode == 0, f"{command}\n{added.stdout}\n{added.stderr}"
    if client == "codex":
        codex_http(state / "home", proxy.url)
    answer = world.ask(
        client, proxy.url, CLIENTS[client]["model"], state, turns, more=setup["more"], environment=environment
    )
    after = told(world, proxy.url, store)
    journal = json.load(urllib.request.urlopen(f"{sandbox.url}/_sandbox/journal"))
    instructions, tools = json.loads(before[0])["result"]["instructions"], json.loads(before[1])["result"]["tools"]
    size = tokens(sandbox.url, instructions, tools)
    proxy.stop()
    sandbox.stop()

    outcomes = re.findall(r'"outcome":"(\w+)"', (state / "proxy.log").read_text())
    seen = f"{client}: {len(journal)} requests in {time.monotonic() - started:.0f} s, {outcomes.count('cut')} of them cut"
    assert answer.returncode == 0 and DONE in answer.stdout, f"{seen}\n{answer.stdout[-2000:]}\n{answer.stderr[-4000:]}"
    bad = [entry for entry in journal if entry["violations"] or entry["status"] != 200]
    assert not bad and not {"refused", "rescued"} & set(outcomes), f"{seen}\n{bad[:1]}\n{outcomes}"
    assert len(journal) == len(provider.bodies), seen

    # The message as it went out before anything was cut, and that it left.
    cut = next(number for number, body in enumerate(provider.bodies) if b"[Conversation Ledger]" in body)
    bodies = [json.loads(body) for body in provider.bodies]
    left_out = setup["message"](bodies[cut - 1][setup["history"]][ADDRESS])
    assert len(left_out) > 1_000, left_out
    without = [body for body in bodies[cut:] if not any(left_out in text for text in strings(body))]
    assert bodies[-3] in without, f"{seen}: message {ADDRESS} was not left out"
    if client == "claude":
        # Codex shows its model no tools of servers before it has searched for them.
        assert all(b"the tool mcp__louver__recall: " in body for body in provider.bodies[cut:]), "the ledger names no tool"
    # What the model was given when it asked.
    results = setup["results"](bodies[-1])[-2:]
    assert [name for name, _ in results] == setup["recalls"], results
    for name, given in results:
        assert f"[louver:{ADDRESS}]\n{setup['role']}:\n{left_out}" in given, f"{name} gave {given}"
    print(f"{seen}; recall gave message {ADDRESS} back, {len(left_out)} characters, over stdio and over HTTP")

    # Neither the server nor the client says anything else after a cut than before.
    assert before == after, (before, after)
    assert len({raw(body, "tools") for body in provider.bodies}) == 1, f"{client}: the tools changed"
    holding = {max((text for text in strings(body) if instructions in text), key=len) for body in bodies}
    assert len(holding) == 1, holding
    listed = len(json.dumps(tools, separators=(",", ":")))
    print(f"{client}: instructions of {len(instructions)} characters, tools of {listed}, together {size} tokens", flush=True)
    assert len(instructions) <= MOST_INSTRUCTIONS and listed <= MOST_TOOLS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--only", choices=SETUPS)
    arguments = parser.parse_args()
    os.environ |= {"USER": USER, "LOUVER_TOKEN": TOKEN}
    world = World(arguments)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        clients = [arguments.only] if arguments.only else list(SETUPS)
        for run in [pool.submit(recalls, world, client, arguments.turns) for client in clients]:
            run.result()


if __name__ == "__main__":
    sys.exit(main())
