"""What goes wrong between a runner and its provider: three wire formats, every fault, the real binary.

faults.py --louver BINARY [--only NAME] [--workers 6] [--table FILE]: `louver run` works on a small task against a server that
does one thing wrong. Every row has to end as it should: nothing hangs, nothing panics, no call is answered twice or not at all.
Prints a table of outcome, exit code, tries, time and peak memory, and fails if a row is not as expected.
"""

import argparse
import concurrent.futures
import email.utils
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

WIRES = {"messages": "claude-sonnet-4-5", "chat": "gpt-5", "responses": "gpt-5"}
SILENCE = 4  # execution.timeout_seconds
HANGS = 120  # a run that takes longer hangs


# What a good answer looks like.


def events(wire, calls, text="", stop=None, usage="usual"):
    """An answer's events: calls are (id, name, arguments)."""
    if wire == "messages":
        said = {"input_tokens": 50, "output_tokens": 1} if usage == "usual" else usage
        blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})] if text else []
        for i, name, arguments in calls:
            start = {"type": "tool_use", "id": i, "name": name, "input": {}}
            blocks.append((start, {"type": "input_json_delta", "partial_json": arguments}))
        yield {"type": "message_start", "message": {"role": "assistant", "usage": said}}
        for index, (start, delta) in enumerate(blocks):
            yield {"type": "content_block_start", "index": index, "content_block": start}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {"type": "message_delta", "delta": {"stop_reason": stop or "tool_use"}, "usage": said}
        yield {"type": "message_stop"}
    elif wire == "chat":
        said = {"prompt_tokens": 50, "completion_tokens": 5} if usage == "usual" else usage
        if text:
            yield {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}
        for index, (i, name, arguments) in enumerate(calls):
            call = {"index": index, "id": i, "type": "function", "function": {"name": name, "arguments": arguments}}
            yield {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": stop or "tool_calls"}]}
        yield {"choices": [], "usage": said}
        yield "[DONE]"
    else:
        said = {"input_tokens": 50, "output_tokens": 5} if usage == "usual" else usage
        items = [{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text}]}] if text else []
        for n, (i, name, arguments) in enumerate(calls):
            items.append({"type": "function_call", "id": f"fc_{n}", "call_id": i, "name": name, "arguments": arguments})
        for index, item in enumerate(items):
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": {"status": "completed", "usage": said}}


def sse(some, end="\n"):
    def line(event):
        data = event if isinstance(event, str) else json.dumps(event)
        name = f"event: {event['type']}{end}" if isinstance(event, dict) and "type" in event else ""
        return f"{name}data: {data}{end}{end}"

    return "".join(map(line, some)).encode()


def read(wire, number, name="notes.txt"):
    return list(events(wire, [(f"call_{number}", "read_file", json.dumps({"path": name}))]))


def done(wire, number="end"):
    return list(events(wire, [(f"call_{number}", "task_complete", json.dumps({"summary": "All done."}))]))


