"""One turn of an agent's loop: what it costs to fit a history that is handed over whole, conversion included.

    faces/python/bench.sh [MESSAGES...]      (default: 50 500 5000, and what threads do)

Every way gets the same conversation and half of its tokens as its window. The frameworks' own trimming starts anew at each
turn. Louver's window has seen the history up to the turn before, as it has in an agent; "first" is the turn at which it
sees all of it for the first time. "walk" is what it costs to write the framework's list once by its own means. The ways take
turns, so that other work disturbs all of them, and the quickest of several turns counts: it disturbs that the least. A
framework that makes copies for each call has made them before its turn is measured.
"""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests"))
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import louver  # noqa: E402
from talks import tool_turns  # noqa: E402

TURNS = 25
# A way that has taken so long altogether has had enough turns.
PATIENCE_SECONDS = 20
# What would take longer than this, if ten times the messages take a hundred times as long, is not measured.
TOO_SLOW_SECONDS = 10.0

Messages = list[Any]
Way = Callable[[Messages], Any]


def seconds_of(way: Way, messages: Messages) -> float:
    """Of the core, not of the clock: what is waited for other work counts for none."""
    start = time.thread_time()
    way(messages)
    return time.thread_time() - start


def compared(
    messages: Messages, more: Messages, ours: Way, walk: Way, handed: Callable[[Messages], Messages] = list, **theirs: Way
) -> dict[str, float]:
    """What the quickest turn costs each way, with a list that is longer by a call and its result at each."""
    ways = {"walk": walk, **theirs, "louver": ours}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    first = seconds_of(ours, handed(messages))
    for turn in range(TURNS):
        messages.extend(more[2 * turn : 2 * turn + 2])
        for name, way in ways.items():
            if sum(spent[name]) < PATIENCE_SECONDS:
                spent[name].append(seconds_of(way, handed(messages)))
    best = {name: min(seconds) for name, seconds in spent.items()}
    return {**{name: best[name] for name in best if name != "louver"}, "louver, first": first, "louver": best["louver"]}


def plain(history: Messages, more: Messages, tokens: int, counter: str = "chars4") -> dict[str, float]:
    window = louver.Window(format="openai-chat", **{**room(tokens), "counter": counter})
    return compared(list(history), more, window.view_of, json.dumps)


