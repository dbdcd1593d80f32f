"""LlamaIndex's agent and chat engine against the sandbox: past the window, and their memory stays whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import Sandbox
from talks import TURNS, WINDOW, assert_kept_inside, picture
from talks import read_file as read

pytest.importorskip("llama_index.core", reason="skipped: tested in an environment of its own")

from llama_index.core.agent.workflow import FunctionAgent  # noqa: E402
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock  # noqa: E402
from llama_index.core.chat_engine import SimpleChatEngine  # noqa: E402
from llama_index.core.memory import ChatMemoryBuffer, Memory  # noqa: E402
from llama_index.llms.openai_like import OpenAILike  # noqa: E402

import louver  # noqa: E402
from louver.adapters.llama_index import LouverMemory, _message, _wire, louver_llm  # noqa: E402

TASK = "Read every file."


def read_file(path: str) -> str:
    """Reads a file."""
    return read(path)


def model(sandbox: Sandbox) -> Any:
    place = {"api_base": f"{sandbox.url}/v1", "api_key": "key", "max_retries": 0}
    return OpenAILike(model="gpt-5", is_chat_model=True, is_function_calling_model=True, context_window=WINDOW, **place)


def run(llm: Any, memory: Any, streaming: bool = False) -> Any:
    agent = FunctionAgent(tools=[read_file], llm=llm, system_prompt="Be brief.", streaming=streaming, timeout=600)

    async def talk() -> Any:
        return await agent.run(TASK, memory=memory, max_iterations=2 * TURNS)

    return asyncio.run(talk())


@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_stays_inside_and_its_memory_whole(sandbox: Sandbox, streaming: bool) -> None:
    llm = louver_llm(model(sandbox), context_window=WINDOW)
    memory = LouverMemory.from_defaults(llm=llm)
    assert str(run(llm, memory, streaming)).strip() == "All is read."
    stored = memory.get_all()
    assert len(stored) == 2 + 2 * TURNS and memory.get() == stored
    assert [message.content for message in stored if message.role == "tool"] == [read("a.txt")] * TURNS
    assert_kept_inside(sandbox)


def test_a_chat_engine_stays_inside_by_its_memory_alone(sandbox: Sandbox) -> None:
    memory = LouverMemory.from_defaults(llm=model(sandbox), context_window=WINDOW)
    engine = SimpleChatEngine.from_defaults(llm=model(sandbox), memory=memory)
    for turn in range(60):
        engine.chat(read(f"{turn}.txt"))
    assert len(memory.get_all()) == 120 and len(memory.get()) < 60
    assert [message.content for message in memory.get_all()[::2]] == [read(f"{turn}.txt") for turn in range(60)]
    assert_kept_inside(sandbox, said=120, requests=60)


def test_their_own_memory_does_not_keep_a_run_inside(sandbox: Sandbox) -> None:
    """An agent asks its memory once: what happens during the run goes on growing until the provider refuses it."""
    with pytest.raises(Exception, match="context"):
        run(model(sandbox), Memory.from_defaults(token_limit=WINDOW // 2))
    assert sandbox.journal()[-1]["status"] == 400


def history(turns: int) -> list[ChatMessage]:
    messages = [ChatMessage("Read.", role="user")]
    for turn in range(turns):
        call = ToolCallBlock(tool_call_id=str(turn), tool_name="read_file", tool_kwargs={"path": str(turn)})
        messages.append(ChatMessage(role="assistant", blocks=[TextBlock(text=f"Step {turn}."), call]))
        messages.append(ChatMessage(read(str(turn)), role="tool", additional_kwargs={"tool_call_id": str(turn)}))
    return messages


def test_images_are_shown_as_images() -> None:
    shown = ImageBlock(image=picture(), image_mimetype="image/png")
    call = ToolCallBlock(tool_call_id="a", tool_name="see", tool_kwargs={})
    history = [
        ChatMessage(role="user", blocks=[TextBlock(text="See."), shown]),
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(
            role="tool",
            blocks=[TextBlock(text="word " * 9_000), shown, TextBlock(text="Seen.")],
            additional_kwargs={"tool_call_id": "a"},
        ),
    ]
    conversations = louver.Conversations(format="openai-chat", context_window=12_000, max_output=500, counter="chars4")
    small = conversations.fit({"messages": history[:2]}, wire=_wire, make=_message)
    assert small.fit is not None and small.fit.tokens_before < 10_000 and small.is_unchanged
    turn = conversations.fit({"messages": history}, wire=_wire, make=_message)
    assert turn.fit is not None and turn.fit.tokens_before < 20_000
    text, *others = turn.request["messages"][-1].blocks
    assert [id(block) for block in others] == [id(block) for block in history[2].blocks[1:]]
    assert 1_000 < len(text.text) < 40_000


def test_their_own_buffer_tears_pairs_apart() -> None:
    """Where nothing but calls is left, their buffer gives the last result without its call; ours is legal."""
    from llama_index.llms.openai.utils import to_openai_message_dicts

    messages = history(40)
    theirs = ChatMemoryBuffer.from_defaults(chat_history=list(messages), token_limit=2_000).get()
    assert louver.check(to_openai_message_dicts(theirs), format="openai-chat") != []
    memory = LouverMemory.from_defaults(chat_history=list(messages), context_window=3_000, max_output=500, counter="chars4")
    ours = memory.get()
    assert len(ours) < len(messages) and louver.check(to_openai_message_dicts(ours), format="openai-chat") == []
    assert sum(any(message is one for one in messages) for message in ours) > 3 and memory.get_all() == messages