def whole(wire):
    arguments = {"summary": "All done."}
    if wire == "messages":
        return {"role": "assistant", "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "call_end", "name": "task_complete", "input": arguments}]}
    function = {"name": "task_complete", "arguments": json.dumps(arguments)}
    if wire == "chat":
        message = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_end", "type": "function", "function": function}]}
        return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    return {"status": "completed", "output": [{"type": "function_call", "id": "fc", "call_id": "call_end", **function}]}


# What the server does: each takes the connection and says something.


class Talk:
    """One request that waits for its answer."""

    def __init__(self, connection, wire, number, body):
        self.connection, self.wire, self.number, self.body = connection, wire, number, body

    def raw(self, data):
        self.connection.sendall(data)

    def say(self, status, content_type, body, *headers):
        lines = [f"HTTP/1.1 {status} Said", f"content-type: {content_type}", f"content-length: {len(body)}", "connection: close"]
        self.raw(("\r\n".join([*lines, *headers]) + "\r\n\r\n").encode() + body)

    def refuse(self, status, message, *headers, code=None):
        error = {"type": code or "invalid_request_error", "message": message}
        self.say(status, "application/json", json.dumps({"type": "error", "error": error}).encode(), *headers)

    def stream(self, some):
        self.say(200, "text/event-stream", some if isinstance(some, bytes) else sse(some))

    def open(self, content_type="text/event-stream", *headers):
        self.raw(("\r\n".join(["HTTP/1.1 200 OK", f"content-type: {content_type}", "connection: close", *headers]) + "\r\n\r\n").encode())

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def silence(talk):
    time.sleep(SILENCE * 3)


def silence_within(talk):
    talk.open()
    talk.raw(sse(done(talk.wire))[:40])
    time.sleep(SILENCE * 3)


def reset_within(talk):
    talk.open()
    talk.raw(sse(done(talk.wire))[:60])
    time.sleep(0.05)
    talk.reset()


def drip(talk):
    talk.open()
    for _ in range(SILENCE * 3):
        talk.raw(b": still there\n\n")
        time.sleep(0.5)
    talk.raw(sse(done(talk.wire)))


def byte_by_byte(talk):
    talk.open()
    for byte in sse(done(talk.wire)):
        talk.raw(bytes([byte]))


def flood(talk):
    talk.open()
    try:
        for _ in range(80):
            talk.raw(b": " + b"x" * (1 << 20) + b"\n\n")
    except OSError:
        pass


def head_flood(talk):
    try:
        talk.raw(b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: %s\r\n" % (n, b"y" * 900) for n in range(2000)))
    except OSError:
        pass


def too_long(limit, status, message, code=None):
    def act(talk):
        if len(talk.body) > limit:
            talk.refuse(status, message.format(sent=len(talk.body) // 4, limit=limit // 4), code=code)
        else:
            talk.stream(done(talk.wire))

    return act


def in_stream(wire, message, code):
    error = {"type": code, "code": code, "message": message}
    if wire == "responses":
        return [{"type": "response.failed", "response": {"status": "failed", "error": error}}]
    return [{"type": "error", "error": error}] if wire == "messages" else [{"error": error}]


def window_full(talk):
    if talk.wire == "messages":
        talk.stream(events("messages", [], "Half a sent", "model_context_window_exceeded"))
    else:
        talk.stream(in_stream(talk.wire, "Your input exceeds the context window of this model.", "context_length_exceeded"))


def calls(*some):
    return lambda talk: talk.stream(events(talk.wire, some))


def reads(*ids):
    return calls(*[(i, "read_file", json.dumps({"path": "notes.txt"})) for i in ids])


def twice(some):
    """Every event that starts or finishes something, a second time."""
    for event in some:
        yield event
        kind = event.get("type", "") if isinstance(event, dict) else ""
        if kind in ("content_block_start", "response.output_item.done"):
            yield event


def odd_usage(value):
    figures = dict.fromkeys(["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "cache_read_input_tokens"], value)
    usage = figures if value != "none" else None
    return lambda talk: talk.stream(events(talk.wire, [("call_end", "task_complete", '{"summary": "All done."}')], usage=usage))


def in_an_hour():
    return f"retry-after: {email.utils.formatdate(time.time() + 3600, usegmt=True)}"


def in_a_second():
    return f"retry-after: {email.utils.formatdate(time.time() + 1, usegmt=True)}"


RATE = ("slow down", "rate_limit_error")
TPM = "Request too large for gpt-5 on tokens per min (TPM): Limit {limit}, Requested {sent}. The input or output tokens must be reduced."
ONCE, LASTING = "once", "lasting"
GOOD, BAD = ("completed", 0), ("failed", 3)

# name; what is done; once (then all is well) or as long as it lasts; what has to come of it; tries of the second request at most
FAULTS = [
    ("429, retry-after 0", lambda t: t.refuse(429, RATE[0], "retry-after: 0", code=RATE[1]), ONCE, GOOD, 2),
    ("429, retry-after a date", lambda t: t.refuse(429, RATE[0], in_a_second(), code=RATE[1]), ONCE, GOOD, 2),
    ("429, retry-after in an hour", lambda t: t.refuse(429, RATE[0], in_an_hour(), code=RATE[1]), LASTING, BAD, 1),
    ("429 lasting", lambda t: t.refuse(429, RATE[0], "retry-after: 0", code=RATE[1]), LASTING, BAD, 6),
    ("429, request too large", too_long(40_000, 429, TPM, "rate_limit_exceeded"), LASTING, GOOD, 5),
    ("500", lambda t: t.refuse(500, "oops", code="api_error"), ONCE, GOOD, 2),
    ("500 lasting", lambda t: t.refuse(500, "oops", code="api_error"), LASTING, BAD, 6),
    ("529 overloaded", lambda t: t.refuse(529, "Overloaded", code="overloaded_error"), ONCE, GOOD, 2),
    ("503 as a web page", lambda t: t.say(503, "text/html", b"<html>away</html>"), ONCE, GOOD, 2),
    ("401", lambda t: t.refuse(401, "who are you", code="authentication_error"), LASTING, BAD, 1),
    ("403", lambda t: t.refuse(403, "not you", code="permission_error"), LASTING, BAD, 1),
    ("404", lambda t: t.refuse(404, "no such model", code="not_found_error"), LASTING, BAD, 1),
    ("400", lambda t: t.refuse(400, "what is this"), LASTING, BAD, 1),
    ("413 without a word", lambda t: t.say(413, "text/plain", b"") if len(t.body) > 40_000 else t.stream(done(t.wire)), LASTING, GOOD, 5),
    ("too long, with figures", too_long(40_000, 400, "prompt is too long: {sent} tokens > {limit} maximum"), LASTING, GOOD, 5),
    ("too long, figures unsaid", too_long(20_000, 400, "Input is too long for requested model."), LASTING, GOOD, 5),
    ("too long whatever is cut", too_long(0, 400, "Input is too long for requested model."), LASTING, BAD, 5),
    ("window full within the answer", window_full, ONCE, GOOD, 2),
    ("nobody listens", None, LASTING, BAD, 0),
    ("closed before a byte", lambda t: None, ONCE, GOOD, 2),
    ("closed behind the head", lambda t: t.open(), ONCE, GOOD, 2),
    ("reset within the answer", reset_within, ONCE, GOOD, 2),
    ("reset lasting", reset_within, LASTING, BAD, 6),
    ("silent", silence, ONCE, GOOD, 2),
    ("silent lasting", silence, LASTING, BAD, 2),
    ("silent within the answer", silence_within, ONCE, GOOD, 2),
    ("slow, but not silent", drip, ONCE, GOOD, 1),
    ("shorter than announced", lambda t: t.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n" + sse(done(t.wire))[:50]), ONCE, GOOD, 2),
    ("broken chunks", lambda t: t.raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n"), ONCE, GOOD, 2),
    ("no HTTP at all", lambda t: t.raw(b"220 smtp.example ready\r\n"), ONCE, GOOD, 2),
    ("a head without end", head_flood, LASTING, BAD, 6),
    ("half an event", lambda t: t.stream(sse(done(t.wire))[:-70]), ONCE, GOOD, 2),
    ("no JSON in an event", lambda t: t.stream(b"data: {nonsense\n\n"), ONCE, GOOD, 2),
    ("no UTF-8 in an event", lambda t: t.stream(b"data: \xff\xfe\n\n"), ONCE, GOOD, 2),
    ("an empty answer", lambda t: t.stream(b""), LASTING, BAD, 6),
    ("80 MB", flood, LASTING, BAD, 1),
    ("a web page", lambda t: t.say(200, "text/html", b"<!doctype html><title>Sign in</title>"), LASTING, BAD, 1),
    ("an error with status 200", lambda t: t.say(200, "application/json", b'{"error":{"code":"invalid_api_key","message":"no"}}'), LASTING, BAD, 1),
    ("an error within the stream", lambda t: t.stream(in_stream(t.wire, "Overloaded", "overloaded_error")), ONCE, GOOD, 2),
    ("one piece instead of a stream", lambda t: t.say(200, "application/json", json.dumps(whole(t.wire)).encode()), ONCE, GOOD, 1),
    ("byte by byte", byte_by_byte, ONCE, GOOD, 1),
    ("CRLF and comments", lambda t: t.stream(b": hello\r\n\r\n" + sse(done(t.wire), "\r\n")), ONCE, GOOD, 1),
    ("more behind the end", lambda t: t.stream(sse(done(t.wire)) + b"data: {nonsense\n\n"), ONCE, GOOD, 1),
    ("events twice", lambda t: t.stream(twice(done(t.wire))), ONCE, GOOD, 1),
    ("usage null", odd_usage("none"), ONCE, GOOD, 1),
    ("usage negative", odd_usage(-5), ONCE, GOOD, 1),
    ("usage fractional", odd_usage(12.5), ONCE, GOOD, 1),
    ("usage beyond belief", odd_usage(2**64 - 1), ONCE, GOOD, 1),
    ("tool ids twice", reads("call_0", "same", "same"), ONCE, GOOD, 2),
    ("tool ids empty", reads("", ""), ONCE, GOOD, 2),
    ("arguments that are no JSON", calls(("bad", "read_file", "{oops")), ONCE, GOOD, 2),
    ("arguments 5,000 deep", calls(("deep", "read_file", '{"path":' * 5000 + "1" + "}" * 5000)), ONCE, GOOD, 2),
    ("a tool that is none", calls(("none", "launch", "{}")), ONCE, GOOD, 2),
    ("200 calls at once", reads(*[f"call_x{n}" for n in range(200)]), ONCE, GOOD, 2),
    ("a hint before the answer", lambda t: (t.raw(b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"), t.stream(done(t.wire))), ONCE, GOOD, 1),
]


class Server:
    """Answers the first request well, does something wrong at the second, and well again if it was asked to do it once."""

    def __init__(self, wire, act, lasts):
        self.wire, self.act, self.lasts, self.bodies = wire, act, lasts, []
        self.lock = threading.Lock()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        if act is None:
            self.socket.close()
        else:
            threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        try:
            with connection:
                data = b""
                while b"\r\n\r\n" not in data:
                    data += connection.recv(65536) or exit()
                head, _, body = data.partition(b"\r\n\r\n")
                length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
                while len(body) < length:
                    body += connection.recv(1 << 20)
                with self.lock:
                    number = len(self.bodies)
                    self.bodies.append(body)
                talk = Talk(connection, self.wire, number, body)
                if number == 0:
                    talk.stream(read(self.wire, 0))
                elif number == 1 or self.lasts == LASTING:
                    self.act(talk)
                else:
                    talk.stream(done(self.wire))
        except (OSError, SystemExit):
            pass


def pairs(wire, body):
    """Ids of calls and of results in a request."""
    asked, answered = [], []
    for message in json.loads(body)["input" if wire == "responses" else "messages"]:
        if wire == "chat":
            asked += [call["id"] for call in message.get("tool_calls", [])]
            answered += [message["tool_call_id"]] if message["role"] == "tool" else []
        elif wire == "responses":
            asked += [message["call_id"]] if message.get("type") == "function_call" else []
            answered += [message["call_id"]] if message.get("type") == "function_call_output" else []
        elif isinstance(message["content"], list):
            asked += [block["id"] for block in message["content"] if block["type"] == "tool_use"]
            answered += [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
    return asked, answered


def is_sound(wire, body):
    asked, answered = pairs(wire, body)
    return asked == answered and len(set(asked)) == len(asked)


def run(louver, wire, fault):
    name, act, lasts, expected, most_tries = fault
    server = Server(wire, act, lasts)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "TASK.md").write_text("Read notes.txt and say that you are done.")
        # Long where it has to be cut.
        lines = 3000 if act is not None and any(sign in name for sign in ("too l", "413", "window")) else 20
        (root / "notes.txt").write_text("".join(f"Line {n} of the notes, with some words.\n" for n in range(lines)))
        provider = {"type": "sandbox", "wire": wire, "base_url": server.url, "model": WIRES[wire]}
        (root / "config.yml").write_text(json.dumps({"provider": provider, "execution": {"timeout_seconds": SILENCE, "max_iterations": 3}}))
        words = [louver, "run", str(root / "TASK.md"), "--config", str(root / "config.yml"), "--root", folder]
        with open(root / "out", "w") as out, open(root / "err", "w") as err:
            started = time.monotonic()
            process = subprocess.Popen(words, stdout=out, stderr=err)
            hanging = threading.Timer(HANGS, process.kill)
            hanging.start()
            _, status, usage = os.wait4(process.pid, 0)
            hanging.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - started
        said, errors = (root / "out").read_text(), (root / "err").read_text()
    server.socket.close()
    outcome = re.search(r"Outcome\s+(.*?)\s+│", said)
    outcome = outcome[1] if outcome else "none"
    tries = max(0, len(server.bodies) - 1)
    wrong = []
    if not outcome.startswith(expected[0]) or process.returncode != expected[1]:
        wrong.append(f"expected {expected[0]}, {expected[1]}")
    if tries > most_tries:
        wrong.append(f"{tries} tries")
    if "panicked" in errors:
        wrong.append("panicked")
    if seconds >= HANGS:
        wrong.append("hung")
    if not all(is_sound(wire, body) for body in server.bodies):
        wrong.append("calls and results do not match")
    return {"fault": name, "wire": wire, "outcome": outcome, "code": process.returncode, "tries": tries,
            "seconds": seconds, "megabytes": usage.ru_maxrss / 1024, "wrong": wrong, "errors": errors}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--louver", required=True)
    parser.add_argument("--only")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--table")
    arguments = parser.parse_args()
    faults = [fault for fault in FAULTS if arguments.only in (None, fault[0])]
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(run, arguments.louver, wire, fault) for fault in faults for wire in WIRES]
        rows = [future.result() for future in futures]
    lines = ["| fault | wire | outcome | exit | tries | time | peak memory |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        wrong = f" **{', '.join(row['wrong'])}**" if row["wrong"] else ""
        lines.append(f"| {row['fault']} | {row['wire']} | {row['outcome']}{wrong} | {row['code']} | {row['tries']} | {row['seconds']:.1f} s | {row['megabytes']:.0f} MB |")
    print("\n".join(lines))
    if arguments.table:
        pathlib.Path(arguments.table).write_text(short(rows))
    bad = [row for row in rows if row["wrong"]]
    for row in bad:
        print(f"\n{row['fault']}, {row['wire']}: {', '.join(row['wrong'])}\n{row['errors']}", file=sys.stderr)
    print(f"\n{len(rows)} runs, {len(bad)} not as expected")
    sys.exit(bool(bad))


def short(rows):
    """One line per fault, the three wire formats together."""
    lines = ["| fault | outcome | exit | tries | time (s) | peak (MB) |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(row["fault"] for row in rows):
        same = [row for row in rows if row["fault"] == name]

        def spread(key, form):
            values = [row[key] for row in same]
            low, high = (form.format(value) for value in (min(values), max(values)))
            return low if low == high else f"{low} to {high}"

        outcomes = " / ".join(dict.fromkeys(row["outcome"] for row in same))
        codes = " / ".join(dict.fromkeys(str(row["code"]) for row in same))
        lines.append(f"| {name} | {outcomes} | {codes} | {spread('tries', '{}')} | {spread('seconds', '{:.1f}')} | {spread('megabytes', '{:.0f}')} |")
    return "\n".join(lines) + f"\n\n{len(rows)} runs, {sum(bool(row['wrong']) for row in rows)} not as expected.\n"


if __name__ == "__main__":
    main()
