"""Real clients behind `louver proxy`, with `louver sandbox` for a provider. Run by clients.sh."""

import argparse
import atexit
import collections
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

ASK = "Read all files, one after the other."
DONE = "All files read. Done."
SUMMARY = "<analysis>All went well.</analysis>\n<summary>All files were read, one after the other.</summary>"


def words(seed, count):
    """Text that looks like something and never repeats."""
    source = random.Random(seed)
    stems = "cache window ledger turn budget price model prompt token cut view record chain proxy store".split()
    return " ".join(f"{source.choice(stems)}{source.randrange(10_000)}" for _ in range(count))


class Server:
    """A `louver` command that prints its address first."""

    def __init__(self, arguments, log):
        self.log = open(log, "w")
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=self.log, text=True)
        # A check that fails leaves nothing running.
        atexit.register(self.process.kill)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://"), f"{arguments} does not start: {pathlib.Path(log).read_text()}"

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Tap:
    """Passes bytes on and keeps them, each connection apart."""

    def __init__(self, target):
        host, port = target.removeprefix("http://").split(":")
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.up, self.down = [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(self.target)
            up, down = bytearray(), bytearray()
            self.up.append(up)
            self.down.append(down)
            threading.Thread(target=self.pump, args=(client, server, up), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, down), daemon=True).start()

    @staticmethod
    def pump(source, sink, kept):
        try:
            while data := source.recv(1 << 16):
                kept.extend(data)
                sink.sendall(data)
        except OSError:
            pass
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def bodies(self, streams):
        """The bodies of all HTTP messages, in no particular order, chunks put together."""
        return collections.Counter(body for stream in streams for body in messages(bytes(stream)) if body)


def messages(stream):
    """The bodies of the HTTP/1.1 messages in a stream of bytes."""
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        fields = {}
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            fields[name.lower()] = value.strip()
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            body = bytearray()
            while rest:
                size, _, rest = rest.partition(b"\r\n")
                length = int(size.split(b";")[0] or b"0", 16)
                if length == 0:
                    rest = rest[2:]
                    break
                body += rest[:length]
                rest = rest[length + 2 :]
            yield bytes(body)
        else:
            length = int(fields.get(b"content-length", 0))
            yield rest[:length]
            rest = rest[length:]
        stream = rest


