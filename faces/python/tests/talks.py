"""Conversations to test with, and what a long one must have come to."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Sandbox

WINDOW = 20_000
TURNS = 200


def tool_turns(turns: int, size: int = 400) -> list[dict[str, Any]]:
    """A task and so many calls with their results, as the Chat Completions API has them."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read everything."},
    ]
    for turn in range(turns):
        function = {"name": "read_file", "arguments": f'{{"path":"{turn}.txt"}}'}
        calls = [{"id": f"call_{turn}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": f"Step {turn}.", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": read_file(f"{turn}.txt", size)})
    return messages


def read_file(path: str, size: int = 1_500) -> str:
    """What the tool gives: lines with names that come once."""
    line = f"{path} has a line that says something about it"
    return "\n".join(f"{line}: {number}" for number in range(size // len(line)))


def picture() -> bytes:
    """An image of 300 kB, as far as anybody looks into it: 1,024 pixels each way."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + 2 * (1_024).to_bytes(4, "big") + bytes([8, 6, 0, 0, 0])
    return head + random.Random(1).randbytes(300_000)


def assert_kept_inside(sandbox: Sandbox, said: int = 2 * TURNS, requests: int = TURNS + 1) -> None:
    """Nothing was refused, and more was said than the window holds."""
    journal = sandbox.journal()
    assert [entry for entry in journal if entry["status"] != 200] == []
    assert [entry["violations"] for entry in journal if entry["violations"]] == []
    assert len(journal) == requests
    assert max(entry["input_tokens"] for entry in journal) <= WINDOW
    assert journal[-1]["messages"] < said / 2, "the last request would have had everything"
