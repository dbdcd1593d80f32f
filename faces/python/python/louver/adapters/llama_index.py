"""LlamaIndex: an LLM whose chats fit their window, and a memory that keeps everything.

    llm = louver_llm(OpenAI("gpt-5"))
    agent = FunctionAgent(tools=[...], llm=llm)
    await agent.run(task, memory=LouverMemory.from_defaults(llm=llm))

An agent asks its memory once and carries what happens during the run itself, so what a memory leaves out does not keep a
long run inside: the LLM does. For a chat engine, which asks its memory for each message, the memory alone is enough.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from llama_index.core.base.llms.types import (
    AudioBlock,
    CachePoint,
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY, BaseChatStoreMemory
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore

from .._louver import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import WindowSettings

_LLM = TypeVar("_LLM")

_ROLES = {"model": "assistant", "chatbot": "assistant", "function": "tool"}
# By which a method of an LLM is known to fit what it is given.
_MARK = "louver_fits"


def louver_llm(llm: _LLM, **settings: Unpack[WindowSettings]) -> _LLM:
    """A copy of an LLM whose chats, sync and async, streamed or not, fit their window. What is handed to it stays whole."""
    own: WindowSettings = {**settings, "format": "openai-chat"}
    conversations = Conversations(**own)
    base: Any = type(llm)

    def fitted(self: Any, messages: Sequence[ChatMessage], more: dict[str, Any]) -> list[ChatMessage]:
        return _fitted(conversations, messages, model=self.metadata.model_name, tools=more.get("tools"))

    def chat(self: Any, messages: Sequence[ChatMessage], **more: Any) -> Any:
        return base.chat(self, fitted(self, messages, more), **more)

    def stream_chat(self: Any, messages: Sequence[ChatMessage], **more: Any) -> Any:
        return base.stream_chat(self, fitted(self, messages, more), **more)

    async def achat(self: Any, messages: Sequence[ChatMessage], **more: Any) -> Any:
        return await base.achat(self, fitted(self, messages, more), **more)

    async def astream_chat(self: Any, messages: Sequence[ChatMessage], **more: Any) -> Any:
        return await base.astream_chat(self, fitted(self, messages, more), **more)

    setattr(chat, _MARK, True)
    hooks = {"chat": chat, "stream_chat": stream_chat, "achat": achat, "astream_chat": astream_chat}
    wrapped = cast(Any, llm).model_copy()
    wrapped.__class__ = type(base)(base.__name__, (base,), {"__module__": base.__module__, **hooks})
    return cast(_LLM, wrapped)


class LouverMemory(BaseChatStoreMemory):
    """Keeps every message, and gives what fits; everything where the LLM fits its chats itself."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """Of the window; the model among them."""
    gives_all: bool = False
    _conversations: Conversations | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is stored."""
        return "LouverMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: Any = None,
        chat_store: BaseChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        **settings: Any,
    ) -> LouverMemory:
        """A memory for an LLM, whose model says how large the window is unless ``context_window`` does."""
        if llm is not None:
            settings.setdefault("model", llm.metadata.model_name)
        memory = cls(
            settings=settings,
            gives_all=getattr(getattr(llm, "chat", None), _MARK, False),
            chat_store=chat_store or SimpleChatStore(),
            chat_store_key=chat_store_key,
        )
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """What may be sent: the same objects for those that stay."""
        return self._fitted(self.get_all())

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """The same from a store that is asked asynchronously."""
        return self._fitted(await self.aget_all())

    def _fitted(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        if self.gives_all:
            return messages
        if self._conversations is None:
            own: Any = {**self.settings, "format": "openai-chat"}
            self._conversations = Conversations(**own)
        return _fitted(self._conversations, messages, model=self.settings.get("model"))


def _fitted(
    conversations: Conversations, messages: Sequence[ChatMessage], model: str | None, tools: Any = None
) -> list[ChatMessage]:
    request = {"model": model, "tools": tools or [], "messages": list(messages)}
    fitted: list[ChatMessage] = conversations.fit(request, wire=_wire, make=_message).request["messages"]
    return fitted


def _wire(message: ChatMessage) -> dict[str, Any]:
    """A message as the Chat Completions API has it: enough to know what belongs together and what it costs."""
    role = message.role.value
    content = [_part(block) for block in _shown(message)]
    wire: dict[str, Any] = {"role": _ROLES.get(role, role), "content": content or ""}
    calls = [_call(block) for block in message.blocks if isinstance(block, ToolCallBlock)]
    if calls:
        wire["tool_calls"] = calls
    if wire["role"] == "tool":
        wire["tool_call_id"] = message.additional_kwargs.get("tool_call_id", "")
    return wire


def _shown(message: ChatMessage) -> list[Any]:
    """What is said or shown. Where to cache is neither, and changes from request to request."""
    return [block for block in message.blocks if not isinstance(block, ToolCallBlock | CachePoint)]


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock):
        return {"type": "image_url", "image_url": {"url": _address(block, block.image, block.image_mimetype)}}
    if isinstance(block, AudioBlock) and isinstance(block.audio, bytes):
        return {"type": "input_audio", "input_audio": {"data": block.audio.decode(), "format": block.format or ""}}
    if isinstance(block, DocumentBlock):
        return {"type": "file", "file": {"file_data": _address(block, block.data, block.document_mimetype)}}
    return {"type": "text", "text": block.model_dump_json(exclude_none=True)}


def _address(block: Any, data: Any, kind: str | None) -> str:
    """Where something is shown from. Blocks hold their data as base64; a file is not read here."""
    if isinstance(data, bytes):
        return f"data:{kind or 'application/octet-stream'};base64,{data.decode()}"
    return str(block.url or block.path or "")


def _call(block: ToolCallBlock) -> dict[str, Any]:
    given = block.tool_kwargs
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return {"id": block.tool_call_id, "type": "function", "function": {"name": block.tool_name, "arguments": arguments}}


def _message(original: ChatMessage | None, wire: dict[str, Any]) -> ChatMessage:
    """A changed copy, or a message of Louver's own."""
    content = wire["content"]
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    if original is None:
        return ChatMessage(role=MessageRole(wire["role"]), content=text)
    shown = _shown(original)
    if isinstance(content, str) or len(content) != len(shown):
        calls = [block for block in original.blocks if isinstance(block, ToolCallBlock)]
        return original.model_copy(update={"blocks": [TextBlock(text=text), *calls]})
    # Only what has changed is written anew.
    changed = {
        id(block): TextBlock(text=part.get("text", ""))
        for block, part in zip(shown, content, strict=True)
        if _part(block) != part
    }
    return original.model_copy(update={"blocks": [changed.get(id(block), block) for block in original.blocks]})
