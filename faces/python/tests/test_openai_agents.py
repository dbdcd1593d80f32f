"""The OpenAI Agents SDK against the sandbox: 200 tool turns past the window, and its session stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner, SQLiteSession, function_tool
from conftest import Sandbox
from openai import AsyncOpenAI
from talks import TURNS, assert_kept_inside
from talks import read_file as read

from louver.adapters.openai_agents import LouverFilter


@function_tool
def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def test_a_run_stays_inside_and_its_session_whole(sandbox: Sandbox) -> None:
    async def run() -> tuple[Any, list[Any]]:
        client = AsyncOpenAI(base_url=f"{sandbox.url}/v1", api_key="key", max_retries=0)
        model = OpenAIResponsesModel("gpt-5", openai_client=client)
        settings = ModelSettings(store=False)
        agent = Agent("Reader", instructions="Be brief.", model=model, tools=[read_file], model_settings=settings)
        session = SQLiteSession("whole")
        config = RunConfig(call_model_input_filter=LouverFilter(context_window=20_000), tracing_disabled=True)
        result = await Runner.run(agent, "Read every file.", session=session, run_config=config, max_turns=2 * TURNS)
        return result, await session.get_items()

    result, stored = asyncio.run(run())
    assert result.final_output == "All is read."
    for items in (result.to_input_list(), stored):
        outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
        assert outputs == [read("a.txt")] * TURNS
    assert_kept_inside(sandbox)
