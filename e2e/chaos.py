"""Three replicas on one PostgreSQL behind a round-robin balancer; replicas are killed, the server is restarted.

chaos.py --louver BINARY [--conversations 4] [--turns 60] [--kills 8] [--restarts 2]: every conversation is led twice, once
through a single, undisturbed proxy on a file, once through the replicas. Until the first cut that was put off, every
request has to reach the provider with the same bytes; from there on with the same bytes on every replica, the old view
behind what was sent before but at cuts, legal, never too long. At the end every replica is asked for the last request of each
conversation once more. Needs Debian's postgresql and nginx.
"""

import argparse
import collections
import concurrent.futures
import glob
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import kills

WINDOW = 30000


class Upstream(kills.Upstream):
    """Remembers the messages that it was asked with, by the turn that the client names."""

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = Handler
        self.views = collections.defaultdict(dict)


class Handler(kills.Handler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        turn = self.headers["x-turn"]
        self.server.views[turn][hashlib.sha256(body).hexdigest()] = [json.dumps(message) for message in json.loads(body)["messages"]]
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(kills.ANSWER)))
        self.end_headers()
        self.wfile.write(kills.ANSWER)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Postgres:
    """A cluster of its own in a folder."""

    def __init__(self, folder):
        self.bin = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1])
        self.data, self.log, self.port, self.restarts = folder / "data", folder / "log", free_port(), 0
        self.own = []
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            self.own = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
        self.run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "-D", self.data)
        settings = f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
        with open(self.data / "postgresql.conf", "a") as config:
            config.write(settings)
        self.up()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, program, *arguments):
        subprocess.run([*self.own, self.bin / program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def up(self):
        self.run("pg_ctl", "start", "-w", "-D", self.data, "-l", self.log)

    def restart(self, mode):
        self.run("pg_ctl", "stop", "-w", "-m", mode, "-D", self.data)
        time.sleep(1)
        self.up()
        self.restarts += 1

    def stop(self):
        self.run("pg_ctl", "stop", "-m", "immediate", "-D", self.data)

    def rows(self, sql):
        told = subprocess.run(["psql", "-X", "-q", "-t", "-A", "-c", sql, self.url], check=True, capture_output=True, text=True)
        return told.stdout.split()


class Replica:
    """A proxy on a port of its own, which it keeps over its deaths."""

    def __init__(self, louver, store, upstream, folder, number):
        self.port = free_port()
        self.command = [louver, "proxy", f"--store={store}", f"--upstream=anthropic={upstream}", f"--context-window={WINDOW}", f"--listen=127.0.0.1:{self.port}"]
        self.log = open(folder / f"replica-{number}.log", "a")
        self.start()

    def start(self):
        while True:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, text=True)
            if self.process.stdout.readline().startswith("http://"):
                return
            # The port may still be taken, or the database away.
            self.process.wait()
            time.sleep(0.2)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Balancer:
    """nginx, round robin, without a second try of its own: clients ask again."""

    def __init__(self, folder, ports):
        self.port = free_port()
        servers = "".join(f"server 127.0.0.1:{port} max_fails=0;" for port in ports)
        config = f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
            events {{ worker_connections 512; }}
            http {{ access_log off; client_max_body_size 64m; client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                upstream replicas {{ {servers} }}
                server {{ listen 127.0.0.1:{self.port}; location / {{ proxy_pass http://replicas; proxy_next_upstream off;
                    proxy_buffering off; proxy_request_buffering off; proxy_http_version 1.1; proxy_read_timeout 120s; }} }} }}"""
        (folder / "nginx.conf").write_text(config)
        self.process = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "nginx.log"])
        kills_until(lambda: is_open(self.port))

    def stop(self):
        self.process.terminate()
        self.process.wait()


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def kills_until(holds):
    give_up = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < give_up, "it does not come up"
        time.sleep(0.05)


class Client:
    """Asks one address until there is an answer, and counts what was answered otherwise."""

    def __init__(self, port):
        self.port, self.answered, self.statuses = port, 0, collections.Counter()
        self.may_ask = lambda: True

    def ask(self, body, turn):
        give_up = time.monotonic() + 300
        while not self.may_ask() and time.monotonic() < give_up:
            time.sleep(0.001)
        while time.monotonic() < give_up:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                headers = {"content-type": "application/json", "x-api-key": "k", "x-turn": turn}
                connection.request("POST", "/v1/messages", body, headers)
                answer = connection.getresponse()
                answer.read()
                self.statuses[answer.status] += 1
                if answer.status == 200:
                    self.answered += 1
                    return answer.getheader("x-louver-outcome")
            except (OSError, http.client.HTTPException):
                self.statuses["broken"] += 1
            time.sleep(0.05)
        raise SystemExit(f"no answer to {turn}")


def lead_all(client, arguments, outcomes):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        led = [pool.submit(lead, client, number, arguments.turns, outcomes) for number in range(arguments.conversations)]
        for one in led:
            one.result()


def lead(client, conversation, turns, outcomes):
    messages = kills.history(conversation, turns)
    for turn in range(turns + 1):
        outcomes[f"{conversation}.{turn}"] = client.ask(request_of(messages[: 2 * turn + 1]), f"{conversation}.{turn}")


def request_of(messages):
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages}).encode()


def calm(arguments, folder):
    upstream = Upstream()
    replica = Replica(arguments.louver, folder / "calm.db", upstream.url, folder, "calm")
    outcomes = {}
    lead_all(Client(replica.port), arguments, outcomes)
    replica.stop()
    upstream.shutdown()
    return upstream.views, outcomes


def wild(arguments, folder):
    upstream = Upstream()
    (folder / "postgres").mkdir()
    postgres = Postgres(folder / "postgres")
    replicas = [Replica(arguments.louver, postgres.url, upstream.url, folder, number) for number in range(3)]
    balancer = Balancer(folder, [replica.port for replica in replicas])
    client, outcomes, done = Client(balancer.port), {}, threading.Event()
    total = arguments.conversations * (arguments.turns + 1)
    killed = collections.Counter()
    acts = {"kills": arguments.kills, "restarts": arguments.restarts}

    def is_due(name, ahead):
        """Whether the run has come so far that the act is due that comes so many behind the next."""
        return client.answered * (acts[name] + 1) >= total * (killed[name] + 1 + ahead)

    # However quick the machine is, the run does not get away from what is to disturb it.
    client.may_ask = lambda: not any(is_due(name, 1) for name in acts if killed[name] < acts[name])

    def along(name, act):
        """Acts all along the run, each time at any moment of what is in flight then."""
        source = random.Random(name)
        while killed[name] < acts[name] and not done.is_set():
            if is_due(name, 0):
                time.sleep(source.uniform(0, 0.05))
                act(killed[name])
                killed[name] += 1
            time.sleep(0.005)

    threads = [
        threading.Thread(target=along, args=("kills", lambda n: replicas[n % 3].kill())),
        threading.Thread(target=along, args=("restarts", lambda n: postgres.restart(["fast", "immediate"][n % 2]))),
    ]
    for thread in threads:
        thread.start()
    try:
        lead_all(client, arguments, outcomes)
    except BaseException:
        done.set()
        raise
    for thread in threads:
        thread.join()
    balancer.stop()
    for conversation in range(arguments.conversations):
        last = request_of(kills.history(conversation, arguments.turns))
        for replica in replicas:
            Client(replica.port).ask(last, f"{conversation}.{arguments.turns}")
    for replica in replicas:
        replica.stop()
    doubled = postgres.rows("SELECT count(*) - count(DISTINCT (chain, upstream, model, attempt)) FROM louver.decisions")
    decisions = postgres.rows("SELECT count(*) FROM louver.decisions")
    requests = postgres.rows("SELECT count(*) FROM louver.requests")
    postgres.stop()
    upstream.shutdown()
    return upstream.views, outcomes, killed, client.statuses, int(decisions[0]), int(doubled[0]), int(requests[0])


def unpaired(view):
    """Whether a call and its result do not stand in messages that follow each other."""
    called = set()
    for message in map(json.loads, view):
        parts = message["content"] if isinstance(message["content"], list) else []
        if {part["tool_use_id"] for part in parts if part["type"] == "tool_result"} != called:
            return True
        called = {part["id"] for part in parts if part["type"] == "tool_use"}
    return bool(called)


def judge(arguments, undisturbed, views, outcomes):
    """What is wrong with the views of the replicas, in words."""
    wrong, put_off = [], 0
    for conversation in range(arguments.conversations):
        is_other, before = False, []
        for turn in range(arguments.turns + 1):
            name = f"{conversation}.{turn}"
            seen = views[name]
            if len(seen) != 1:
                wrong.append(f"{name}: {len(seen)} views of one request")
                continue
            view = next(iter(seen.values()))
            if not is_other and seen.keys() != undisturbed[name].keys():
                # Only a cut that could not be recorded is put off: then more is sent than by the calm one.
                is_other = True
                put_off += 1
                if len(view) < len(next(iter(undisturbed[name].values()))):
                    wrong.append(f"{name}: less is sent than undisturbed")
            is_cut = outcomes[name] in ("cut", "rescued")
            if not is_cut and before and view[: len(before)] != before:
                wrong.append(f"{name}: the prefix breaks without a cut ({outcomes[name]})")
            if unpaired(view):
                wrong.append(f"{name}: a call without its result, or a result without its call")
            if sum(map(len, view)) > WINDOW * 6:
                wrong.append(f"{name}: {sum(map(len, view))} characters do not fit")
            before = view
    return wrong, put_off


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--conversations", type=int, default=4)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--restarts", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="louver-chaos") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        undisturbed, expected = calm(arguments, folder)
        assert list(expected.values()).count("cut") > arguments.conversations, collections.Counter(expected.values())
        start = time.monotonic()
        views, outcomes, killed, statuses, decisions, doubled, requests = wild(arguments, folder)
        seconds = time.monotonic() - start
    wrong, put_off = judge(arguments, undisturbed, views, outcomes)
    if doubled:
        wrong.append(f"{doubled} decisions are there twice")
    print(f"{len(expected)} requests in {seconds:.0f} s, {killed['kills']} kills, {killed['restarts']} restarts of PostgreSQL")
    print(f"undisturbed {dict(collections.Counter(expected.values()))}; disturbed {dict(collections.Counter(outcomes.values()))}")
    print(f"answers {dict(statuses)}; {decisions} decisions, {doubled} twice; {requests} requests in the account")
    print(f"{put_off} conversations with a cut that was put off; {len(wrong)} things wrong", flush=True)
    for one in wrong[:10]:
        print(one)
    raise SystemExit(1 if wrong or killed["kills"] < arguments.kills or killed["restarts"] < arguments.restarts else 0)


if __name__ == "__main__":
    main()
