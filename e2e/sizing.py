"""What one replica and one store carry.

sizing.py --louver BINARY [--conversations 40] [--turns 100] [--clients 8] [--rate 0] [--archive full]: so many clients lead
conversations at once through one proxy, first on a file, then on a PostgreSQL of its own; with a rate, all together ask so many
times a second, else as fast as they are answered. Prints how fast that is, how long an answer takes beside one that comes
straight from the provider, how much processor time a request takes in the proxy and in PostgreSQL, and what is stored. Needs
Debian's postgresql.
"""

import argparse
import asyncio
import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import sqlite3
import statistics
import tempfile
import threading
import time

import chaos
import kills
import stores

TICK = os.sysconf("SC_CLK_TCK")


class Upstream:
    """Takes any body and answers the same: a provider that costs next to nothing."""

    def __init__(self):
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0, limit=1 << 22)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    async def answer(self, reader, writer):
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(kills.ANSWER)}\r\n\r\n".encode()
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
                await reader.readexactly(length)
                writer.write(head + kills.ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


def processor_seconds(processes):
    """What processes have taken, and their children that have ended."""
    taken = 0
    for process in processes:
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except FileNotFoundError:
            continue
        taken += sum(map(int, fields[11:15]))
    return taken / TICK


def with_children(process):
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *map(int, children)]


def client(port, numbers, turns, pause, direct, results):
    """Leads conversations one after the other."""
    connections = {name: http.client.HTTPConnection("127.0.0.1", number, timeout=300) for name, number in (("proxy", port), ("direct", direct))}
    taken = collections.defaultdict(list)
    sent = 0
    due = time.perf_counter()
    for number in numbers:
        texts = [json.dumps(message) for message in kills.history(number, turns)]
        for turn in range(turns + 1):
            body = ('{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[' + ",".join(texts[: 2 * turn + 1]) + "]}").encode()
            sent += len(body)
            due += pause
            time.sleep(max(0, due - time.perf_counter()))
            # Every tenth goes straight to the provider as well: what is left is the proxy.
            for name in ["proxy"] + ["direct"] * (turn % 10 == 0):
                start = time.perf_counter()
                connections[name].request("POST", "/v1/messages", body, {"content-type": "application/json", "x-api-key": "k"})
                answer = connections[name].getresponse()
                text = answer.read()
                assert answer.status == 200, text
                taken[name].append(time.perf_counter() - start)
    results.put((dict(taken), sent))


def measure(arguments, store, name, others, told):
    upstream = Upstream()
    proxy = stores.Proxy(arguments.louver, store, upstream.url, arguments.archive)
    port, results = proxy.connection.port, multiprocessing.Queue()
    pause = arguments.clients / arguments.rate if arguments.rate else 0
    shares = [range(first, arguments.conversations, arguments.clients) for first in range(arguments.clients)]
    clients = [multiprocessing.Process(target=client, args=(port, share, arguments.turns, pause, upstream.port, results)) for share in shares]
    before = processor_seconds([proxy.process.pid]), processor_seconds(others())
    start = time.perf_counter()
    for one in clients:
        one.start()
    answers = [results.get() for _ in clients]
    seconds = time.perf_counter() - start
    memory = next(line.split()[1] for line in open(f"/proc/{proxy.process.pid}/status") if line.startswith("VmRSS"))
    # What is written behind belongs to the requests.
    time.sleep(3)
    after = processor_seconds([proxy.process.pid]), processor_seconds(others())
    for one in clients:
        one.join()
    proxy.stop()
    requests = arguments.conversations * (arguments.turns + 1)
    kilobytes = sum(sent for _, sent in answers) / requests / 1e3
    print(f"{name}: {requests} requests of {kilobytes:.0f} kB by {arguments.clients} clients, {requests / seconds:.0f} a second; load {os.getloadavg()[0]:.1f}")
    for way in ("proxy", "direct"):
        ordered = sorted(taken for answer, _ in answers for taken in answer[way])
        print(f"  {way}: median {statistics.median(ordered) * 1e3:.2f} ms, 99 % {ordered[len(ordered) * 99 // 100] * 1e3:.2f} ms")
    print(f"  processor time of a request: {(after[0] - before[0]) / requests * 1e3:.2f} ms in the proxy, {(after[1] - before[1]) / requests * 1e3:.2f} ms in the store's server")
    print(f"  memory of the proxy: {int(memory) / 1e3:.0f} MB for {arguments.conversations} conversations")
    for line in told():
        print(f"  {line}")


def in_a_file(path):
    """What is stored, table by table."""
    database = sqlite3.connect(path)
    counted = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("requests", "messages", "decisions", "conversations")}
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield f"{path.stat().st_size / 1e6:.1f} MB for " + ", ".join(f"{count} {table}" for table, count in counted.items())
    text = database.execute("SELECT coalesce(sum(bytes), 0) FROM messages").fetchone()[0]
    yield f"text of messages {text / 1e6:.1f} MB"


def log_bytes(postgres):
    return int(postgres.rows("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")[0])


def on_the_server(postgres, log_before):
    yield f"written to the log: {(log_bytes(postgres) - log_before) / 1e6:.0f} MB"
    parts = {
        "requests": ["requests"],
        "messages": ["messages", "texts", "positions", "threads", "passages"],
        "decisions": ["decisions"],
        "conversations": ["conversations"],
    }
    postgres.rows("VACUUM")
    tables = {line.split("|")[0]: int(line.split("|")[1]) for line in postgres.rows("SELECT relname || '|' || pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'louver' AND relkind = 'r'")}
    for name, wanted in parts.items():
        count = int(postgres.rows(f"SELECT count(*) FROM louver.{name}")[0])
        size = sum(tables.pop(table, 0) for table in wanted)
        yield f"{count} {name}: {size / 1e6:.1f} MB, {size / max(1, count):.0f} bytes each"
    yield f"text of messages {int(postgres.rows('SELECT coalesce(sum(bytes), 0)::bigint FROM louver.messages')[0]) / 1e6:.1f} MB; other tables {sum(tables.values()) / 1e6:.1f} MB"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--conversations", type=int, default=40)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--archive", default="full")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="louver-sizing") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        path = folder / "store.db"
        measure(arguments, path, "a file", list, lambda: in_a_file(path))
        (folder / "postgres").mkdir()
        postgres = chaos.Postgres(folder / "postgres")
        head = int((postgres.data / "postmaster.pid").read_text().split()[0])
        before = log_bytes(postgres)
        measure(arguments, postgres.url, "PostgreSQL", lambda: with_children(head), lambda: on_the_server(postgres, before))
        postgres.stop()


if __name__ == "__main__":
    main()
