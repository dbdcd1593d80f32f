"""The laws, on this face: whatever the history, whatever the policy."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import louver

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300).filter(lambda text: text.strip() != "")


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Legal conversations with single and parallel calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": draw(TEXT)}]
    for turn in range(draw(st.integers(0, 12))):
        calls = draw(st.integers(0, 3))
        ids = [f"c{turn}_{call}" for call in range(calls)]
        answer: dict[str, Any] = {"role": "assistant", "content": draw(TEXT)}
        if ids:
            function = {"name": "look", "arguments": "{}"}
            answer["tool_calls"] = [{"id": call, "type": "function", "function": function} for call in ids]
        messages.append(answer)
        messages += [{"role": "tool", "tool_call_id": call, "content": draw(TEXT)} for call in ids]
        if not ids or draw(st.booleans()):
            messages.append({"role": "user", "content": draw(TEXT)})
    return messages


POLICIES = st.sampled_from(["ladder", "ladder-lean", "tokens", "messages", "both", "newest", "full-cut", "mask"])


@settings(max_examples=150, deadline=None)
@given(histories(), POLICIES, st.integers(300, 3_000), st.booleans())
def test_the_laws_hold(history: list[dict[str, Any]], policy: Any, room: int, whole: bool) -> None:
    before = copy.deepcopy(history)
    window = louver.Window(
        format="openai-chat", policy=policy, counter="chars4", context_window=room + 200, max_output=200, max_messages=8
    )
    try:
        view = handed_over(window, history) if whole else pushed(window, history)
    except louver.WindowOverflow as error:
        assert error.floor_tokens > error.allowed_tokens
        return
    assert history == before, "what came in stays as it is"
    assert louver.check(view, format="openai-chat") == [], "legal in, legal out"
    places = {id(message): index for index, message in enumerate(history)}
    kept = [places[id(message)] for message in view if id(message) in places]
    assert kept == sorted(set(kept)), "order"
    left = {index for index, _ in window.left_out()}
    assert left.isdisjoint(kept) and left | set(kept) == set(range(len(history))), "nothing is lost"
    assert window.view() == view and not window.fit().is_cut, "nothing appended, nothing changes"
    opened = louver.Window.open(
        window.records(), format="openai-chat", policy=policy, counter="chars4", context_window=room + 200,
        max_output=200, max_messages=8,
    )  # fmt: skip
    assert opened.view() == view, "recorded decisions hold"


def handed_over(window: louver.Window, history: list[dict[str, Any]]) -> list[Any]:
    """As frameworks do: the whole history before each answer."""
    ends = [index for index, message in enumerate(history) if message["role"] == "assistant"]
    for end in ends:
        window.view_of(history[:end])
    return window.view_of(history)


def pushed(window: louver.Window, history: list[dict[str, Any]]) -> list[Any]:
    window.extend(history)
    window.fit()
    return window.view()
