"""The official SDKs against the sandbox: 200 tool turns past the window."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import anthropic
import openai
import pytest
from conftest import Sandbox
from talks import TURNS, assert_kept_inside, read_file

import louver
from louver.adapters.sdk import Requests

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TASK = "Read every file."
SETTINGS: Any = {"context_window": 20_000}


def tell(answer: Any) -> list[dict[str, Any]]:
    uses = [block for block in answer.content if block.type == "tool_use"]
    return [{"type": "tool_result", "tool_use_id": use.id, "content": read_file(use.input["path"])} for use in uses]


def claude(sandbox: Sandbox, kind: Any = anthropic.Anthropic) -> Any:
    return louver.wrap(kind(base_url=sandbox.url, api_key="key", max_retries=0), **SETTINGS)


def gpt(sandbox: Sandbox, kind: Any = openai.OpenAI) -> Any:
    return louver.wrap(kind(base_url=f"{sandbox.url}/v1", api_key="key", max_retries=0), **SETTINGS)


CLAUDE: Any = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1_024,
    "system": "Be brief.",
    "tools": [{"name": "read_file", "input_schema": SCHEMA}],
}


@pytest.mark.parametrize("streaming", [False, True])
def test_anthropic_messages(sandbox: Sandbox, streaming: bool) -> None:
    client = claude(sandbox)
    history: list[Any] = [{"role": "user", "content": TASK}]

    def ask() -> Any:
        if not streaming:
            return client.messages.create(messages=history, **CLAUDE)
        with client.messages.stream(messages=history, **CLAUDE) as stream:
            return stream.get_final_message()

    while (answer := ask()).stop_reason == "tool_use":
        history.append({"role": "assistant", "content": answer.content})
        before = [id(message) for message in history]
        history.append({"role": "user", "content": tell(answer)})
        assert [id(message) for message in history[:-1]] == before
    assert answer.content[-1].text == "All is read."
    assert len(history) == 1 + 2 * TURNS
    assert_kept_inside(sandbox)


def test_anthropic_async(sandbox: Sandbox) -> None:
    async def talk() -> int:
        client = claude(sandbox, anthropic.AsyncAnthropic)
        history: list[Any] = [{"role": "user", "content": TASK}]
        while (answer := await client.messages.create(messages=history, **CLAUDE)).stop_reason == "tool_use":
            history += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": tell(answer)}]
        return len(history)

    assert asyncio.run(talk()) == 1 + 2 * TURNS
    assert_kept_inside(sandbox)


def test_openai_chat_completions(sandbox: Sandbox) -> None:
    client = gpt(sandbox)
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
    history: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}]
    while True:
        message = client.chat.completions.create(model="gpt-5", messages=history, tools=tools).choices[0].message
        if not message.tool_calls:
            break
        history.append(message)
        history += [{"role": "tool", "tool_call_id": call.id, "content": read_file("a")} for call in message.tool_calls]
    assert message.content == "All is read." and len(history) == 2 + 2 * TURNS
    assert_kept_inside(sandbox)


def test_openai_responses(sandbox: Sandbox) -> None:
    """Fewer and longer turns: the SDK itself takes a second to write 600 items."""
    client = gpt(sandbox)
    tools = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}]
    history: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(60):
        response = client.responses.create(model="gpt-5", input=history, tools=tools, instructions="Be brief.", store=False)
        history += [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        outputs = {call.call_id: read_file(call.call_id, 4_000) for call in calls}
        history += [{"type": "function_call_output", "call_id": call, "output": output} for call, output in outputs.items()]
    assert_kept_inside(sandbox, said=len(history), requests=60)


def test_what_is_counted_while_an_answer_streams_is_heard(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    report = Requests.report

    def noted(self: Requests, asked: Any, said: Any) -> None:
        if getattr(said, "usage", None) is not None:
            heard.append(asked[0])
        report(self, asked, said)

    monkeypatch.setattr(Requests, "report", noted)
    history: list[Any] = [{"role": "user", "content": "word " * 2_000}]
    with claude(sandbox).messages.stream(messages=history, **CLAUDE) as stream:
        stream.get_final_message()
    chat = {"model": "gpt-5", "messages": history, "stream": True, "stream_options": {"include_usage": True}}
    assert len(list(gpt(sandbox).chat.completions.create(**chat))) > 1
    assert len(list(gpt(sandbox).responses.create(model="gpt-5", input=history, store=False, stream=True))) > 1

    async def talk() -> None:
        async for _ in await gpt(sandbox, openai.AsyncOpenAI).chat.completions.create(**chat):
            pass

    asyncio.run(talk())
    assert heard == ["anthropic", "openai-chat", "openai-responses", "openai-chat"]


def test_without_a_window_the_same_talk_is_refused(sandbox: Sandbox) -> None:
    client = anthropic.Anthropic(base_url=sandbox.url, api_key="key", max_retries=0)
    history: list[Any] = [{"role": "user", "content": TASK}]
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        while (answer := client.messages.create(messages=history, **CLAUDE)).stop_reason == "tool_use":
            history += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": tell(answer)}]


def test_the_client_and_what_it_is_given_stay_as_they_are(sandbox: Sandbox) -> None:
    plain = openai.OpenAI(base_url=f"{sandbox.url}/v1", api_key="key", max_retries=0)
    client = louver.wrap(plain, **SETTINGS)
    assert type(plain) is openai.OpenAI and isinstance(client, openai.OpenAI) and client is not plain
    roles = ["user", "assistant"] * 30 + ["user"]
    history: list[Any] = [{"role": role, "content": "word " * 1_000} for role in roles]
    before = copy.deepcopy(history)
    for asked in (client, client.with_options(timeout=30)):
        asked.chat.completions.create(model="gpt-5", messages=history)
    assert history == before
    entries = sandbox.journal()
    assert [entry["status"] for entry in entries] == [200, 200] and entries[0]["messages"] < 60
    with pytest.raises(openai.BadRequestError):
        plain.chat.completions.create(model="gpt-5", messages=history)
    with pytest.raises(TypeError, match="expected a client"):
        louver.wrap(object())
