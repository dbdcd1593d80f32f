"""The proxy is killed again and again, and nobody can tell from what reaches the provider.

kills.py --louver BINARY [--conversations 4] [--turns 60] [--kills 8]: every conversation is led twice through `louver proxy`,
once undisturbed, once with SIGKILLs at any moment and a new process on the same store. Each request has to reach the
provider with the same bytes, however often it is asked again.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import http.client
import http.server
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time

ANSWER = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn"}
ANSWER |= {"content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 10, "output_tokens": 2}}
ANSWER = json.dumps(ANSWER).encode()


class Upstream(http.server.ThreadingHTTPServer):
    """Remembers what it was asked, by the turn that the client names."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = collections.defaultdict(set)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A proxy that is killed resets its connections; that is no news."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is written in two pieces: the second would wait for 40 ms until somebody has heard the first.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        digest = (len(json.loads(body)["messages"]), hashlib.sha256(body).hexdigest())
        self.server.seen[self.headers["x-turn"]].add(digest)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *arguments):
        pass


def history(conversation, turns):
    source = random.Random(conversation)
    messages = [{"role": "user", "content": f"Task {conversation}: read everything about item{source.randrange(10**6)}."}]
    for turn in range(turns):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "read", "input": {"path": f"src/file{source.randrange(500)}.rs"}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Step {turn}."}, call]})
        lines = "\n".join(f"line{source.randrange(10**7)} = value{source.randrange(10**7)}" for _ in range(source.randrange(20, 160)))
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": lines}]})
    return messages


class Proxy:
    def __init__(self, louver, store, upstream):
        self.command = [louver, "proxy", f"--store={store}", f"--upstream=anthropic={upstream}", "--context-window=30000"]
        self.port, self.lock, self.kills, self.answered = None, threading.Lock(), 0, 0
        self.start()

    def start(self):
        # A new process may find the port still taken; it gets another one, as it would elsewhere.
        self.process = subprocess.Popen([*self.command, "--listen=127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline().strip()
        assert line.startswith("http://"), "the proxy does not start"
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        with self.lock:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.start()
            self.kills += 1

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def ask(self, body, turn):
        """Asks until there is an answer, as clients do: a new process may take a while on a busy machine."""
        give_up = time.monotonic() + 180
        while time.monotonic() < give_up:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                headers = {"content-type": "application/json", "x-api-key": "k", "x-turn": turn}
                connection.request("POST", "/v1/messages", body, headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.answered += 1
                    return answer.getheader("x-louver-outcome")
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)
        raise SystemExit(f"no answer to {turn}")


def lead(proxy, conversation, turns, outcomes):
    messages = history(conversation, turns)
    for turn in range(turns + 1):
        request = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages[: 2 * turn + 1]}
        outcomes[proxy.ask(json.dumps(request).encode(), f"{conversation}.{turn}")] += 1


def run(arguments, folder, kills):
    upstream = Upstream()
    proxy = Proxy(arguments.louver, folder / f"store-{kills}.db", upstream.url)
    outcomes = collections.Counter()
    done = threading.Event()

    def killer():
        """Kills all along the run, by how far it has come and not by the clock, at any moment of what is in flight then."""
        source = random.Random(7)
        requests = arguments.conversations * (arguments.turns + 1)
        for number in range(kills):
            point = requests * (number + source.uniform(0, 0.5)) / kills
            while proxy.answered < point and not done.is_set():
                time.sleep(0.001)
            if done.is_set():
                return
            time.sleep(source.uniform(0, 0.02))
            proxy.kill()

    thread = threading.Thread(target=killer)
    thread.start()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        led = [pool.submit(lead, proxy, number, arguments.turns, outcomes) for number in range(arguments.conversations)]
        for one in led:
            one.result()
    done.set()
    thread.join()
    proxy.stop()
    upstream.shutdown()
    return upstream.seen, outcomes, proxy.kills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--kills", type=int, default=8)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        calm, outcomes, _ = run(arguments, folder, 0)
        assert outcomes["cut"] > arguments.conversations, outcomes
        wild, disturbed, kills = run(arguments, folder, arguments.kills)
    other = [turn for turn, bodies in calm.items() if len(bodies) != 1 or wild[turn] != bodies]
    print(f"{len(calm)} requests, {dict(outcomes)}; {kills} kills, {dict(disturbed)}; {len(other)} views differ", flush=True)
    for turn in other[:5]:
        print(turn, calm[turn], wild[turn])
    raise SystemExit(1 if other or kills < arguments.kills else 0)


if __name__ == "__main__":
    main()
