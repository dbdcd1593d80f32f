"""Strands, Google's ADK and smolagents against the sandbox: 200 tool turns past the window, and what they store is whole.

What they offer themselves is refused, or forgets.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import Sandbox
from talks import TURNS, WINDOW, assert_kept_inside, picture
from talks import read_file as read

TASK = "Read every file."
ELSEWHERE = "skipped: tested in an environment of its own"


def strands_agent(sandbox: Sandbox, manager: str, **settings: Any) -> Any:
    strands = pytest.importorskip("strands", reason=ELSEWHERE)
    from strands.models.openai import OpenAIModel

    @strands.tool
    def read_file(path: str) -> str:
        """Reads a file."""
        return read(path)

    model = OpenAIModel(client_args={"base_url": f"{sandbox.url}/v1", "api_key": "key", "max_retries": 0}, model_id="gpt-5")
    managed = getattr(strands.agent.conversation_manager, manager)(**settings)
    return strands.Agent(
        model=model, tools=[read_file], system_prompt="Be brief.", conversation_manager=managed, callback_handler=None
    )


def strands_results(agent: Any) -> list[Any]:
    blocks = [block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block]
    return [block["content"] for block in blocks]


def test_strands(sandbox: Sandbox) -> None:
    agent = strands_agent(sandbox, "NullConversationManager")
    from strands.middleware import InvokeModelStage

    from louver.adapters.strands import LouverInput

    agent.add_middleware(InvokeModelStage.Input, LouverInput(context_window=WINDOW))
    result = agent(TASK)
    assert str(result).strip() == "All is read."
    assert len(agent.messages) == 2 + 2 * TURNS
    assert strands_results(agent) == [[{"text": read("a.txt")}]] * TURNS
    assert_kept_inside(sandbox)


@pytest.mark.parametrize("sandbox", [80], indirect=True)
def test_strands_own_manager_is_refused_first_and_forgets_then(sandbox: Sandbox) -> None:
    """A run is not held to its size; each refusal then costs a result, or messages, of the agent's own history."""
    agent = strands_agent(sandbox, "SlidingWindowConversationManager", window_size=10)
    agent(TASK)
    journal = sandbox.journal()
    assert max(entry["messages"] for entry in journal) > 2 * 10
    assert sum(entry["status"] == 400 for entry in journal) > 1
    assert len(agent.messages) < 2 * 80


def test_strands_own_manager_gives_up_the_task_before_a_large_result(sandbox: Sandbox) -> None:
    """Where the oldest result is small, theirs takes messages away and leaves the large one whole; ours shortens that."""
    agent = strands_agent(sandbox, "SlidingWindowConversationManager")
    from strands.middleware import InvokeModelContext
    from strands.types.exceptions import ContextWindowOverflowException

    from louver.adapters.strands import LouverInput

    def history() -> list[Any]:
        messages: list[Any] = [{"role": "user", "content": [{"text": TASK}]}]
        for name, size in (("small.txt", 100), ("large.txt", 40_000)):
            use = {"toolUseId": name, "name": "read_file", "input": {"path": name}}
            result = {"toolUseId": name, "status": "success", "content": [{"text": read(name, size)}]}
            messages.append({"role": "assistant", "content": [{"toolUse": use}]})
            messages.append({"role": "user", "content": [{"toolResult": result}]})
        return messages

    agent.messages[:] = history()
    agent.conversation_manager.reduce_context(agent, ContextWindowOverflowException("too long"))
    assert agent.messages == history()[3:]
    context = InvokeModelContext(agent, history(), "Be brief.", [], None, {}, agent.model)
    fitted = LouverInput(context_window=8_000, max_output=500, counter="chars4")(context)
    assert context.messages == history()
    assert fitted.messages[0] == history()[0] and fitted.messages[-2] == history()[-2]
    shortened = fitted.messages[-1]["content"][0]["toolResult"]["content"][0]["text"]
    assert 1_000 < len(shortened) < 30_000


