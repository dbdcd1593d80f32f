"""What the real clients record of their bills, against the books of `louver sandbox` and what `louver replay` makes of it.

Claude Code: three models in one session, a sub-agent, a rewound branch, a resumed copy, a compaction, writes that live five
minutes and an hour. Codex and Gemini CLI: one session each. Run by bills.sh.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

from clients import ASK, CLIENTS, DONE, SUMMARY, Server, World

TOLERANCE = 0.1


def journal(server):
    entries = json.load(urllib.request.urlopen(f"{server.url}/_sandbox/journal"))
    return [entry for entry in entries if entry["status"] == 200]


def replay(world, state):
    """The report on everything that the clients recorded in a home."""
    path = state / "report.json"
    environment = os.environ | {"HOME": str(state / "home")}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        environment.pop(name, None)
    words = ["replay", "--policy", "everything,ladder", "--json", str(path)]
    answer = subprocess.run([world.louver, *words], env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return json.loads(path.read_text())


def written(state):
    """What the clients wrote down in a home, line by line."""
    for path in (state / "home").rglob("*.jsonl"):
        yield from map(json.loads, path.read_text().splitlines())


def recorded_requests(state):
    """The tokens of the requests that were written down with a bill, each once: all of the prompt, read, written."""
    found = {}
    for line in written(state):
        message, event = line.get("message") or {}, line.get("payload") or {}
        if line.get("type") == "assistant" and "usage" in message and message.get("model") != "<synthetic>":
            usage = message["usage"]
            read, write = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
            found[message["id"], line.get("requestId")] = (usage["input_tokens"] + read + write, read, write)
        elif event.get("type") == "token_count" and event.get("info"):
            usage = event["info"]["last_token_usage"]
            write = usage.get("cache_write_input_tokens", 0)
            found[event["info"]["total_token_usage"]["total_tokens"]] = (usage["input_tokens"], usage["cached_input_tokens"], write)
        elif line.get("type") == "gemini" and "tokens" in line:
            found[line["id"]] = (line["tokens"]["input"], line["tokens"]["cached"], 0)
    return list(found.values())


def billed(entry):
    return entry["input_tokens"], entry["cache_read_tokens"], entry["cache_write_tokens"]


def check(world, name, state, books):
    """What was recorded stands in the books, token for token; every request with a recorded bill is in the report, once;
    and replay makes the same of it. What Claude Code asks beside the conversation (titles, summaries) is billed and written
    down nowhere."""
    report, found = replay(world, state), recorded_requests(state)
    rows = [row for row in report["runs"] if row["policy"] == "everything"]
    requests = sum(row["requests"] for row in rows)
    recorded = sum(row["recorded_usd"] for row in rows)
    simulated = sum(row["recorded_usd"] * row["simulated_over_recorded"] for row in rows)
    quotient = simulated / recorded
    print(f"{name}: {requests} of {len(books)} billed requests in {len(rows)} conversations, ${recorded:.4f} recorded, "
          f"simulated over recorded {quotient:.3f}", flush=True)
    for row in rows:
        file = row["file"].rsplit("/", 1)[-1]
        print(f"  {file}: {row['requests']} requests, {row['simulated_over_recorded']:.3f}, overhead {row['overhead_tokens']}, "
              f"counter × {row['counter_factor']:.2f}, cache life {row['cache_life_seconds']}", flush=True)
    strange = collections.Counter(found) - collections.Counter(map(billed, books))
    assert not strange, f"recorded, but not in the books: {strange}"
    assert requests == len(found) <= len(books), f"{requests} of {len(found)}: requests are lost or counted twice"
    assert abs(quotient - 1) <= TOLERANCE, quotient
    return rows


class Session:
    """A session of Claude Code, asked several times."""

    def __init__(self, world, name, script, environment=None):
        self.world, self.state = world, world.state(name)
        path = world.work / f"{name}-script.json"
        path.write_text(json.dumps({"name": name, "turns": script}))
        self.server = Server([world.louver, "sandbox", "--scenario", str(path)], self.state / "sandbox.log")
        self.environment = environment or {}

    def ask(self, asked, model, *more):
        spec = CLIENTS["claude"]
        command = ["claude", "-p", asked, "--model", model, "--allowedTools", "Read,Task,Agent", *more]
        environment = {
            "HOME": str(self.state / "home"),
            "PATH": f"{self.world.work / 'clients/node_modules/.bin'}:{os.environ['PATH']}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "TERM": "dumb",
        } | spec["environment"](self.server.url) | self.environment
        answer = subprocess.run(command, cwd=self.world.folder, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=180)
        assert answer.returncode == 0, f"{command}\n{answer.stdout[-2000:]}\n{answer.stderr[-2000:]}"
        return answer

    def end(self):
        books = journal(self.server)
        self.server.stop()
        return books

    def files(self):
        return sorted((self.state / "home/.claude/projects").rglob("*.jsonl"))


def step(said, tool, arguments):
    """An answer with one call, thought about first, as models that think have to."""
    return {"thinking": f"{said} is next.", "text": said, "calls": [{"name": tool, "arguments": arguments}]}


def reads(world, numbers):
    return [step(f"Step {number}.", "Read", {"file_path": f"{world.folder}/f{number}.txt"}) for number in numbers]


def three_models(world, name, environment, lives):
    """Three models in one session, and a compaction."""
    session = Session(world, name, [*reads(world, range(6)), {"text": DONE}, {"text": SUMMARY}], environment)
    session.ask(ASK, "claude-sonnet-4-5")
    session.ask(ASK, "claude-opus-4-5", "--continue")
    session.ask(ASK, "claude-haiku-4-5", "--continue")
    session.ask("/compact", "claude-haiku-4-5", "--continue")
    session.ask(ASK, "claude-haiku-4-5", "--continue")
    rows = check(world, name, session.state, session.end())
    assert len(rows) >= 2, "a compaction starts a conversation"
    assert set(rows[0]["cache_life_seconds"]) == lives, rows[0]["cache_life_seconds"]


def sub_agent(world):
    """A sub-agent's requests are billed as the session's own are."""
    work = {"description": "read", "prompt": "Read the files.", "subagent_type": "Explore"}
    script = [*reads(world, range(3)), step("I send somebody.", "Agent", work), *reads(world, range(3, 6)), {"text": DONE}]
    session = Session(world, "sub-agent", script)
    session.ask(ASK, "claude-sonnet-4-5")
    rows = check(world, "sub-agent", session.state, session.end())
    assert len(rows) >= 2, "the sub-agent is a conversation"


def branch(world):
    """What was rewound was paid for, and what both branches have in common once; a resumed copy repeats nothing."""
    session = Session(world, "branch", [*reads(world, range(5)), {"text": DONE}])
    session.ask(ASK, "claude-sonnet-4-5")
    session.ask("Once more.", "claude-sonnet-4-5", "--continue")
    lines = [json.loads(line) for line in session.files()[0].read_text().splitlines()]
    answers = [line for line in lines if line.get("type") == "assistant"]
    name, middle = answers[0]["sessionId"], answers[len(answers) // 3]["uuid"]
    session.ask("Something else.", "claude-sonnet-4-5", "--resume", name, "--resume-session-at", middle)
    session.ask("And again.", "claude-sonnet-4-5", "--resume", name, "--fork-session")
    check(world, "branch", session.state, session.end())


def other_client(world, client):
    turns = 16
    state = world.state(client)
    server = world.sandbox(client, turns, state, [])
    answer = world.ask(client, server.url, CLIENTS[client]["model"], state, turns)
    assert answer.returncode == 0 and DONE in answer.stdout, answer.stderr[-2000:]
    books = [entry for entry in journal(server) if CLIENTS[client]["main"](entry["path"])]
    server.stop()
    check(world, client, state, books)
    assert len(recorded_requests(state)) == len(books), "it writes down all that it asks"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    arguments.turns = 20
    world = World(arguments)
    runs = {
        "five-minutes": lambda: three_models(world, "five-minutes", None, {300}),
        "one-hour": lambda: three_models(world, "one-hour", {"ENABLE_PROMPT_CACHING_1H": "1"}, {3600}),
        "sub-agent": lambda: sub_agent(world),
        "branch": lambda: branch(world),
        "codex": lambda: other_client(world, "codex"),
        "gemini": lambda: other_client(world, "gemini"),
    }
    for name, run in runs.items():
        if arguments.only in (None, name):
            run()


if __name__ == "__main__":
    sys.exit(main())
