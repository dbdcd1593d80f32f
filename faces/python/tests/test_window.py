"""The window itself: what goes in comes out, the same objects, whatever their form."""

from __future__ import annotations

import copy
import gc
import json
import weakref
from typing import Any

import pydantic
import pytest
from talks import tool_turns

import louver


def capped(**settings: Any) -> louver.Window:
    return louver.Window(**{"format": "openai-chat", "max_messages": 6, "preserve_last": 2, **settings})


def test_kept_messages_are_the_same_objects() -> None:
    history = tool_turns(20)
    before = copy.deepcopy(history)
    window = capped()
    window.extend(history)
    fit = window.fit()
    assert fit.is_cut and fit.trigger == "message-cap" and fit.tokens_after < fit.tokens_before
    view = window.view()
    assert len(view) < len(history)
    own = {id(message) for message in history}
    assert sum(id(message) in own for message in view) >= 4
    assert history == before
    assert louver.check(view) == []
    # Nothing is lost.
    left = window.left_out()
    assert all(message is history[index] for index, message in left)
    assert {index for index, _ in left} | {history.index(m) for m in view if id(m) in own} == set(range(len(history)))
    assert window.recall(f"[louver:{left[0][0]}]")[0][1] is left[0][1]
    assert all(ours is theirs for ours, theirs in zip(window.log, history, strict=True))


def test_a_model_says_format_window_and_policy() -> None:
    window = louver.Window("claude-sonnet-5-5")
    assert (window.format, window.policy) == ("anthropic", "ladder")
    assert window.allowed_tokens is not None and window.allowed_tokens > 100_000
    assert louver.Window("gpt-5").format == "openai-chat"
    with pytest.raises(louver.SettingsError, match="not in the catalogue"):
        louver.Window("nobody-knows", format="anthropic")
    with pytest.raises(louver.SettingsError, match="format"):
        louver.Window()
    with pytest.raises(louver.SettingsError, match="unknown policy `bouth`"):
        louver.Window("gpt-5", policy="bouth")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is no setting"):
        louver.Window("gpt-5", polcy="both")  # type: ignore[call-arg]


@pytest.mark.parametrize("form", [lambda m: m, json.dumps, lambda m: json.dumps(m).encode()])
def test_messages_come_back_in_the_form_they_came_in(form: Any) -> None:
    history = [form(message) for message in tool_turns(40)]
    window = louver.Window("gpt-4", counter="chars4", context_window=3_000, max_output=500)
    view = window.view_of(history)
    assert len(view) < len(history) and {type(message) for message in view} == {type(history[0])}
    own = {id(message) for message in history}
    assert any(id(message) in own for message in view) and any(id(message) not in own for message in view)
    assert louver.check(view) == []


class Said(pydantic.BaseModel):
    role: str
    content: Any = None
    name: str | None = None


def test_objects_with_model_dump_go_in_and_come_out() -> None:
    said = [Said(role="user", content=f"Number {number}") for number in range(9)]
    view = capped().view_of(said)
    assert all(isinstance(message, Said) for message in view) and view[0] is said[0] and view[-1] is said[-1]


def test_what_is_mutated_or_replaced_is_noticed() -> None:
    history = tool_turns(30)
    window = louver.Window("gpt-4", counter="chars4", context_window=3_000, max_output=500)

    def anew() -> list[Any]:
        return louver.Window("gpt-4", counter="chars4", context_window=3_000, max_output=500).view_of(history)

    assert window.view_of(history) == window.view_of(history)
    history[-1]["content"] = "mutated in place"
    assert window.view_of(history)[-1] is history[-1]
    assert window.recall(str(len(history) - 1))[0][1]["content"] == "mutated in place"
    assert json.loads(window.records()[-2])["message"].count("mutated in place") == 1
    history[1] = {"role": "user", "content": "Another task from the start."}
    assert window.view_of(history) == anew()
    del history[4:]
    assert window.view_of(history) == history and len(window) == 4


def test_a_request_is_given_back_with_another_history_only() -> None:
    body = {"model": "gpt-4", "max_tokens": 500, "messages": tool_turns(200), "tools": []}
    before = copy.deepcopy(body)
    window = louver.Window("gpt-4", counter="chars4", context_window=4_000, max_output=500)
    sent = window.view_of(body)
    assert body == before and sent is not body
    assert {key: value for key, value in sent.items() if key != "messages"} == {
        key: value for key, value in body.items() if key != "messages"
    }
    assert len(sent["messages"]) < len(body["messages"]) and louver.check(sent) == []


def test_a_history_that_the_provider_holds_is_left_alone() -> None:
    body = {"model": "gpt-5", "previous_response_id": "r", "input": [{"role": "user", "content": "x" * 9_000}] * 5}
    window = louver.Window(format="openai-responses", context_window=5_000, max_output=500)
    assert window.view_of(body) is body


