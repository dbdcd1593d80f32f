"""The OpenAI Agents SDK against the sandbox: 200 tool turns past the window, and its session stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner, SQLiteSession, function_tool
from agents.extensions import ToolOutputTrimmer
from agents.memory import SessionSettings
from agents.run import CallModelData, ModelInputData
from conftest import Sandbox
from openai import AsyncOpenAI, BadRequestError
from talks import TURNS, assert_kept_inside
from talks import read_file as read

from louver.adapters.openai_agents import LouverFilter


@function_tool
def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def run(sandbox: Sandbox, session: SQLiteSession, input_filter: Any) -> tuple[Any, list[Any]]:
    """What comes of a run, and what its session has then."""

    async def talk() -> tuple[Any, list[Any]]:
        client = AsyncOpenAI(base_url=f"{sandbox.url}/v1", api_key="key", max_retries=0)
        model = OpenAIResponsesModel("gpt-5", openai_client=client)
        settings = ModelSettings(store=False)
        agent = Agent("Reader", instructions="Be brief.", model=model, tools=[read_file], model_settings=settings)
        config = RunConfig(call_model_input_filter=input_filter, tracing_disabled=True)
        result = await Runner.run(agent, "Read every file.", session=session, run_config=config, max_turns=2 * TURNS)
        return result, await session.get_items()

    return asyncio.run(talk())


def test_a_run_stays_inside_and_its_session_whole(sandbox: Sandbox) -> None:
    result, stored = run(sandbox, SQLiteSession("whole"), LouverFilter(context_window=20_000))
    assert result.final_output == "All is read."
    for items in (result.to_input_list(), stored):
        outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
        assert outputs == [read("a.txt")] * TURNS
    assert_kept_inside(sandbox)


@pytest.mark.parametrize("theirs", ["limit", "trimmer"])
def test_what_they_offer_does_not_keep_a_run_inside(sandbox: Sandbox, theirs: str) -> None:
    """A session is read once, and their trimmer looks for older tasks: a run with one task grows until it is refused."""
    settings = SessionSettings(limit=10) if theirs == "limit" else None
    with pytest.raises(BadRequestError, match="context"):
        run(sandbox, SQLiteSession(theirs, session_settings=settings), ToolOutputTrimmer() if theirs == "trimmer" else None)
    assert sandbox.journal()[-1]["status"] == 400


def test_a_filter_that_counts_items_tears_pairs_apart(sandbox: Sandbox) -> None:
    def newest(data: CallModelData[Any]) -> ModelInputData:
        return ModelInputData(data.model_data.input[-10:], data.model_data.instructions)

    with pytest.raises(BadRequestError, match="No tool call found"):
        run(sandbox, SQLiteSession("newest"), newest)