class World:
    def __init__(self, arguments):
        self.louver = arguments.louver
        self.work = pathlib.Path(arguments.work)
        self.turns = arguments.turns
        self.folder = self.work / "files"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.write_files(max(self.turns, 20), 60)

    def scenario(self, name, tool, argument, prefix, turns, thinks):
        script = []
        for number in range(turns):
            call = {"name": tool, "arguments": {argument: f"{prefix}f{number}.txt"}}
            turn = {"text": f"Step {number}.", "calls": [call]}
            if thinks:
                turn["thinking"] = f"The next file is number {number}."
            script.append(turn)
        # What is asked for behind the end is a summary.
        script += [{"text": DONE}, {"text": SUMMARY}]
        path = self.work / f"{name}-{turns}.json"
        path.write_text(json.dumps({"name": name, "turns": script}))
        return path

    def write_files(self, count, lines):
        """Files that have not been written yet."""
        for number in range(count):
            path = self.folder / f"f{number}.txt"
            if not path.exists():
                path.write_text("\n".join(f"{number}.{line} {words(number * 1000 + line, 9)}" for line in range(lines)))

    def state(self, name):
        """A place for one run, with a home in which the clients find their settings."""
        state = self.work / f"state-{name}"
        shutil.rmtree(state, ignore_errors=True)
        home = state / "home"
        (home / ".gemini").mkdir(parents=True)
        (home / ".codex").mkdir()
        (home / ".gemini/settings.json").write_text('{"security":{"auth":{"selectedType":"gemini-api-key"}}}')
        return state

    def ask(self, client, url, model, state, turns, asked=ASK, more=(), environment=None):
        """Runs a client once, to its end."""
        spec = CLIENTS[client]
        environment = spec["environment"](url) | (environment or {})
        return self.command([*spec["command"](url, model, asked), *more], state, environment, 60 + 3 * turns)

    def command(self, command, state, environment, timeout):
        """Runs a command of a client where it finds its settings."""
        environment = {
            "HOME": str(state / "home"),
            "PATH": f"{self.work / 'clients/node_modules/.bin'}:{os.environ['PATH']}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "TERM": "dumb",
        } | environment
        return subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def sandbox(self, client, turns, state, arguments):
        spec = CLIENTS[client]
        scenario = self.scenario(client, *spec["tool"](self.folder), turns, spec["thinks"])
        return Server([self.louver, "sandbox", "--scenario", str(scenario), *arguments], state / "sandbox.log")

    def run(self, client, turns, sandbox=(), proxy=(), tapped=False, model=None, then=()):
        """A whole run of a client; what the sandbox judged and what the proxy says it did. `then` has what is asked
        afterwards, in the same session, each with a text that the answer has."""
        spec = CLIENTS[client]
        model = model or spec["model"]
        state = self.state(client)
        upstream = self.sandbox(client, turns, state, sandbox)
        behind = Tap(upstream.url) if tapped else upstream
        ends = [f"--upstream={name}={behind.url}" for name in ("anthropic", "openai", "gemini")]
        store = ["--listen=127.0.0.1:0", f"--store={state / 'store.db'}"]
        server = Server([self.louver, "proxy", *store, *ends, *proxy], state / "proxy.log")
        before = Tap(server.url) if tapped else server
        started = time.monotonic()
        answers = [(self.ask(client, before.url, model, state, turns), DONE)]
        for asked, expected in then:
            answers.append((self.ask(client, before.url, model, state, turns, asked, ["--continue"]), expected))
        journal = json.load(urllib.request.urlopen(f"{upstream.url}/_sandbox/journal"))
        server.stop()
        upstream.stop()
        outcomes, refused = collections.Counter(), []
        for line in (state / "proxy.log").read_text().splitlines():
            fields = json.loads(line).get("fields", {}) if line.startswith("{") else {}
            if fields.get("message") == "model request":
                outcomes[fields["outcome"]] += 1
                outcomes["summaries"] += fields["purpose"] == "Summarise"
                if fields["outcome"] == "refused":
                    refused.append(fields)
        # Gemini CLI asks another model whether it loops, with a history that begins in the middle.
        main = [entry for entry in journal if spec["main"](entry["path"])]
        bad = [entry for entry in main if entry["violations"]]
        said = f"{client}: {len(main)} requests in {time.monotonic() - started:.0f} s, {dict(+outcomes)}"
        print(said, flush=True)
        for answer, expected in answers:
            assert answer.returncode == 0, f"{said}\n{answer.stdout[-2000:]}\n{answer.stderr[-4000:]}"
            assert expected in answer.stdout, f"{said}\n{answer.stdout[-2000:]}"
        assert not bad, f"{said}\nrefused: {bad[0]}"
        assert not refused, f"{said}\nthe client saw: {refused[0]}"
        return main, outcomes, before, behind


def claude_command(url, model, ask):
    return ["claude", "-p", ask, "--model", model, "--allowedTools", "Read"]


def codex_command(url, model, ask):
    provider = f'model_providers.louver={{name="Louver",base_url="{url}/v1",env_key="OPENAI_API_KEY"}}'
    settings = ["-c", 'model_provider="louver"', "-c", provider]
    return ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", *settings, "-m", model, ask]


def gemini_command(url, model, ask):
    return ["gemini", "-p", ask, "-m", model, "--skip-trust", "--yolo"]


def client(command, model, tool, environment, thinks=False, main=lambda path: True):
    """How a client is run; `main` says which paths are its own requests and not those of its helpers."""
    return {"command": command, "model": model, "tool": tool, "environment": environment, "thinks": thinks, "main": main}


