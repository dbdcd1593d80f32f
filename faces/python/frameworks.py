"""What each framework's own way against a full window costs beside Louver's, by the sandbox's books.

    faces/python/frameworks.sh [FRAMEWORK...]      (such as langchain; default: all)

One task, 200 calls of a tool, each with another result, in a window of 20,000 tokens. The sandbox judges every request as
the provider does, and keeps its prompt cache; dollars are those of gpt-5's input at the catalogue's prices, whatever the
wire format, so that rows can be compared. Where a refused request ends the run, what it would have cost is not known.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "tests"))
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from talks import TURNS, WINDOW, read_file  # noqa: E402

LOUVER = os.environ["LOUVER_BIN"]
TASK = "Read every file."
# What is left for the history where a way is told in tokens: the window without a reply and a margin.
TOKENS = 12_000
MESSAGES = 40

_calls = itertools.count()


def tool_result(path: str) -> str:
    """Another text at each call, as files are."""
    return read_file(f"{next(_calls)}-{path}")


Way = Callable[[str], None]


def langchain_ways() -> dict[str, Way]:
    from langchain.agents import create_agent
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, SummarizationMiddleware
    from langchain.agents.middleware.types import AgentMiddleware
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    from louver.adapters.langchain import LouverMiddleware

    class Trimmed(AgentMiddleware):  # type: ignore[type-arg]
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            kept = trim_messages(
                request.messages, max_tokens=TOKENS, token_counter=count_tokens_approximately, strategy="last"
            )
            return handler(request.override(messages=kept))

    @tool
    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def way(middleware: Callable[[Any], Any]) -> Way:
        def run(url: str) -> None:
            model = ChatOpenAI(model="gpt-5", base_url=f"{url}/v1", api_key="key", max_retries=0)  # type: ignore[arg-type]
            agent = create_agent(model, [read_file], system_prompt="Be brief.", middleware=[middleware(model)])
            agent.invoke({"messages": [{"role": "user", "content": TASK}]}, {"recursion_limit": 10 * TURNS})

        return run

    clearing = ClearToolUsesEdit(trigger=TOKENS, keep=3)
    return {
        "LangChain, `trim_messages`": way(lambda model: Trimmed()),
        "LangChain, `ContextEditingMiddleware`": way(lambda model: ContextEditingMiddleware(edits=[clearing])),
        "LangChain, `SummarizationMiddleware`": way(
            lambda model: SummarizationMiddleware(model, trigger=("tokens", TOKENS), keep=("messages", MESSAGES // 2))
        ),
        "LangChain, `LouverMiddleware`": way(lambda model: LouverMiddleware(context_window=WINDOW)),
    }


def agents_ways() -> dict[str, Way]:
    from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner, function_tool
    from agents.extensions import ToolOutputTrimmer
    from agents.run import ModelInputData
    from openai import AsyncOpenAI

    from louver.adapters.openai_agents import LouverFilter

    @function_tool
    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def newest(items: int) -> Callable[[Any], Any]:
        return lambda data: ModelInputData(data.model_data.input[-items:], data.model_data.instructions)

    def way(chosen: Callable[[], Any]) -> Way:
        def run(url: str) -> None:
            async def talk() -> None:
                client = AsyncOpenAI(base_url=f"{url}/v1", api_key="key", max_retries=0)
                model = OpenAIResponsesModel("gpt-5", openai_client=client)
                settings = ModelSettings(store=False)
                agent = Agent("R", instructions="Be brief.", model=model, tools=[read_file], model_settings=settings)
                config = RunConfig(call_model_input_filter=chosen(), tracing_disabled=True)
                await Runner.run(agent, TASK, run_config=config, max_turns=2 * TURNS)

            asyncio.run(talk())

        return run

    # A turn has three items here: so many of them begin with a result, or with what was said before the call.
    return {
        f"OpenAI Agents, a filter with `input[-{MESSAGES}:]`": way(lambda: newest(MESSAGES)),
        f"OpenAI Agents, a filter with `input[-{MESSAGES + 2}:]`": way(lambda: newest(MESSAGES + 2)),
        "OpenAI Agents, `ToolOutputTrimmer`": way(ToolOutputTrimmer),
        "OpenAI Agents, `LouverFilter`": way(lambda: LouverFilter(context_window=WINDOW)),
    }


def pydantic_ways() -> dict[str, Way]:
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    from louver.adapters.pydantic_ai import LouverCapability

    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def way(chosen: Callable[[], Any]) -> Way:
        def run(url: str) -> None:
            model = OpenAIChatModel("gpt-5", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="key"))
            agent = Agent(model, tools=[read_file], capabilities=[chosen()], instructions="Be brief.")
            agent.run_sync(TASK, usage_limits=UsageLimits(request_limit=None))

        return run

    return {
        f"pydantic-ai, a history processor with `messages[-{MESSAGES}:]`": way(
            lambda: ProcessHistory(lambda messages: messages[-MESSAGES:])
        ),
        "pydantic-ai, `LouverCapability`": way(lambda: LouverCapability(context_window=WINDOW)),
    }


def litellm_ways() -> dict[str, Way]:
    import litellm
    from litellm.utils import trim_messages

    from louver.adapters.litellm import LouverHook

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [{"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": schema}}]

    def way(chosen: Callable[[], Callable[[dict[str, Any]], dict[str, Any]]]) -> Way:
        def run(url: str) -> None:
            history: list[Any] = [{"role": "user", "content": TASK}]
            fit, calls = chosen(), True
            while calls:
                call = {"model": "openai/gpt-5", "messages": history, "tools": tools, "num_retries": 0}
                answer = litellm.completion(**fit(call), api_base=f"{url}/v1", api_key="key", max_retries=0)
                message = answer.choices[0].message
                history.append(message.model_dump(exclude_none=True))
                calls = message.tool_calls or []
                history += [{"role": "tool", "tool_call_id": one.id, "content": tool_result("a.txt")} for one in calls]

        return run

    def own(call: dict[str, Any]) -> dict[str, Any]:
        return {**call, "messages": trim_messages(list(call["messages"]), model="gpt-4o", max_tokens=TOKENS)}

    def ours() -> Any:
        hook = LouverHook(context_window=WINDOW)
        return lambda call: hook.fit("openai-chat", call)

    return {"LiteLLM, `trim_messages`": way(lambda: own), "LiteLLM, `LouverHook`": way(ours)}


def strands_ways() -> dict[str, Way]:
    import strands
    from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
    from strands.middleware import InvokeModelStage
    from strands.models.openai import OpenAIModel

    from louver.adapters.strands import LouverInput

    @strands.tool
    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def way(manager: Callable[[], Any], is_ours: bool = False) -> Way:
        def run(url: str) -> None:
            place = {"base_url": f"{url}/v1", "api_key": "key", "max_retries": 0}
            agent = strands.Agent(
                model=OpenAIModel(client_args=place, model_id="gpt-5"), tools=[read_file], system_prompt="Be brief.",
                conversation_manager=manager(), callback_handler=None,
            )  # fmt: skip
            if is_ours:
                agent.add_middleware(InvokeModelStage.Input, LouverInput(context_window=WINDOW))
            agent(TASK)

        return run

    return {
        "Strands, `SlidingWindowConversationManager`": way(
            lambda: SlidingWindowConversationManager(window_size=MESSAGES)
        ),
        "Strands, the same with `per_turn=True`": way(
            lambda: SlidingWindowConversationManager(window_size=MESSAGES, per_turn=True)
        ),
        "Strands, `LouverInput`": way(NullConversationManager, is_ours=True),
    }


def llama_index_ways() -> dict[str, Way]:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai_like import OpenAILike

    from louver.adapters.llama_index import LouverMemory, louver_llm

    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def way(is_ours: bool) -> Way:
        def run(url: str) -> None:
            llm: Any = OpenAILike(
                model="gpt-5", api_base=f"{url}/v1", api_key="key", max_retries=0, is_chat_model=True,
                is_function_calling_model=True, context_window=WINDOW,
            )  # fmt: skip
            llm = louver_llm(llm, context_window=WINDOW) if is_ours else llm
            memory = LouverMemory.from_defaults(llm=llm) if is_ours else Memory.from_defaults(token_limit=TOKENS)
            agent = FunctionAgent(tools=[read_file], llm=llm, system_prompt="Be brief.", streaming=False, timeout=900)

            async def talk() -> None:
                await agent.run(TASK, memory=memory, max_iterations=2 * TURNS)

            asyncio.run(talk())

        return run

    return {"LlamaIndex, `Memory`": way(False), "LlamaIndex, `louver_llm`": way(True)}


def google_adk_ways() -> dict[str, Way]:
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from louver.adapters.google_adk import LouverPlugin

    def read_file(path: str) -> str:
        """Reads a file."""
        return tool_result(path)

    def way(plugin: Callable[[], Any]) -> Way:
        def run(url: str) -> None:
            os.environ |= {"GOOGLE_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": url}

            async def talk() -> None:
                agent = LlmAgent(name="reader", model="gemini-2.5-pro", instruction="Be brief.", tools=[read_file])
                runner = InMemoryRunner(agent, app_name="books", plugins=[plugin()])
                session = await runner.session_service.create_session(app_name="books", user_id="u")
                task = types.Content(role="user", parts=[types.Part(text=TASK)])
                config = RunConfig(max_llm_calls=2 * TURNS)
                async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=task, run_config=config):
                    pass

            asyncio.run(talk())

        return run

    return {
        "Google ADK, `ContextFilterPlugin`": way(lambda: ContextFilterPlugin(num_invocations_to_keep=1)),
        f"Google ADK, the same with `contents[-{MESSAGES + 1}:]`": way(
            lambda: ContextFilterPlugin(custom_filter=lambda contents: contents[-MESSAGES - 1 :])
        ),
        "Google ADK, `LouverPlugin`": way(lambda: LouverPlugin(context_window=WINDOW)),
    }


def smolagents_ways() -> dict[str, Way]:
    import smolagents

    from louver.adapters.smolagents import louver_agent

    @smolagents.tool
    def read_file(path: str) -> str:
        """Reads a file.

        Args:
            path: Where it is.
        """
        return tool_result(path)

    def forget(step: Any, agent: Any) -> None:
        """As their guide has it: what older steps observed is taken out of the memory."""
        for old in agent.memory.steps:
            if isinstance(old, smolagents.ActionStep) and old.step_number <= step.step_number - MESSAGES // 2:
                old.observations = None

    def way(is_ours: bool) -> Way:
        def run(url: str) -> None:
            place = {"api_base": f"{url}/v1", "api_key": "key", "client_kwargs": {"max_retries": 0}}
            agent = smolagents.ToolCallingAgent(
                tools=[read_file], model=smolagents.OpenAIServerModel("gpt-5", **place), max_steps=TURNS,
                verbosity_level=0, step_callbacks=None if is_ours else {smolagents.ActionStep: forget},
            )  # fmt: skip
            (louver_agent(agent, context_window=WINDOW) if is_ours else agent).run(TASK)

        return run

    return {
        "smolagents, a step callback that empties old observations": way(False),
        "smolagents, `louver_agent`": way(True),
    }


FRAMEWORKS: dict[str, Callable[[], dict[str, Way]]] = {
    "langchain": langchain_ways,
    "agents": agents_ways,
    "pydantic_ai": pydantic_ways,
    "litellm": litellm_ways,
    "strands": strands_ways,
    "llama_index": llama_index_ways,
    "google.adk": google_adk_ways,
    "smolagents": smolagents_ways,
}


def is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def measured(way: Way) -> dict[str, Any]:
    """The sandbox's books after a run, as far as it went."""
    call = {"name": "read_file", "arguments": {"path": "a.txt"}}
    turns: list[dict[str, Any]] = [{"text": f"Step {turn}.", "calls": [call]} for turn in range(TURNS)]
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "scenario.json"
        scenario.write_text(json.dumps({"name": "long", "turns": [*turns, {"text": "All is read."}]}))
        command = [LOUVER, "sandbox", "--scenario", str(scenario), "--context-window", str(WINDOW)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            url = address if address.startswith("http") else f"http://{address}"
            error = None
            try:
                way(url)
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}"
            with urllib.request.urlopen(f"{url}/_sandbox/journal") as answer:
                journal = json.load(answer)
        finally:
            process.terminate()
            process.wait(timeout=20)
    return {"journal": journal, "error": error}


