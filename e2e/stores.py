"""The two stores side by side: what a request costs on each, and how long a model waits for what was left out.

stores.py --louver BINARY [--requests 400] [--messages 100000]: one proxy on a file, one on a PostgreSQL of its own, asked by
turns; then conversations of 200 messages are archived on both, and single messages and words are recalled over MCP. Needs
Debian's postgresql.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import chaos
import kills

TOKEN = "a token of this run"


class Proxy:
    def __init__(self, louver, store, upstream, archive):
        command = [louver, "proxy", f"--store={store}", f"--upstream=anthropic={upstream}", "--listen=127.0.0.1:0", f"--archive={archive}", "--token-env=LOUVER_TOKEN"]
        environment = os.environ | {"LOUVER_TOKEN": TOKEN}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.connection = http.client.HTTPConnection("127.0.0.1", int(self.process.stdout.readline().strip().rsplit(":", 1)[1]), timeout=300)

    def post(self, path, body, headers):
        start = time.perf_counter()
        self.connection.request("POST", path, body, {"content-type": "application/json", **headers})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        return time.perf_counter() - start, text

    def ask(self, messages):
        body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages}).encode()
        return self.post("/v1/messages", body, {"x-api-key": "k", "x-turn": "0"})[0]

    def call(self, what):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"what": what}}}
        seconds, text = self.post("/louver/mcp", json.dumps(message), {"x-louver-token": TOKEN})
        result = json.loads(text)["result"]
        assert not result["isError"], result
        return seconds, result["content"][0]["text"]

    def stop(self):
        self.process.terminate()
        self.process.wait(300)


def told(name, seconds):
    ordered = sorted(seconds)
    print(f"{name}: median {statistics.median(ordered) * 1e3:.2f} ms, 99 % {ordered[len(ordered) * 99 // 100] * 1e3:.2f} ms", flush=True)


def words(source):
    return f"file{source.randrange(500)}.rs word{source.randrange(9)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--messages", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="louver-stores") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "postgres").mkdir()
        postgres = chaos.Postgres(folder / "postgres")
        upstream = kills.Upstream()
        proxies = {"a file": Proxy(arguments.louver, folder / "store.db", upstream.url, "full"), "PostgreSQL": Proxy(arguments.louver, postgres.url, upstream.url, "full")}
        taken = {store: [] for store in proxies}
        for conversation in range(max(1, arguments.requests // 50)):
            messages = kills.history(conversation, 49)
            for turn in range(50):
                for store, proxy in proxies.items():
                    taken[store].append(proxy.ask(messages[: 2 * turn + 1]))
        for store, seconds in taken.items():
            told(f"a request with {store}", seconds[len(seconds) // 10 :])
        source = random.Random(1)
        for number in range(arguments.messages // 200):
            texts = [f"{number} item{source.randrange(10**6)} file{source.randrange(500)}.rs " + " ".join(f"word{int(source.paretovariate(0.6)) % 20000}" for _ in range(30)) for _ in range(200)]
            messages = [{"role": "user" if place % 2 == 0 else "assistant", "content": text} for place, text in enumerate(texts)][:199]
            for proxy in proxies.values():
                proxy.ask(messages)
        sent = arguments.messages // 200 * 199
        # What is archived is written behind.
        while int(postgres.rows("SELECT count(*) FROM louver.messages")[0]) < sent:
            time.sleep(1)
        print(f"{sent} messages are archived, load {os.getloadavg()[0]:.1f}", flush=True)
        for store, proxy in proxies.items():
            # It may have been closed in the meantime; this way it is opened again.
            proxy.connection.close()
            told(f"a message from {store}", [proxy.call(f"[louver:{source.randrange(100)}]")[0] for _ in range(50)])
            everywhere = [proxy.call(f"item{source.randrange(10**6)} {words(source)}") for _ in range(50)]
            # The first line of what is found names a conversation: [TAG:INDEX].
            tags = [text.split(":", 1)[0].removeprefix("[") for _, text in everywhere]
            told(f"words of one conversation from {store}", [proxy.call(f"{tag}:word0 word1 {words(source)}")[0] for tag in tags])
            print(f"the first words from {store}: {everywhere[0][0] * 1e3:.2f} ms")
            told(f"words from {store}", [seconds for seconds, _ in everywhere])
            proxy.stop()
        postgres.stop()
        upstream.shutdown()


if __name__ == "__main__":
    main()
