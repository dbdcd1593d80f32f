"""LangChain's agent against the sandbox: 200 tool turns past the window, and its state stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

from conftest import Sandbox
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.messages.utils import convert_to_openai_messages, count_tokens_approximately
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr
from talks import TURNS, assert_kept_inside
from talks import read_file as read

import louver
from louver.adapters.langchain import LouverMiddleware


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def agent(sandbox: Sandbox, **more: Any) -> Any:
    model = ChatOpenAI(model="gpt-5", base_url=f"{sandbox.url}/v1", api_key=SecretStr("key"), max_retries=0)
    window = LouverMiddleware(context_window=20_000)
    return create_agent(model, [read_file], system_prompt="Be brief.", middleware=[window], **more)


TASK: Any = {"messages": [HumanMessage("Read every file.")]}
CONFIG: Any = {"recursion_limit": 10 * TURNS, "configurable": {"thread_id": "1"}}


def assert_whole(messages: list[Any]) -> None:
    """The state has every message, as the model and the tool gave it."""
    assert len(messages) == 2 + 2 * TURNS
    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert len(results) == TURNS and {message.content for message in results} == {read("a.txt")}
    assert messages[-1].content == "All is read."


def test_an_agent_stays_inside_and_its_state_whole(sandbox: Sandbox) -> None:
    asked = agent(sandbox, checkpointer=InMemorySaver())
    assert_whole(asked.invoke(TASK, CONFIG)["messages"])
    assert_whole(asked.get_state(CONFIG).values["messages"])
    assert_kept_inside(sandbox)


def test_the_same_asynchronously(sandbox: Sandbox) -> None:
    assert_whole(asyncio.run(agent(sandbox).ainvoke(TASK, CONFIG))["messages"])
    assert_kept_inside(sandbox)


def history(turns: int) -> list[Any]:
    messages: list[Any] = [HumanMessage("Read.")]
    for turn in range(turns):
        calls = [{"name": "read_file", "args": {"path": str(turn)}, "id": f"{turn}_{call}"} for call in range(2)]
        messages.append(AIMessage(f"Step {turn}.", tool_calls=calls))
        messages += [ToolMessage(read(str(turn)), tool_call_id=call["id"]) for call in calls]
    return messages


def test_kept_messages_are_the_same_objects_and_pairs_stay() -> None:
    from langchain.agents.middleware.types import ModelRequest

    messages = history(100)
    middleware = LouverMiddleware(context_window=20_000, counter="chars4")
    request: Any = ModelRequest(model=ChatOpenAI(model="gpt-5", api_key=SecretStr("k")), messages=messages)
    fitted, turn = middleware.fit(request)
    own = {id(message) for message in messages}
    assert request.messages is messages and len(messages) == 301 and len(fitted.messages) < 301
    assert sum(id(message) in own for message in fitted.messages) == sum(kept for _, kept in turn.origins) > 5
    assert louver.check(convert_to_openai_messages(fitted.messages)) == []
    few: Any = ModelRequest(model=request.model, messages=messages[:4])
    assert middleware.fit(few)[0] is few


def test_their_own_trimming_tears_pairs_apart() -> None:
    """What LangChain's trimming gives for a budget that ends inside a turn is refused; ours is legal for every budget."""
    messages = history(40)
    refused = 0
    for budget in range(2_000, 6_000, 250):
        trimmed = trim_messages(messages, max_tokens=budget, token_counter=count_tokens_approximately, strategy="last")
        refused += bool(louver.check(convert_to_openai_messages(trimmed), format="openai-chat"))
        ours = louver.trim(
            convert_to_openai_messages(messages), format="openai-chat", counter="chars4", policy="newest",
            context_window=budget + 1_000, max_output=500,
        )  # fmt: skip
        assert louver.check(ours, format="openai-chat") == []
    assert refused > 0
