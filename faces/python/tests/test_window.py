"""The window itself: what goes in comes out, the same objects, whatever their form."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import datetime
import enum
import gc
import json
import threading
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


def test_what_is_changed_deep_inside_is_noticed() -> None:
    """What stands as before is not written again, so each way of changing something has to be seen."""

    def said(window: louver.Window, history: list[Any]) -> list[Any]:
        window.view_of(history)
        lines = [json.loads(line) for line in window.records()]
        return [json.loads(line["message"]) for line in lines if "message" in line]

    def call(history: list[Any]) -> Any:
        return history[2]["tool_calls"][0]

    changes: list[Any] = [
        lambda history: call(history)["function"].update(arguments="{}"),
        lambda history: call(history).update(index=10**20),
        lambda history: call(history).pop("type"),
        lambda history: history[2]["tool_calls"].append(dict(call(history), id="another")),
        lambda history: history[2].update(tool_calls=tuple(history[2]["tool_calls"])),
        lambda history: history[3].update(content=[{"type": "text", "text": "parts"}]),
        lambda history: history[3]["content"][0].update(text="other parts"),
        lambda history: history[0].update(name=None),
        lambda history: history.__setitem__(1, dict(history[1])),
    ]
    history = tool_turns(3)
    window = louver.Window(format="openai-chat", policy="everything", counter="chars4", context_window=90_000)
    both = louver.Conversations(format="openai-chat", policy="everything", counter="chars4", context_window=90_000)
    for change in changes:
        for _ in range(2):
            assert said(window, history) == json.loads(json.dumps(history))
            assert both.fit(history).request == history
        change(history)
    assert said(window, history) == json.loads(json.dumps(history))


class Role(enum.Enum):
    USER = "user"
    ASSISTANT = "assistant"


@dataclasses.dataclass
class Note:
    text: str
    at: datetime.datetime | None = None
    weight: Any = 1


class Told(pydantic.BaseModel):
    """A message of a framework."""

    model_config = pydantic.ConfigDict(extra="allow")
    role: Role
    notes: list[Note]


def told(message: Told) -> dict[str, Any]:
    parts = [{"type": "text", "text": f"{note.text} {note.at} {note.weight}"} for note in message.notes]
    return {"role": message.role.value, "content": parts, **(message.model_extra or {})}


@pytest.mark.parametrize("handed", [list, copy.deepcopy])
def test_messages_of_a_framework_are_asked_for_once_and_after_each_change(handed: Any) -> None:
    """Also where they are copied for each call."""
    changes: list[Any] = [
        lambda history: setattr(history[2], "role", Role.ASSISTANT),
        lambda history: setattr(history[2], "name", "N"),
        lambda history: setattr(history[2].notes[0], "text", "another"),
        lambda history: setattr(history[2].notes[0], "weight", True),
        lambda history: setattr(history[2].notes[0], "weight", 1.0),
        lambda history: history[2].notes.append(Note("one more")),
        lambda history: history.__setitem__(2, Told(role=Role.USER, notes=[Note("in its place")])),
    ]
    asked: list[Told] = []

    def wire(message: Told) -> dict[str, Any]:
        asked.append(message)
        return told(message)

    history = [Told(role=Role.USER, notes=[Note(f"Number {number}")]) for number in range(5)]
    both = louver.Conversations(format="openai-chat", policy="everything", counter="chars4", context_window=90_000)
    assert both.fit(history, wire=wire).is_unchanged and asked == history
    for change in changes:
        change(history)
        asked.clear()
        for _ in range(3):
            given = handed(history)
            assert both.fit(given, wire=wire).request == given
        assert asked == [history[2]]


def test_what_may_change_unseen_is_asked_for_each_time() -> None:
    asked: list[Told] = []

    def wire(message: Told) -> dict[str, Any]:
        asked.append(message)
        return told(message)

    history = [Told(role=Role.USER, notes=[Note("Now", datetime.datetime(2026, 1, 1), weight)]) for weight in (1, {1, 2})]
    both = louver.Conversations(format="openai-chat", policy="everything", counter="chars4", context_window=90_000)
    for _ in range(3):
        both.fit(history, wire=wire)
    assert asked == [*history, history[1], history[1]]


def test_only_what_is_read_is_looked_at() -> None:
    asked: list[Told] = []

    def wire(message: Told) -> dict[str, Any]:
        asked.append(message)
        return {"role": "user", "content": [{"type": "text", "text": note.text} for note in message.notes]}

    history = [Told(role=Role.USER, notes=[Note("Now")], more={1, 2}) for _ in range(3)]  # type: ignore[call-arg]
    both = louver.Conversations(format="openai-chat", policy="everything", counter="chars4", context_window=90_000)
    for _ in range(3):
        both.fit(history, wire=wire, reads=["notes", "missing"])
    history[0].role = Role.ASSISTANT
    both.fit(history, wire=wire, reads=["notes", "missing"])
    assert asked == history
    history[1].notes.append(Note("then"))
    both.fit(history, wire=wire, reads=["notes", "missing"])
    assert asked == [*history, history[1]]


def test_messages_of_a_framework_are_made_where_they_are_not_kept() -> None:
    def make(original: Told | None, became: dict[str, Any]) -> tuple[Told | None, dict[str, Any]]:
        return original, became

    roles = (Role.USER, Role.ASSISTANT)
    history = [Told(role=roles[number % 2], notes=[Note(f"Number {number}, " * 50)]) for number in range(51)]
    both = louver.Conversations(format="openai-chat", counter="chars4", context_window=3_000, max_output=500)
    turn = both.fit({"messages": history}, wire=told, make=make)
    view = turn.request["messages"]
    assert not turn.is_unchanged and len(view) == len(turn.origins) < 51
    for message, (index, is_kept) in zip(view, turn.origins, strict=True):
        original = None if index is None else history[index]
        assert message is original if is_kept else message[0] is original and "content" in message[1]
    assert view[-1] is history[-1] and any(isinstance(message, tuple) for message in view)


def test_a_message_that_holds_itself_is_refused() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    with pytest.raises(louver.InputError, match="nested deeper"):
        louver.Conversations(format="openai-chat", context_window=9_000).fit([message])


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


def test_summaries_are_written_in_the_background() -> None:
    def noted() -> tuple[louver.Window, louver.Job]:
        window = capped(summarize=True)
        window.extend({"role": "user", "content": f"Note number {turn}: nothing to do."} for turn in range(20))
        job = window.fit().job
        assert job is not None
        return window, job

    async def talk() -> None:
        window, job = noted()
        written = asyncio.Event()

        async def ask(job: louver.Job) -> str:
            await written.wait()
            return f"{len(job.covers)} notes."

        task = asyncio.create_task(louver.acondense(window, job, ask))
        for turn in range(5):  # The conversation goes on meanwhile.
            window.push({"role": "user", "content": f"Later note {turn}."})
            window.fit()
            await asyncio.sleep(0)
        assert window.summary is None
        written.set()
        assert (await task).rejected is None
        assert window.summary == f"{len(job.covers)} notes."

    asyncio.run(talk())
    window, job = noted()
    thread = threading.Thread(target=louver.condense, args=(window, job, lambda job: "From a thread."))
    thread.start()
    thread.join()
    assert window.summary == "From a thread."

    def broken(job: louver.Job) -> str:
        raise RuntimeError("no model")

    window, job = noted()
    assert louver.condense(window, job, broken).rejected == "no model" and window.summary is None


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
