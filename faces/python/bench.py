"""One turn of an agent's loop: what it costs to fit a history that is handed over whole, conversion included.

    faces/python/bench.sh [MESSAGES...]      (default: 50 500 5000)

Every way gets the same conversation and half of its tokens as its window. LangChain's and LiteLLM's trimming start anew at
each turn. Louver's window has seen the history up to the turn before, as it has in an agent; "first" is the turn at which
it sees all of it for the first time. The quickest of several turns counts: other work disturbs it the least.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests"))
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import louver  # noqa: E402
from talks import tool_turns  # noqa: E402

TURNS = 9
PATIENCE_SECONDS = 40


def quickest(turns: Iterator[Callable[[], Any]]) -> float:
    """Seconds of the quickest turn; those that take too long are not repeated."""
    best, started = float("inf"), time.monotonic()
    for turn in turns:
        start = time.perf_counter()
        turn()
        best = min(best, time.perf_counter() - start)
        if time.monotonic() - started > PATIENCE_SECONDS:
            break
    return best


def langchain_ways(history: list[dict[str, Any]], tokens: int) -> dict[str, float]:
    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately
    from louver.adapters.langchain import LouverMiddleware

    messages: list[Any] = convert_to_messages(history)
    more = convert_to_messages(tool_turns(2 * TURNS)[2:])

    def theirs() -> Any:
        return trim_messages(
            messages, max_tokens=tokens, token_counter=count_tokens_approximately, strategy="last",
            include_system=True, start_on="human", end_on=("human", "tool"),
        )  # fmt: skip

    middleware = LouverMiddleware(counter="chars4", context_window=tokens + 1_000, max_output=1_000)
    model = FakeListChatModel(responses=[""])

    def ours() -> Any:
        return middleware.fit(ModelRequest(model=model, messages=list(messages)))

    def grown() -> Iterator[Callable[[], Any]]:
        for turn in range(TURNS):
            messages.extend(more[2 * turn : 2 * turn + 2])
            yield ours

    first = quickest(iter([ours]))
    return {"langchain trim_messages": quickest(iter([theirs] * TURNS)), "louver middleware, first": first,
            "louver middleware": quickest(grown())}  # fmt: skip


def litellm_ways(history: list[dict[str, Any]], tokens: int) -> dict[str, float]:
    from litellm.utils import trim_messages

    def theirs() -> Any:
        return trim_messages(list(history), model="gpt-4o", max_tokens=tokens)

    return {"litellm trim_messages": quickest(iter([theirs] * TURNS))}


def own_ways(history: list[dict[str, Any]], tokens: int) -> dict[str, float]:
    more = tool_turns(2 * TURNS)[2:]
    ways = {"json.dumps of the list": quickest(iter([lambda: json.dumps(history)] * TURNS))}
    for counter in ("chars4", "o200k"):
        messages = list(history)
        window = louver.Window(format="openai-chat", counter=counter, context_window=tokens + 1_000, max_output=1_000)

        def fit(window: louver.Window = window, messages: list[Any] = messages) -> Any:
            return window.view_of(messages)

        def grown(fit: Callable[[], Any] = fit, messages: list[Any] = messages) -> Iterator[Callable[[], Any]]:
            for turn in range(TURNS):
                messages.extend(more[2 * turn : 2 * turn + 2])
                yield fit

        ways[f"louver view_of, {counter}, first"] = quickest(iter([fit]))
        ways[f"louver view_of, {counter}"] = quickest(grown())
        ways[f"louver view_of, {counter}, nothing new"] = quickest(iter([fit] * TURNS))
    return ways


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [50, 500, 5_000]
    for size in sizes:
        history = tool_turns(size // 2 - 1, 1_000)
        tokens = sum(len(json.dumps(message)) for message in history) // 8
        ways: dict[str, float] = {}
        for measure in (own_ways, langchain_ways, litellm_ways):
            try:
                ways |= measure(history, tokens)
            except ImportError as missing:
                print(f"skipped: {missing}")
        ours = ways["louver view_of, chars4"]
        print(f"{len(history)} messages, {tokens} tokens may stay")
        for name, seconds in ways.items():
            print(f"  {name:<36} {seconds * 1e3:>10.3f} ms  {seconds / ours:>9.1f} times louver view_of")


if __name__ == "__main__":
    main()