CLIENTS = {
    "claude": client(
        claude_command,
        "claude-sonnet-4-5",
        lambda folder: ("Read", "file_path", f"{folder}/"),
        lambda url: {"ANTHROPIC_API_KEY": "sk-fake", "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"},
        thinks=True,
    ),
    "codex": client(
        codex_command,
        "gpt-5.5",
        lambda folder: ("exec_command", "cmd", "cat "),
        lambda url: {"OPENAI_API_KEY": "sk-fake"},
    ),
    "gemini": client(
        gemini_command,
        "gemini-2.5-pro",
        lambda folder: ("read_file", "file_path", f"{folder}/"),
        lambda url: {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": url},
        main=lambda path: "gemini-2.5-pro" in path,
    ),
}


def short(world, client):
    """A short run passes byte for byte, both ways."""
    _, outcomes, before, behind = world.run(client, 3, tapped=True)
    assert set(+outcomes) == {"passed"}, outcomes
    sent, received = before.bodies(before.up), behind.bodies(behind.up)
    assert sent == received, f"{client}: {sum((sent - received).values())} request bodies are other ones upstream"
    answers, shown = behind.bodies(behind.down), before.bodies(before.down)
    assert answers == shown, f"{client}: {sum((answers - shown).values())} answers are other ones at the client"


def far_past_the_window(world, client, model=None):
    """Far past a small window nothing is refused, neither by the upstream nor at the client."""
    window = "--context-window=60000"
    journal, outcomes, *_ = world.run(client, world.turns, [window], [window], model=model)
    refused = [entry for entry in journal if entry["status"] != 200]
    assert not refused, refused[0]
    if world.turns >= 100:
        assert outcomes["cut"] > 3, outcomes


def overflow(world, client):
    """A window that nobody knew of is learned from one refusal that the client never sees."""
    turns = max(world.turns, 40)
    world.write_files(turns, 40)
    journal, outcomes, *_ = world.run(client, turns, ["--context-window=48000"])
    refused = [entry for entry in journal if entry["status"] != 200]
    assert len(refused) <= 1, [entry["status"] for entry in refused]
    assert outcomes["refused"] == 0, outcomes


def overflow_in_stream(world, client):
    """The same where the refusal is an event of a stream that has begun. Without the proxy Codex ends there."""
    turns = max(world.turns, 40)
    world.write_files(turns, 40)
    sandbox = ["--context-window=48000", "--overflow-in-stream"]
    # Leading events are held above half of what the model is said to take; nothing is cut before that by itself.
    journal, outcomes, *_ = world.run(client, turns, sandbox, ["--context-window=90000", "--mode=rescue"])
    refused = [entry for entry in journal if entry["status"] != 200]
    assert len(refused) == 1 and outcomes["rescued"] >= 1, (refused, outcomes)
    if client == "codex":
        state = world.state(client)
        upstream = world.sandbox(client, turns, state, sandbox)
        answer = world.ask(client, upstream.url, CLIENTS[client]["model"], state, turns)
        upstream.stop()
        assert DONE not in answer.stdout, "Codex does without the proxy"


def compact(world, model):
    """After `/compact` Claude Code goes on, in the same session."""
    # The model's own window, once there are enough turns to fill it.
    window = ["--context-window=60000"] if world.turns < 150 else []
    then = [("/compact", ""), (ASK, DONE)]
    journal, outcomes, *_ = world.run("claude", world.turns, window, window, model=model, then=then)
    refused = [entry for entry in journal if entry["status"] != 200]
    assert not refused, refused[0]
    assert outcomes["summaries"] == 1, outcomes
    assert outcomes["cut"] > 0, outcomes


def sdks(world):
    """The official SDKs talk to the proxy as they talk to the sandbox."""
    root = pathlib.Path(__file__).parent
    state = world.work / "state-sdk"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    upstream = Server([world.louver, "sandbox", f"--scenario={root / 'scenario.json'}", "--context-window=20000"], state / "sandbox.log")
    ends = [f"--upstream={name}={upstream.url}" for name in ("anthropic", "openai", "gemini")]
    proxy = Server([world.louver, "proxy", "--listen=127.0.0.1:0", f"--store={state / 'store.db'}", "--mode=off", *ends], state / "proxy.log")
    environment = os.environ | {"LOUVER_SANDBOX": proxy.url, "LOUVER_JOURNAL": upstream.url}
    for command in ([world.work / "venv/bin/python", root / "sdk.py"], ["node", world.work / "node/sdk.mjs"]):
        subprocess.run(command, env=environment, check=True, timeout=120)
    proxy.stop()
    upstream.stop()
    print("the SDKs: ok", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    world = World(arguments)
    for client in CLIENTS:
        if arguments.only and arguments.only != client:
            continue
        short(world, client)
        far_past_the_window(world, client)
        overflow(world, client)
        if client != "gemini":
            overflow_in_stream(world, client)
    if arguments.only in (None, "claude"):
        far_past_the_window(world, "claude", model="claude-sonnet-5-5")
        compact(world, "claude-sonnet-4-5")
        compact(world, "claude-sonnet-5-5")
    if arguments.only in (None, "sdk"):
        sdks(world)


if __name__ == "__main__":
    sys.exit(main())
