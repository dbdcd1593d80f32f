"""Real clients behind `louver proxy`, with `louver sandbox` for a provider. Run by clients.sh."""

import argparse
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
        for number in range(max(self.turns, 20)):
            lines = (f"{number}.{line} {words(number * 1000 + line, 9)}" for line in range(60))
            (self.folder / f"f{number}.txt").write_text("\n".join(lines))

    def scenario(self, name, tool, argument, prefix, turns, thinks):
        script = []
        for number in range(turns):
            call = {"name": tool, "arguments": {argument: f"{prefix}f{number}.txt"}}
            turn = {"text": f"Step {number}.", "calls": [call]}
            if thinks:
                turn["thinking"] = f"The next file is number {number}."
            script.append(turn)
        script.append({"text": DONE})
        path = self.work / f"{name}-{turns}.json"
        path.write_text(json.dumps({"name": name, "turns": script}))
        return path

    def run(self, client, turns, sandbox=(), proxy=(), tapped=False, model=None):
        """A whole run of a client; what the sandbox judged and what the proxy says it did."""
        spec = CLIENTS[client]
        scenario = self.scenario(client, *spec["tool"](self.folder), turns, spec["thinks"])
        state = self.work / f"state-{client}"
        shutil.rmtree(state, ignore_errors=True)
        home = state / "home"
        (home / ".gemini").mkdir(parents=True)
        (home / ".codex").mkdir()
        (home / ".gemini/settings.json").write_text('{"security":{"auth":{"selectedType":"gemini-api-key"}}}')
        upstream = Server([self.louver, "sandbox", "--scenario", str(scenario), *sandbox], state / "sandbox.log")
        behind = Tap(upstream.url) if tapped else upstream
        ends = [f"--upstream={name}={behind.url}" for name in ("anthropic", "openai", "gemini")]
        store = ["--listen=127.0.0.1:0", f"--store={state / 'store.db'}"]
        server = Server([self.louver, "proxy", *store, *ends, *proxy], state / "proxy.log")
        before = Tap(server.url) if tapped else server
        environment = {
            "HOME": str(home),
            "PATH": f"{self.work / 'clients/node_modules/.bin'}:{os.environ['PATH']}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "TERM": "dumb",
        } | spec["environment"](before.url)
        command = spec["command"](before.url, model or spec["model"])
        started = time.monotonic()
        answer = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60 + 3 * turns,
        )
        journal = json.load(urllib.request.urlopen(f"{upstream.url}/_sandbox/journal"))
        server.stop()
        upstream.stop()
        outcomes = collections.Counter()
        refused = []
        for line in (state / "proxy.log").read_text().splitlines():
            fields = json.loads(line).get("fields", {}) if line.startswith("{") else {}
            if fields.get("message") == "model request":
                outcomes[fields["outcome"]] += 1
                if fields["outcome"] == "refused":
                    refused.append(fields)
        # Gemini CLI asks another model whether it loops, with a history that begins in the middle.
        main = [entry for entry in journal if spec["main"](entry["path"])]
        bad = [entry for entry in main if entry["violations"]]
        said = f"{client}: {len(main)} requests in {time.monotonic() - started:.0f} s, {dict(outcomes)}"
        print(said, flush=True)
        assert answer.returncode == 0, f"{said}\n{answer.stdout[-2000:]}\n{answer.stderr[-4000:]}"
        assert DONE in answer.stdout, f"{said}\n{answer.stdout[-2000:]}"
        assert not bad, f"{said}\nrefused: {bad[0]}"
        assert not refused, f"{said}\nthe client saw: {refused[0]}"
        return main, outcomes, before, behind


def claude_command(url, model):
    return ["claude", "-p", ASK, "--model", model, "--allowedTools", "Read"]


def codex_command(url, model):
    provider = f'model_providers.louver={{name="Louver",base_url="{url}/v1",env_key="OPENAI_API_KEY"}}'
    settings = ["-c", 'model_provider="louver"', "-c", provider]
    return ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", *settings, "-m", model, ASK]


def gemini_command(url, model):
    return ["gemini", "-p", ASK, "-m", model, "--skip-trust", "--yolo"]


CLIENTS = {
    "claude": {
        "tool": lambda folder: ("Read", "file_path", f"{folder}/"),
        "thinks": True,
        "model": "claude-sonnet-4-5",
        "command": claude_command,
        "environment": lambda url: {"ANTHROPIC_API_KEY": "sk-fake", "ANTHROPIC_BASE_URL": url},
        "main": lambda path: True,
    },
    "codex": {
        "tool": lambda folder: ("exec_command", "cmd", "cat "),
        "thinks": False,
        "model": "gpt-5.5",
        "command": codex_command,
        "environment": lambda url: {"OPENAI_API_KEY": "sk-fake"},
        "main": lambda path: True,
    },
    "gemini": {
        "tool": lambda folder: ("read_file", "file_path", f"{folder}/"),
        "thinks": False,
        "model": "gemini-2.5-pro",
        "command": gemini_command,
        "environment": lambda url: {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": url},
        "main": lambda path: "gemini-2.5-pro" in path,
    },
}


def short(world, client):
    """A short run passes byte for byte, both ways."""
    _, outcomes, before, behind = world.run(client, 3, tapped=True)
    assert set(outcomes) == {"passed"}, outcomes
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
    for number in range(turns):
        path = world.folder / f"f{number}.txt"
        if not path.exists():
            path.write_text(words(number, 500))
    journal, outcomes, *_ = world.run(client, turns, ["--context-window=48000"])
    refused = [entry for entry in journal if entry["status"] != 200]
    assert len(refused) <= 1, [entry["status"] for entry in refused]
    assert outcomes["refused"] == 0, outcomes


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
    if arguments.only in (None, "claude"):
        far_past_the_window(world, "claude", model="claude-sonnet-5-5")
    if arguments.only in (None, "sdk"):
        sdks(world)


if __name__ == "__main__":
    sys.exit(main())