def langchain(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately
    from louver.adapters.langchain import LouverMiddleware

    middleware = LouverMiddleware(**room(tokens))
    messages: Messages = convert_to_messages(history)
    # LangChain makes the request, whatever is done with it.
    request: Any = ModelRequest(model=FakeListChatModel(responses=[""]), messages=messages)
    how: Any = {"max_tokens": tokens, "token_counter": count_tokens_approximately, "strategy": "last",
                "include_system": True, "start_on": "human", "end_on": ("human", "tool")}  # fmt: skip
    return compared(
        messages, convert_to_messages(more), lambda _: middleware.fit(request), convert_to_openai_messages,
        trim_messages=lambda given: trim_messages(given, **how),
    )  # fmt: skip


def litellm(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from litellm.utils import trim_messages
    from louver.adapters.litellm import LouverHook

    hook = LouverHook(**room(tokens))
    return compared(
        list(history), more,
        lambda messages: hook.fit("openai-chat", {"model": "gpt-4o", "messages": messages}), json.dumps,
        trim_messages=lambda messages: trim_messages(list(messages), model="gpt-4o", max_tokens=tokens),
    )  # fmt: skip


def openai_agents(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from agents import Agent
    from agents.extensions import ToolOutputTrimmer
    from agents.run import CallModelData, ModelInputData
    from louver.adapters.openai_agents import LouverFilter

    def items(messages: Messages) -> Messages:
        """The same as the Responses API has it."""
        made: Messages = []
        for message in messages:
            if message["role"] == "tool":
                call_id, output = message["tool_call_id"], message["content"]
                made.append({"type": "function_call_output", "call_id": call_id, "output": output})
            for call in message.get("tool_calls", []):
                made.append({"type": "function_call", "call_id": call["id"], **call["function"]})
            if message["role"] == "user":
                made.append({"role": "user", "content": message["content"]})
        return made

    agent: Any = Agent("A", model="gpt-5")
    ours, theirs = LouverFilter(**room(tokens)), ToolOutputTrimmer()

    def data(given: Messages) -> CallModelData[Any]:
        return CallModelData(ModelInputData(list(given), "Be brief."), agent, None)

    return compared(
        items(history), items(more), lambda given: ours(data(given)), json.dumps,
        ToolOutputTrimmer=lambda given: theirs(data(given)),
    )  # fmt: skip


def pydantic_ai(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from louver.adapters.pydantic_ai import LouverCapability
    from pydantic_ai.messages import (
        ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart,
    )  # fmt: skip
    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
    from pydantic_ai.models.test import TestModel

    def made(message: dict[str, Any]) -> Any:
        if message["role"] == "tool":
            return ModelRequest([ToolReturnPart("read_file", message["content"], message["tool_call_id"])])
        if message["role"] == "user":
            return ModelRequest([UserPromptPart(message["content"])])
        calls = [ToolCallPart("read_file", call["function"]["arguments"], call["id"]) for call in message["tool_calls"]]
        return ModelResponse([TextPart(message["content"]), *calls])

    capability: Any = LouverCapability(**room(tokens))
    around: Any = {"model": TestModel(), "model_settings": None, "model_request_parameters": ModelRequestParameters()}

    def ours(messages: Messages) -> Any:
        return awaited(capability.before_model_request(None, ModelRequestContext(messages=messages, **around)))

    walk = ModelMessagesTypeAdapter.dump_json
    return compared([made(message) for message in history[1:]], [made(message) for message in more], ours, walk)


def llama_index(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.memory import ChatMemoryBuffer
    from llama_index.llms.openai.utils import to_openai_message_dicts
    from louver.adapters.llama_index import LouverMemory

    def made(message: dict[str, Any]) -> Any:
        if message["role"] == "tool":
            return ChatMessage(message["content"], role="tool", additional_kwargs={"tool_call_id": message["tool_call_id"]})
        calls = [
            ToolCallBlock(tool_call_id=call["id"], tool_name="read_file", tool_kwargs=call["function"]["arguments"])
            for call in message.get("tool_calls", [])
        ]
        return ChatMessage(role=message["role"], blocks=[TextBlock(text=message["content"]), *calls])

    memory = LouverMemory.from_defaults(**room(tokens))

    def ours(messages: Messages) -> Any:
        memory.chat_store.store["chat_history"] = messages  # type: ignore[attr-defined]
        return memory.get()

    def theirs(messages: Messages) -> Any:
        buffer = ChatMemoryBuffer.from_defaults(token_limit=tokens)
        buffer.chat_store.store["chat_history"] = messages  # type: ignore[attr-defined]
        return buffer.get()

    return compared(
        [made(message) for message in history], [made(message) for message in more], ours, to_openai_message_dicts,
        ChatMemoryBuffer=theirs,
    )  # fmt: skip


def strands(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from louver.adapters.strands import LouverInput
    from strands import Agent
    from strands.agent.conversation_manager import SlidingWindowConversationManager
    from strands.middleware import InvokeModelContext
    from strands.models.openai import OpenAIModel

    def made(message: dict[str, Any]) -> Any:
        if message["role"] == "tool":
            result = {"toolUseId": message["tool_call_id"], "status": "success", "content": [{"text": message["content"]}]}
            return {"role": "user", "content": [{"toolResult": result}]}
        uses = [
            {"toolUse": {"toolUseId": call["id"], "name": "read_file", "input": json.loads(call["function"]["arguments"])}}
            for call in message.get("tool_calls", [])
        ]
        return {"role": message["role"], "content": [{"text": message["content"]}, *uses]}

    model = OpenAIModel(client_args={"api_key": "key"}, model_id="gpt-5")
    agent: Any = Agent(model=model, callback_handler=None)
    manager = SlidingWindowConversationManager(window_size=len(history) // 2)
    fit = LouverInput(**room(tokens))

    def ours(messages: Messages) -> Any:
        return fit(InvokeModelContext(agent, messages, "Be brief.", [], None, {}, model))

    def theirs(messages: Messages) -> Any:
        agent.messages = messages
        manager.apply_management(agent)

    return compared(
        [made(message) for message in history[1:]], [made(message) for message in more], ours, json.dumps,
        copy.deepcopy, SlidingWindowConversationManager=theirs,
    )  # fmt: skip


def google_adk(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
    from google.genai.types import Content, GenerateContentConfig, Part
    from louver.adapters.google_adk import LouverPlugin

    def made(message: dict[str, Any]) -> Any:
        if message["role"] == "tool":
            part = Part.from_function_response(name="read_file", response={"result": message["content"]})
            return Content(role="user", parts=[part])
        calls = [
            Part.from_function_call(name="read_file", args=json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls", [])
        ]
        role = "model" if message["role"] == "assistant" else "user"
        return Content(role=role, parts=[Part(text=message["content"]), *calls])

    def asked(plugin: Any) -> Way:
        def fit(contents: Messages) -> Any:
            request = LlmRequest(model="gemini-2.5-pro", contents=contents, config=GenerateContentConfig())
            awaited(plugin.before_model_callback(callback_context=None, llm_request=request))
            return request

        return fit

    return compared(
        [made(message) for message in history[1:]], [made(message) for message in more],
        asked(LouverPlugin(**room(tokens))), lambda contents: [content.model_dump(mode="json") for content in contents],
        copy.deepcopy, ContextFilterPlugin=asked(ContextFilterPlugin(num_invocations_to_keep=1)),
    )  # fmt: skip


def smolagents(history: Messages, more: Messages, tokens: int) -> dict[str, float]:
    import smolagents as agents
    from louver.adapters.smolagents import louver_agent
    from smolagents.memory import ActionStep, ToolCall
    from smolagents.monitoring import Timing

    def steps(messages: Messages) -> Messages:
        """A step for each call; the memory writes the messages."""
        return [
            ActionStep(
                step_number=number, timing=Timing(0), model_output=call["content"], observations=result["content"],
                tool_calls=[ToolCall("read_file", call["tool_calls"][0]["function"]["arguments"], result["tool_call_id"])],
            )
            for number, (call, result) in enumerate(zip(messages[::2], messages[1::2], strict=True))
        ]  # fmt: skip

    def agent() -> Any:
        model = agents.OpenAIServerModel("gpt-5", api_base="http://127.0.0.1:9", api_key="key")
        return agents.ToolCallingAgent(tools=[], model=model, verbosity_level=0)

    def written(one: Any) -> Way:
        def write(given: Messages) -> Any:
            one.memory.steps = given
            return one.write_memory_to_messages()

        return write

    ours = louver_agent(agent(), **room(tokens))
    return compared(steps(history[2:]), steps(more), written(ours), written(agent()))


# Agents run in a loop that is there already.
LOOP = asyncio.new_event_loop()


def awaited(turn: Coroutine[Any, Any, Any]) -> Any:
    return LOOP.run_until_complete(turn)


def room(tokens: int) -> Any:
    return {"context_window": tokens + 1_000, "max_output": 1_000, "counter": "chars4"}


FRAMEWORKS: dict[str, tuple[str, Callable[[Messages, Messages, int], dict[str, float]]]] = {
    "a list of dicts": ("louver", plain),
    "a list of dicts, exact counts": ("louver", partial(plain, counter="o200k")),
    "LangChain": ("langchain", langchain),
    "LiteLLM": ("litellm", litellm),
    "OpenAI Agents": ("agents", openai_agents),
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "LlamaIndex": ("llama_index", llama_index),
    "Strands": ("strands", strands),
    "Google ADK": ("google.adk", google_adk),
    "smolagents": ("smolagents", smolagents),
}


def is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def threads() -> None:
    """How many cores eight threads keep busy, beside two processes: those get what the machine has to give."""
    text = json.dumps({"model": "gpt-4", "messages": tool_turns(4_000)})

    def work(times: int) -> None:
        for _ in range(times):
            louver.trim(text, policy="ladder", context_window=16_000, counter="chars4")

    def busy(start: Callable[[], list[Any]]) -> float:
        """Seconds of all cores for each second."""
        before, wall = os.times(), time.perf_counter()
        for one in start():
            one.join()
        wall, after = time.perf_counter() - wall, os.times()
        return sum(after[:4], -sum(before[:4])) / wall

    def started(kind: Any, count: int) -> list[Any]:
        made = [kind(target=work, args=(16 // count,)) for _ in range(count)]
        for one in made:
            one.start()
        return made

    forked = multiprocessing.get_context("fork")
    work(1)
    kinds: dict[str, Callable[[], list[Any]]] = {
        "one thread": lambda: started(threading.Thread, 1),
        "eight threads": lambda: started(threading.Thread, 8),
        "two processes": lambda: started(forked.Process, 2),
    }
    print("cores that are busy, in five rounds")
    rounds = [{name: busy(start) for name, start in kinds.items()} for _ in range(5)]
    for name in kinds:
        print(f"  {name:<16}", *(f"{one[name]:.2f}" for one in rounds))


def main() -> None:
    if sys.argv[1:] == ["threads"]:
        return threads()
    sizes = [int(size) for size in sys.argv[1:]] or [50, 500, 5_000]
    # What took how long with how many messages.
    slowest: dict[str, tuple[float, int]] = {}
    for size in sizes:
        history = tool_turns(size // 2 - 1, 1_000)
        tokens = sum(len(json.dumps(message)) for message in history) // 8
        print(f"{len(history)} messages, {tokens} tokens may stay", flush=True)
        for framework, (module, measure) in FRAMEWORKS.items():
            if not is_here(module):
                continue
            before, fewer = slowest.get(framework, (0.0, size))
            # Some look through everything for each message that they leave out.
            if before * (size / fewer) ** 2 > TOO_SLOW_SECONDS:
                print(f"  {framework}: its own trimming took {before:.2f} s with {fewer}, and is not measured")
                continue
            ways = measure(history, tool_turns(TURNS)[2:], tokens)
            slowest[framework] = (max(ways.values()), size)
            for name, seconds in ways.items():
                times = f"{seconds / ways['louver']:>9.1f} times louver"
                print(f"  {framework + ', ' + name:<48} {seconds * 1e3:>10.3f} ms {times}", flush=True)


if __name__ == "__main__":
    main()
