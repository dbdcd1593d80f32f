"""Fills a store with conversations that nobody had, for whoever measures the page.

page-load.py STORE [--conversations 10000] [--requests 2000]: so many conversations of about twenty requests, and one of so many.
The store is a file that `louver proxy` has made.
"""

import argparse
import random
import sqlite3
import time

DAY = 24 * 60 * 60 * 1000
MODELS = [("claude-sonnet-4-5", "anthropic"), ("claude-opus-4-5", "anthropic"), ("gpt-5.2", "openai-chat"), ("gemini-2.5-pro", "gemini")]
LONG = "long-conversation"


def requests_of(source, count, start, model):
    """Requests of a conversation that grows and is cut whenever it is full."""
    sent = held = 0
    at = start
    for number in range(count):
        grown = source.randrange(400, 2_500)
        held, sent = held + grown, sent + grown
        outcome, reason, lost = ("kept" if held > sent else "passed"), None, None
        if sent > 150_000:
            sent, outcome, reason, lost = 40_000 + grown, "cut", "token-limit", "the history was cut"
        elif source.random() < 0.004:
            lost = source.choice(["the tools changed", "the system prompt changed", "nothing was asked for 900 s"])
        read = 0 if lost else max(0, sent - grown)
        written = sent - read
        output = source.randrange(50, 900)
        cost = read * 300 + written * 3_750 + output * 15_000
        baseline = cost + max(0, held - sent) * 300 % 40_000_000
        at += source.randrange(2_000, 60_000)
        yield (at, "anthropic", model, outcome, 0, 200, 4, read, written, 0, output, 0, cost, baseline, sent, held, None, None, reason, lost, source.randrange(300, 20_000))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=2_000)
    arguments = parser.parse_args()
    source = random.Random(7)
    store = sqlite3.connect(arguments.store)
    store.execute("PRAGMA synchronous = OFF")
    now = int(time.time() * 1000)
    readers = [store.execute("INSERT INTO readers (name) VALUES (?) RETURNING number", (f"reader-{number}",)).fetchone()[0] for number in range(20)]
    total = 0
    for number in range(arguments.conversations + 1):
        is_long = number == arguments.conversations
        count = arguments.requests if is_long else source.randrange(1, 40)
        model, format = source.choice(MODELS)
        # The long one is the latest, so that it stands first.
        start = now - arguments.requests * 31_000 if is_long else now - source.randrange(2 * 60 * 60 * 1000, 29 * DAY)
        rows = list(requests_of(source, count, start, model))
        sums = [sum(row[column] or 0 for row in rows) for column in (6, 7, 8, 9, 10, 11, 12, 13, 14, 15)]
        cuts = sum(row[3] == "cut" for row in rows)
        last = max(rows[-1][0], now) if is_long else rows[-1][0]
        cursor = store.execute(
            """INSERT INTO conversations (id, reader, format, model, first_ms, last_ms, requests, cuts, last_sent, last_held, input,
                cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (LONG if is_long else f"{number:016x}", source.choice(readers), format, model, rows[0][0], last, count, cuts, rows[-1][14], rows[-1][15], *sums),
        )
        marks = ", ".join("?" * 22)
        store.executemany(
            f"""INSERT INTO requests (conversation, at_ms, upstream, model, outcome, is_repeat, status, input, cache_read, cache_write_5m,
                cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held, observed_sent, observed_cost_nano, cut_reason,
                cache_break, duration_ms) VALUES ({marks})""",
            [(cursor.lastrowid, *row) for row in rows],
        )
        total += count
    store.commit()
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"{arguments.conversations + 1} conversations, {total} requests, one of them has {arguments.requests}")


if __name__ == "__main__":
    main()
