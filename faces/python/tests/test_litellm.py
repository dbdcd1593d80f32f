"""LiteLLM against the sandbox: 200 tool turns past the window, by its SDK and by its hooks."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Sandbox
from talks import TURNS, assert_kept_inside, read_file, tool_turns

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

litellm = pytest.importorskip("litellm", reason="skipped: litellm needs an older openai and is tested in its own environment")

import louver  # noqa: E402
from louver.adapters.litellm import LouverHook  # noqa: E402

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}}]
TASK = {"role": "user", "content": "Read every file."}


def call(sandbox: Sandbox, history: list[Any]) -> dict[str, Any]:
    place = {"api_base": f"{sandbox.url}/v1", "api_key": "key", "num_retries": 0}
    return {"model": "openai/gpt-5", "messages": history, "tools": TOOLS, **place}


def note(history: list[Any], answer: Any) -> bool:
    message = answer.choices[0].message
    history.append(message.model_dump(exclude_none=True))
    calls = message.tool_calls or []
    history += [{"role": "tool", "tool_call_id": call.id, "content": read_file("a")} for call in calls]
    return bool(calls)


def test_a_call_of_the_sdk(sandbox: Sandbox) -> None:
    hook = LouverHook(context_window=20_000)
    history: list[Any] = [TASK]
    while note(history, litellm.completion(**hook.fit("openai-chat", call(sandbox, history)))):
        pass
    assert len(history) == 2 + 2 * TURNS
    assert_kept_inside(sandbox)


@pytest.fixture
def registered() -> Iterator[None]:
    litellm.callbacks = [LouverHook(context_window=20_000)]
    yield
    litellm.callbacks = []


def test_the_hook_of_its_asynchronous_calls(sandbox: Sandbox, registered: None) -> None:
    async def talk() -> list[Any]:
        history: list[Any] = [TASK]
        while note(history, await litellm.acompletion(**call(sandbox, history))):
            pass
        return history

    assert len(asyncio.run(talk())) == 2 + 2 * TURNS
    assert_kept_inside(sandbox)


@pytest.mark.parametrize("call_type", ["completion", "acompletion", "anthropic_messages", "aresponses", "aembedding"])
def test_the_hook_of_its_proxy(call_type: str) -> None:
    hook = LouverHook(context_window=4_000, max_output=500)
    plain = [{"role": role, "content": read_file(f"{turn}")} for turn in range(60) for role in ("user", "assistant")]
    key = "input" if call_type == "aresponses" else "messages"
    data = {"model": "gpt-5", key: [*plain, TASK], "metadata": {"user": 1}, "litellm_call_id": "x"}
    before = copy.deepcopy(data)
    fitted = asyncio.run(hook.async_pre_call_hook(None, None, data, call_type))
    assert data == before
    if call_type == "aembedding":
        assert fitted is data
        return
    assert len(fitted[key]) < len(data[key]) and fitted[key][-1] is TASK
    # What was fitted once is not fitted again.
    assert asyncio.run(hook.async_pre_call_deployment_hook(fitted, call_type)) is fitted


def test_their_own_trimming_tears_pairs_apart() -> None:
    from litellm.utils import trim_messages

    messages = tool_turns(40)
    trimmed = trim_messages(copy.deepcopy(messages), model="gpt-4o", max_tokens=2_000)
    assert louver.check(trimmed, format="openai-chat") != []
    ours = louver.trim(messages, model="gpt-4o", context_window=3_000, max_output=500)
    assert len(ours) < len(messages) and louver.check(ours, format="openai-chat") == []
