"""What a request costs the proxy's process. Run by proxy.sh; figures are processor time of that process alone."""

import argparse
import http.client
import http.server
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

EVENT = b"event: message_start\ndata: {\"type\":\"message_start\"}\n\n"
DELTA = b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n"
ANSWER = json.dumps(
    {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
     "content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 10, "output_tokens": 2}}
).encode()


class Upstream(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2048


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.request.setsockopt(6, 1, 1)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("x-stream"):
            return self.stream(float(self.headers["x-stream"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def stream(self, seconds):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        end = time.monotonic() + seconds
        for event in [EVENT, DELTA]:
            self.chunk(event)
        while time.monotonic() < end:
            time.sleep(min(1.0, max(0.0, end - time.monotonic())))
            self.chunk(DELTA)
        self.chunk(b"")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *arguments):
        pass


def cpu(pids):
    """Seconds of processor time of processes, by the clock that each has of its own (ticks of /proc are too coarse)."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def resident(pids):
    pages = sum(int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Peer:
    def __init__(self, name, port, pids, stop):
        self.name, self.port, self.pids, self.stop = name, port, pids, stop

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.connect()
        connection.sock.setsockopt(6, 1, 1)
        return connection


def started(name, command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(process.stdout.readline().strip().rsplit(":", 1)[1])
    return Peer(name, port, [process.pid], lambda: (process.terminate(), process.wait()))


def nginx(folder, upstream):
    if not shutil.which("nginx"):
        return None
    port = random.randrange(20_000, 30_000)
    config = folder / "nginx.conf"
    config.write_text(f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{ access_log off; client_max_body_size 64m; client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp;
  client_body_buffer_size 4m; upstream up {{ server 127.0.0.1:{upstream}; keepalive 64; }}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }} }} }}
""")
    process = subprocess.Popen(["nginx", "-c", str(config), "-p", str(folder)], stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    return Peer("nginx", port, [process.pid], lambda: (process.terminate(), process.wait()))


def post(connection, body, headers=None):
    connection.request("POST", "/v1/messages", body, {"content-type": "application/json", "x-api-key": "k"} | (headers or {}))
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, answer.status
    return answer


def body(messages):
    return json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages}, separators=(",", ":")).encode()


def turn(source, number, size):
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"path": f"src/file{number}.rs"}}
    lines = "\n".join(f"line{source.randrange(10**9)} = value{source.randrange(10**9)}" for _ in range(size // 40))
    return [
        {"role": "assistant", "content": [{"type": "text", "text": f"Step {number}."}, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": lines}]},
    ]


def small(peer, count):
    """Requests of 10 KB, each of a conversation of its own, that pass untouched."""
    source = random.Random(1)
    bodies = [body([{"role": "user", "content": f"{number} " + "words " * 1_650 + str(source.random())}]) for number in range(count)]
    connection = peer.connect()
    for one in bodies[:20]:
        post(connection, one)
    before = cpu(peer.pids)
    for one in bodies[20:]:
        post(connection, one)
    return (cpu(peer.pids) - before) / (count - 20) * 1e6


def large(peer, count):
    """Bodies of 2 MB of one conversation that grows by a turn of 9 KB each."""
    source = random.Random(2)
    messages = [{"role": "user", "content": "Read everything."}]
    for number in range(220):
        messages += turn(source, number, 9_000)
    connection = peer.connect()
    for _ in range(2):
        post(connection, body(messages))
    bodies = []
    for number in range(220, 220 + count):
        messages = messages + turn(source, number, 9_000)
        bodies.append(body(messages))
    before = cpu(peer.pids)
    for one in bodies:
        post(connection, one)
    return (cpu(peer.pids) - before) / count * 1e6


def first_byte(peer, count):
    """From the request to the first byte of a stream, in milliseconds, the median."""
    times = []
    connection = peer.connect()
    for number in range(count):
        one = body([{"role": "user", "content": f"{number} hello"}])
        start = time.perf_counter()
        connection.request("POST", "/v1/messages", one, {"content-type": "application/json", "x-api-key": "k", "x-stream": "0.001"})
        answer = connection.getresponse()
        answer.read(1)
        times.append(time.perf_counter() - start)
        answer.read()
    return statistics.median(times) * 1e3


def streams(peer, count, seconds):
    """So many streams at once: the process's memory after a third and at the end."""
    open_streams = []
    for number in range(count):
        connection = peer.connect()
        one = body([{"role": "user", "content": f"{number} tell me a long story"}])
        connection.request("POST", "/v1/messages", one, {"content-type": "application/json", "x-api-key": "k", "x-stream": str(seconds)})
        open_streams.append(connection)
    time.sleep(seconds / 3)
    early = resident(peer.pids)
    time.sleep(seconds / 3)
    late = resident(peer.pids)
    whole = 0
    for connection in open_streams:
        answer = connection.getresponse()
        whole += answer.status == 200 and len(answer.read()) > 0
    return early, late, whole


def many(peer, count):
    """Memory after so many conversations of 10 KB."""
    source = random.Random(3)
    connection = peer.connect()
    marks = []
    for number in range(count):
        post(connection, body([{"role": "user", "content": f"conversation {number} " + "words " * 1_650 + str(source.random())}]))
        if number + 1 in (count // 10, count // 2, count):
            marks.append(resident(peer.pids))
    return marks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--bare", required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    upstream = Upstream(("127.0.0.1", 0), Handler)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    port = upstream.server_address[1]
    count = 300 if arguments.quick else 3_000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        settings = ["--listen=127.0.0.1:0", f"--upstream=anthropic=http://127.0.0.1:{port}", f"--store={folder}/store.db"]
        peers = [
            nginx(folder, port),
            started("bare hyper", [arguments.bare, f"127.0.0.1:{port}"]),
            started("louver", [arguments.louver, "proxy", *settings]),
        ]
        print(f"load {os.getloadavg()[0]:.1f}; processor time of the proxy's process in microseconds a request")
        print(f"{'':<12}{'10 KB':>10}{'2 MB':>10}{'first byte, ms':>16}")
        for peer in filter(None, peers):
            figures = small(peer, count), large(peer, 40 if arguments.quick else 200), first_byte(peer, count // 10)
            print(f"{peer.name:<12}{figures[0]:>10.0f}{figures[1]:>10.0f}{figures[2]:>16.2f}", flush=True)
        louver = peers[-1]
        held, seconds = (200, 6) if arguments.quick else (1_000, 60)
        early, late, whole = streams(louver, held, seconds)
        print(f"{held} streams of {seconds} s: {whole} whole, memory {early:.0f} MB after a third, {late:.0f} MB after two")
        marks = many(louver, 1_000 if arguments.quick else 10_000)
        print("conversations seen, memory: " + ", ".join(f"{mark:.0f} MB" for mark in marks) + " (a tenth, half, all)")
        for peer in filter(None, peers):
            peer.stop()


if __name__ == "__main__":
    main()