def test_strands_shows_images_as_images() -> None:
    pytest.importorskip("strands", reason=ELSEWHERE)
    from louver import Conversations
    from louver.adapters.strands import _message, _wire

    shown = {"image": {"format": "png", "source": {"bytes": picture()}}}
    paper = {"document": {"format": "md", "name": "a", "source": {"bytes": b"word " * 100}}}
    use = {"toolUseId": "a", "name": "see", "input": {}}
    result = {"toolUseId": "a", "status": "success", "content": [{"json": {"a": 1}}, {"text": "word " * 9_000}, shown]}
    history: list[Any] = [
        {"role": "user", "content": [{"text": TASK}, shown, paper]},
        {"role": "assistant", "content": [{"toolUse": use}]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    conversations = Conversations(format="anthropic", context_window=8_000, max_output=500, counter="chars4")
    small = conversations.fit({"messages": history[:2]}, wire=_wire, make=_message)
    assert small.fit is not None and small.fit.tokens_before < 10_000 and small.request["messages"][0] is history[0]
    turn = conversations.fit({"messages": history}, wire=_wire, make=_message)
    assert turn.fit is not None and turn.fit.tokens_before < 20_000
    data, text, image = turn.request["messages"][-1]["content"][0]["toolResult"]["content"]
    assert data == {"json": {"a": 1}} and image is shown and 1_000 < len(text["text"]) < 30_000


def adk_events(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, plugin: Any) -> list[Any]:
    """What the session of a run has then."""
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    monkeypatch.setenv("GOOGLE_API_KEY", "key")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", sandbox.url)

    def read_file(path: str) -> str:
        """Reads a file."""
        return read(path)

    async def talk() -> list[Any]:
        agent = LlmAgent(name="reader", model="gemini-2.5-pro", instruction="Be brief.", tools=[read_file])
        runner = InMemoryRunner(agent, app_name="test", plugins=[plugin])
        session = await runner.session_service.create_session(app_name="test", user_id="u")
        task = types.Content(role="user", parts=[types.Part(text=TASK)])
        config = RunConfig(max_llm_calls=2 * TURNS)
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=task, run_config=config):
            pass
        stored = await runner.session_service.get_session(app_name="test", user_id="u", session_id=session.id)
        assert stored is not None
        return stored.events

    return asyncio.run(talk())


def test_google_adk(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.adk", reason=ELSEWHERE)
    from louver.adapters.google_adk import LouverPlugin

    events = adk_events(sandbox, monkeypatch, LouverPlugin(context_window=WINDOW))
    results = [response.response for event in events for response in event.get_function_responses()]
    assert results == [{"result": read("a.txt")}] * TURNS
    assert events[-1].content.parts[0].text == "All is read."
    assert_kept_inside(sandbox)


def test_google_adk_own_filter_does_not_keep_a_run_inside(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts tasks, and a run has one: it grows until it is refused."""
    pytest.importorskip("google.adk", reason=ELSEWHERE)
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
    from google.genai.errors import ClientError

    with pytest.raises(ClientError, match="token count"):
        adk_events(sandbox, monkeypatch, ContextFilterPlugin(num_invocations_to_keep=1))
    assert sandbox.journal()[-1]["status"] == 400


def smolagents_agent(sandbox: Sandbox) -> Any:
    smolagents = pytest.importorskip("smolagents", reason=ELSEWHERE)

    @smolagents.tool
    def read_file(path: str) -> str:
        """Reads a file.

        Args:
            path: Where it is.
        """
        return read(path)

    model = smolagents.OpenAIServerModel("gpt-5", api_base=f"{sandbox.url}/v1", api_key="key", client_kwargs={"max_retries": 0})
    return smolagents.ToolCallingAgent(tools=[read_file], model=model, max_steps=TURNS, verbosity_level=0)


def test_smolagents(sandbox: Sandbox) -> None:
    agent = smolagents_agent(sandbox)
    import smolagents

    from louver.adapters.smolagents import louver_agent

    louver_agent(agent, context_window=WINDOW).run(TASK)
    steps = [step for step in agent.memory.steps if isinstance(step, smolagents.ActionStep)]
    read_steps = [step for step in steps if step.observations]
    assert len(read_steps) == TURNS and all(read("a.txt") in step.observations for step in read_steps)
    # When its steps are used up it asks once more.
    assert_kept_inside(sandbox)


def test_smolagents_own_memory_grows_until_it_is_refused(sandbox: Sandbox) -> None:
    agent = smolagents_agent(sandbox)
    from smolagents.utils import AgentGenerationError

    with pytest.raises(AgentGenerationError, match="context"):
        agent.run(TASK)
    assert sandbox.journal()[-1]["status"] == 400
