"""Memory stays, and threads work side by side."""

from __future__ import annotations

import json
import resource
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from talks import tool_turns

import louver
from louver import WindowSettings


def resident_kilobytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def windows(count: int) -> None:
    history = tool_turns(4)
    for _ in range(count):
        window = louver.Window(format="openai-chat", max_messages=6, preserve_last=2)
        window.view_of(history)


def test_memory_is_flat_over_many_windows(capsys: pytest.CaptureFixture[str]) -> None:
    windows(10_000)
    before = resident_kilobytes()
    windows(100_000)
    grown = resident_kilobytes() - before
    with capsys.disabled():
        print(f"\n100,000 windows: {grown} kB more than before")
    assert grown < 8_000


def test_large_messages_that_are_gone_are_not_remembered_for_long() -> None:
    window = louver.Window(format="openai-chat", policy="messages", max_messages=6, preserve_last=2)
    conversations = louver.Conversations(format="openai-chat", max_conversations=2, policy="messages", max_messages=6)
    before = resident_kilobytes()
    for turn in range(100):
        history = [{"role": "user", "content": f"{turn} {index} {'word ' * 200_000}"} for index in range(2)]
        window.view_of(history)
        conversations.fit(history)
    # Each of them may remember 32 MB, as text and as objects.
    assert resident_kilobytes() - before < 250_000


def test_eight_threads_work_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """How much faster is told, not asserted: it depends on the machine. That all get the same is asserted."""
    text = json.dumps({"model": "gpt-4", "messages": tool_turns(2_000)})
    results: list[str] = []

    def work() -> None:
        results.append(louver.trim(text, policy="ladder", context_window=16_000, counter="chars4"))

    start = time.perf_counter()
    for _ in range(8):
        work()
    alone = time.perf_counter() - start
    threads = [threading.Thread(target=work) for _ in range(8)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = time.perf_counter() - start
    with capsys.disabled():
        print(f"\n8 threads: {alone / together:.2f} times as fast as one after the other")
    assert len(set(results)) == 1 and len(results) == 16


def waited_while(work: Callable[[], object]) -> float:
    """The longest that this thread had to wait for its turn while another one worked, as a share of that work."""
    thread = threading.Thread(target=work)
    turns = [time.perf_counter()]
    thread.start()
    while thread.is_alive():
        turns.append(time.perf_counter())
        time.sleep(0.001)
    turns.append(time.perf_counter())
    return max(after - before for before, after in pairwise(turns)) / (turns[-1] - turns[0])


def test_others_have_their_turn_while_records_are_written_and_read() -> None:
    settings: WindowSettings = {"format": "openai-chat", "policy": "messages", "max_messages": 50}
    window = louver.Window(**settings)
    for _ in range(50):
        window.push({"role": "user", "content": "word\n" * 200_000})
    records = window.records()
    # The best of some: the machine may have others to serve.
    assert min(waited_while(window.records) for _ in range(5)) < 0.4
    assert min(waited_while(lambda: louver.Window.open(records, **settings)) for _ in range(5)) < 0.4


def test_threads_share_a_window() -> None:
    window = louver.Window(format="openai-chat", max_messages=50, preserve_last=10)

    def work(name: int) -> None:
        for turn in range(300):
            window.push({"role": "user", "content": f"{name}: {turn}"})
            window.fit()
            window.view()

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(window) == 2_400 and len(window.view()) <= 50
