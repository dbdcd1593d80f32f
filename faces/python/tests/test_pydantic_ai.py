"""pydantic-ai's agent against the sandbox: 200 tool turns past the window, and its messages stay whole."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Sandbox
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from talks import TURNS, assert_kept_inside, picture
from talks import read_file as read

from louver import Conversations
from louver.adapters.pydantic_ai import LouverCapability, _message, _wire


def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def run(sandbox: Sandbox, capability: Any) -> Any:
    model = OpenAIChatModel("gpt-5", provider=OpenAIProvider(base_url=f"{sandbox.url}/v1", api_key="key"))
    agent = Agent(model, tools=[read_file], capabilities=[capability], instructions="Be brief.")
    return agent.run_sync("Read every file.", usage_limits=UsageLimits(request_limit=None))


def test_an_agent_stays_inside_and_its_messages_whole(sandbox: Sandbox) -> None:
    result = run(sandbox, LouverCapability(context_window=20_000))
    assert result.output == "All is read."
    messages = result.all_messages()
    assert len(messages) == 2 + 2 * TURNS
    results = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    assert [part.content for part in results] == [read("a.txt")] * TURNS
    assert_kept_inside(sandbox)


def test_their_own_processor_forgets_what_it_leaves_out(sandbox: Sandbox) -> None:
    """What a history processor keeps out of a request is gone from the run's messages, too."""
    result = run(sandbox, ProcessHistory(lambda messages: messages[-5:]))
    assert result.output == "All is read." and len(result.all_messages()) < 10


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
def test_a_retry_prompt_is_shortened_as_a_result_is() -> None:
    call = ModelResponse([ToolCallPart("read_file", {"path": path}, path) for path in ("a", "b", "c")])
    results = [
        RetryPromptPart("word " * 9_000, tool_name="read_file", tool_call_id="a"),
        ToolReturnPart("read_file", {"lines": 2}, "b"),
        RetryPromptPart("Say what you mean.", tool_name=None, tool_call_id="c"),
        ToolReturnPart("read_file", "Short.", "c"),
    ]
    history = [ModelRequest([UserPromptPart("Read.")]), call, ModelRequest(results)]
    window = Conversations(format="anthropic", context_window=8_000, max_output=500, counter="chars4")
    turn = window.fit({"messages": history}, wire=_wire, make=_message)
    *kept, changed = turn.request["messages"]
    assert kept == history[:2] and kept[1] is call
    assert 1_000 < len(changed.parts[0].content) < 30_000
    assert changed.parts[0].model_response().count("try again") == 1
    assert [id(part) for part in changed.parts[1:]] == [id(part) for part in results[1:]]
    assert turn.fit is not None and turn.fit.tokens_after >= len(changed.parts[0].model_response()) // 4


def test_images_are_shown_as_images() -> None:
    shown = BinaryContent(picture(), media_type="image/png")
    prompt = UserPromptPart(["See.", shown, CachePoint(), ImageUrl("https://example.com/a.png")])
    call = ModelResponse([ToolCallPart("see", {}, "a")])
    result = ToolReturnPart("see", ["word " * 9_000, shown], "a")
    history = [ModelRequest([prompt]), call, ModelRequest([result])]
    window = Conversations(format="anthropic", context_window=12_000, max_output=500, counter="chars4")
    small = window.fit({"messages": history[:2]}, wire=_wire, make=_message)
    assert small.fit is not None and small.fit.tokens_before < 10_000 and small.is_unchanged
    turn = window.fit({"messages": history}, wire=_wire, make=_message)
    changed = turn.request["messages"][-1].parts[0]
    assert turn.fit is not None and turn.fit.tokens_before < 20_000 and turn.conversation == small.conversation
    text, image = changed.content
    assert image is shown and 1_000 < len(text) < 40_000
    # A mark for the cache that has moved on makes no other message.
    later = [ModelRequest([UserPromptPart(["See.", shown, ImageUrl("https://example.com/a.png")])]), call]
    assert window.fit({"messages": [*later, history[2]]}, wire=_wire, make=_message).conversation == turn.conversation
