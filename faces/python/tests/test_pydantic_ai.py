"""pydantic-ai's agent against the sandbox: 200 tool turns past the window, and its messages stay whole."""

from __future__ import annotations

from conftest import Sandbox
from pydantic_ai import Agent
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


def test_an_agent_stays_inside_and_its_messages_whole(sandbox: Sandbox) -> None:
    provider = OpenAIProvider(base_url=f"{sandbox.url}/v1", api_key="key")
    model = OpenAIChatModel("gpt-5", provider=provider)
    agent = Agent(model, tools=[read_file], capabilities=[LouverCapability(context_window=20_000)], instructions="Be brief.")
    result = agent.run_sync("Read every file.", usage_limits=UsageLimits(request_limit=None))
    assert result.output == "All is read."
    messages = result.all_messages()
    assert len(messages) == 2 + 2 * TURNS
    results = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    assert [part.content for part in results] == [read("a.txt")] * TURNS
    assert_kept_inside(sandbox)