def price() -> tuple[float, float]:
    """Dollars of a token of input, and of one that the cache has."""
    shown = subprocess.run([LOUVER, "models", "gpt-5", "--json"], capture_output=True, check=True)
    model = next(model for model in json.loads(shown.stdout) if model["name"] == "gpt-5")
    return model["usd_per_million"]["input"] / 1e6, model["usd_per_million"]["cache_read"] / 1e6


def row(name: str, journal: list[dict[str, Any]], error: str | None) -> str:
    fresh, cached = price()
    refused = sum(entry["status"] != 200 for entry in journal)
    sent = sum(entry["input_tokens"] for entry in journal if entry["status"] == 200)
    read = sum(entry["cache_read_tokens"] for entry in journal if entry["status"] == 200)
    dollars = (sent - read) * fresh + read * cached
    accepted = len(journal) - refused
    ended = "all" if not error and accepted > TURNS else f"{accepted} of {TURNS + 1}"
    return f"| {name} | {ended} | {refused} | {sent:,} | {100 * read // max(sent, 1)} % | {dollars:.3f} |"


def main() -> None:
    for module, ways in FRAMEWORKS.items():
        if not is_here(module) or (sys.argv[1:] and module not in sys.argv[1:]):
            continue
        for name, way in ways().items():
            books = measured(way)
            print(row(name, **books), flush=True)
            if books["error"]:
                print(f"{name}: {books['error'][:300]}", file=sys.stderr)


if __name__ == "__main__":
    main()
