"""LiteLLM against the sandbox: 200 tool turns past the window, by its SDK and by its hooks."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
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
# The proxy starts with a key only that nobody guesses.
KEY = f"sk-{secrets.token_hex(32)}"


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


@pytest.fixture
def proxy(sandbox: Sandbox, tmp_path: Path) -> Iterator[str]:
    """LiteLLM's own proxy with the hook, in front of the sandbox."""
    pytest.importorskip("fastapi", reason="skipped: litellm is here without its proxy")
    (tmp_path / "hooks.py").write_text(
        "from louver.adapters.litellm import LouverHook\nlouver_hook = LouverHook(context_window=20_000)\n"
    )
    openai = {"model": "openai/gpt-5", "api_base": f"{sandbox.url}/v1", "api_key": "key"}
    claude = {"model": "anthropic/claude-sonnet-5-5", "api_base": sandbox.url, "api_key": "key"}
    config = {
        "model_list": [
            {"model_name": "gpt-5", "litellm_params": openai},
            {"model_name": "claude", "litellm_params": claude},
        ],
        "litellm_settings": {"callbacks": "hooks.louver_hook", "num_retries": 0},
        "general_settings": {"master_key": KEY},
    }
    # JSON is YAML, too.
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("litellm")
    command = [str(program), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/health/liveliness", process, tmp_path / "log")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path, patience_seconds: int = 300) -> None:
    started = time.monotonic()
    while process.poll() is None and time.monotonic() - started < patience_seconds:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the proxy does not start: {log.read_text()}")


def asked(url: str, body: dict[str, Any]) -> Any:
    """The proxy's answer to a request, as any client sends it."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def test_their_proxy_with_the_hook(sandbox: Sandbox, proxy: str) -> None:
    """Chat Completions and Messages, each past the window, by one proxy: it takes its time to start."""
    history: list[Any] = [TASK]
    calls: Any = True
    while calls:
        answer = asked(f"{proxy}/v1/chat/completions", {"model": "gpt-5", "messages": history, "tools": TOOLS})
        message = answer["choices"][0]["message"]
        calls = message.get("tool_calls") or []
        history.append({key: value for key, value in message.items() if value is not None})
        history += [{"role": "tool", "tool_call_id": call["id"], "content": read_file("a")} for call in calls]
    assert len(history) == 2 + 2 * TURNS
    assert_kept_inside(sandbox)

    tools = [{"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}]
    history, calls = [TASK], True
    while calls:
        body = {"model": "claude", "max_tokens": 1_000, "messages": history, "tools": tools}
        blocks = asked(f"{proxy}/v1/messages", body)["content"]
        calls = [block for block in blocks if block["type"] == "tool_use"]
        history.append({"role": "assistant", "content": blocks})
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": read_file("a")} for call in calls]
        if results:
            history.append({"role": "user", "content": results})
    assert len(history) == 2 + 2 * TURNS
    assert_kept_inside(sandbox, requests=2 * (TURNS + 1))
