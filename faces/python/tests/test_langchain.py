"""LangChain's agent against the sandbox: 200 tool turns past the window, and its state stays whole."""

from __future__ import annotations

import asyncio
import gc
import weakref
from base64 import b64encode
from typing import Any

from conftest import Sandbox
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.messages.utils import convert_to_openai_messages, count_tokens_approximately
from langchain_core.tools import StructuredTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr
from talks import TURNS, assert_kept_inside, picture
from talks import read_file as read

import louver
from louver.adapters.langchain import LouverMiddleware


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def model_of(sandbox: Sandbox) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-5", base_url=f"{sandbox.url}/v1", api_key=SecretStr("key"), max_retries=0)


def agent(sandbox: Sandbox, middleware: Any = None, **more: Any) -> Any:
    window = middleware or LouverMiddleware(context_window=20_000)
    return create_agent(model_of(sandbox), [read_file], system_prompt="Be brief.", middleware=[window], **more)


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


def test_their_own_summaries_erase_the_state(sandbox: Sandbox) -> None:
    """What their summary stands for is gone from the state and from the checkpoint; ours leaves both alone (above)."""
    summaries = SummarizationMiddleware(model_of(sandbox), trigger=("tokens", 8_000), keep=("messages", 10))
    asked = agent(sandbox, summaries, checkpointer=InMemorySaver())
    asked.invoke(TASK, CONFIG)
    assert len(asked.get_state(CONFIG).values["messages"]) < TURNS


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


def test_messages_that_change_in_place_are_noticed() -> None:
    from langchain.agents.middleware.types import ModelRequest

    messages = history(3)
    middleware = LouverMiddleware(context_window=20_000, counter="chars4")
    request: Any = ModelRequest(model=ChatOpenAI(model="gpt-5", api_key=SecretStr("k")), messages=messages)

    def tokens(middleware: LouverMiddleware) -> int:
        fit = middleware.fit(request)[1].fit
        assert fit is not None
        return fit.tokens_before

    def change_a_call() -> None:
        messages[1].tool_calls[0]["args"]["path"] = "elsewhere, " * 9

    def change_a_result() -> None:
        messages[2].content = "Something else. " * 99

    counted = [tokens(middleware), tokens(middleware)]
    assert counted[0] == counted[1]
    for change in (change_a_call, change_a_result, messages.pop):
        change()
        # As one counts that sees them for the first time.
        counted.append(tokens(middleware))
        assert counted[-1] == tokens(LouverMiddleware(context_window=20_000, counter="chars4")) != counted[-2]


def test_images_are_shown_as_images() -> None:
    from langchain.agents.middleware.types import ModelRequest

    data = b64encode(picture()).decode()
    own: Any = {"type": "image", "base64": data, "mime_type": "image/png"}
    older: Any = {"type": "image", "source_type": "base64", "data": data, "mime_type": "image/png"}
    theirs: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    wire: Any = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    for shown in (own, older, theirs, wire):
        call = AIMessage("Step.", tool_calls=[{"name": "see", "args": {}, "id": "a"}])
        result = ToolMessage([{"type": "text", "text": "word " * 9_000}, shown], tool_call_id="a")
        messages: list[Any] = [HumanMessage(["See.", shown]), call, result]
        middleware = LouverMiddleware(context_window=12_000, max_output=500, counter="chars4")
        model = ChatOpenAI(model="gpt-5", api_key=SecretStr("k"))
        small: Any = ModelRequest(model=model, messages=messages[:2])
        fitted, turn = middleware.fit(small)
        assert fitted is small and turn.fit is not None and turn.fit.tokens_before < 10_000
        fitted, turn = middleware.fit(ModelRequest(model=model, messages=messages))
        assert turn.fit is not None and turn.fit.tokens_before < 20_000
        text, image = fitted.messages[-1].content
        assert image == shown and isinstance(text, dict) and 1_000 < len(text["text"]) < 40_000


def test_tools_of_earlier_calls_are_forgotten() -> None:
    from langchain.agents.middleware.types import ModelRequest

    middleware = LouverMiddleware(context_window=20_000, counter="chars4")
    model, gone = ChatOpenAI(model="gpt-5", api_key=SecretStr("k")), []
    for turn in range(5):
        own = StructuredTool.from_function(lambda path: path, name=f"read_{turn}", description="Reads a file.")
        request: Any = ModelRequest(model=model, messages=history(1), tools=[own, read_file, {"name": "search"}])
        middleware.fit(request)
        gone.append(weakref.ref(own))
        del own, request
    gc.collect()
    assert [tool() is None for tool in gone] == [True] * 4 + [False]


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
