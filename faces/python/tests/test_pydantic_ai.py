"""pydantic-ai's agent against the sandbox: 200 tool turns past the window, and its messages stay whole."""

from __future__ import annotations

from typing import Any

from conftest import Sandbox
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from talks import TURNS, assert_kept_inside
from talks import read_file as read

from louver.adapters.pydantic_ai import LouverCapability


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