def test_summaries_are_jobs_out_and_text_in() -> None:
    window = capped(summarize=True)
    window.extend({"role": "user", "content": f"Note number {turn}: nothing has to be done."} for turn in range(20))
    job = window.fit().job
    assert job is not None and "Note number 3" in job.prompt and job.max_tokens == 1024
    assert window.open_job is not None and window.open_job.id == job.id
    taken = window.answer(job, "Notes without consequence.", input_tokens=400, output_tokens=5)
    assert taken.rejected is None and window.summary == "Notes without consequence."
    assert any("Notes without consequence." in message["content"] for message in window.view())
    assert window.answer(job, "again").rejected == "no such job is open"


def test_a_window_is_saved_and_opened_again() -> None:
    settings: Any = {"counter": "chars4", "context_window": 3_000, "max_output": 500}
    window = louver.Window("gpt-4", **settings)
    lines: list[str] = []
    for message in tool_turns(40):
        window.push(message)
        window.fit()
        lines += window.records(len(lines))
    opened = louver.Window.open(lines, "gpt-4", **settings)
    assert opened.view() == window.view() and opened.records() == lines
    assert opened.view()[0] is opened.view()[0]
    with pytest.raises(louver.RecordError):
        louver.Window.open(["{}"], "gpt-4")
    with pytest.raises(louver.RecordError, match="openai-chat"):
        louver.Window.open(lines, format="gemini", max_messages=9)


def test_usage_corrects_counts() -> None:
    window = louver.Window("gpt-4", counter="chars4", context_window=8_000)
    window.extend(tool_turns(30))
    window.fit()
    counted = window.tokens
    assert window.report_usage({"usage": {"prompt_tokens": counted * 5 // 4}}) == "used"
    assert window.tokens > counted
    assert window.report_usage({"nothing": 1}) is None


def test_errors_say_where_and_how_much() -> None:
    window = louver.Window("gpt-4", counter="chars4", context_window=2_000, max_output=500)
    with pytest.raises(louver.InputError) as read:
        window.extend([{"role": "user", "content": "Hi"}, {"role": 7}])
    assert (read.value.path, len(window)) == ("$.role", 0)
    with pytest.raises(louver.InputError) as walked:
        window.view_of([{"role": "user", "content": [{"type": "text", "text": {1, 2}}]}])
    assert walked.value.path == "$[0].content[0].text" and "type set" in str(walked.value)
    with pytest.raises(louver.InputError, match="nested deeper"):
        endless: dict[str, Any] = {"role": "user"}
        endless["content"] = [endless]
        window.push(endless)
    with pytest.raises(louver.WindowOverflow) as over:
        window.view_of([{"role": "user", "content": "x" * 40_000}])
    assert over.value.floor_tokens > over.value.allowed_tokens > 0
    assert over.value.largest is not None and over.value.largest.index == 0 and over.value.largest.tokens >= 10_000
    with pytest.raises(louver.InputError) as text:
        louver.trim(b'{"messages": [{"role": "user"}')
    assert text.value.offset == 30


def test_halves_of_surrogates_and_large_numbers_pass() -> None:
    message = {"role": "user", "content": "half \ud83d of one", "n": 10**30, "f": 1.5, "e": "é\u0001"}
    window = louver.Window("gpt-5")
    window.push(message)
    assert window.view()[0] is message
    raw = json.loads(window.records()[-1])["message"]
    assert json.loads(raw) == message and "\\ud83d" in raw


def test_cycles_are_collected() -> None:
    class Message(dict):  # type: ignore[type-arg]
        pass

    message = Message(role="user", content="Hi")
    window = louver.Window("gpt-5")
    window.push(message)
    gone = weakref.ref(message)
    message.window = window  # type: ignore[attr-defined]
    del message, window
    gc.collect()
    assert gone() is None


def test_conversations_find_their_own() -> None:
    both = louver.Conversations(format="openai-chat", counter="chars4", context_window=3_000, max_output=500)
    one, two = tool_turns(30), tool_turns(30)
    two[1] = {"role": "user", "content": "Something else."}
    ids = []
    for end in range(4, 62, 2):
        turns = [both.fit({"model": "gpt-4", "messages": history[:end]}) for history in (one, two)]
        ids.append([turn.conversation for turn in turns])
        assert all(louver.check(turn.request) == [] for turn in turns)
    assert ids == [ids[0]] * len(ids) and ids[0][0] != ids[0][1]
    # A branch begins where it leaves the path, and the path goes on.
    branch = [*one[:40], {"role": "user", "content": "Wait."}]
    assert both.fit({"model": "gpt-4", "messages": branch}).conversation not in ids[0]
    assert both.fit({"model": "gpt-4", "messages": one}).conversation == ids[0][0]
    few = louver.Conversations(format="openai-chat", max_conversations=2, max_messages=9)
    for number in range(5):
        few.fit([{"role": "user", "content": f"Task {number}"}])
    assert len(few) == 2
