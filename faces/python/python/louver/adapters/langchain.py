"""LangChain and LangGraph: a middleware that fits each model call, and leaves the agent's state alone.

    agent = create_agent(model, tools, middleware=[LouverMiddleware()])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from .._louver import Conversations, Turn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import WindowSettings

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
# What of a message is looked at here.
_READS = ("type", "content", "tool_calls", "tool_call_id")
# What an answer's `tool_calls` say already.
_CALL_BLOCKS = {"tool_use", "function_call", "input_json_delta", "tool_call"}

# Blocks of LangChain's that show something.
_MEDIA = {"image", "audio", "video", "file", "document"}


class LouverMiddleware(AgentMiddleware[Any, Any, Any]):
    """Fits the messages of each model call into the model's window.

    Only the request is changed: what the agent and its checkpointer store stays whole.
    """

    def __init__(self, model: str | None = None, **settings: Unpack[WindowSettings]) -> None:
        super().__init__()
        own: WindowSettings = {**settings, "format": "openai-chat"}
        self._conversations = Conversations(model, **own)
        self._tools: dict[int, tuple[Any, dict[str, Any]]] = {}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Fits a call."""
        fitted, turn = self.fit(request)
        return self._note(turn, handler(fitted))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The same for agents that run asynchronously."""
        fitted, turn = self.fit(request)
        return self._note(turn, await handler(fitted))

    def fit(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], Turn]:
        """The request with the messages that may be sent: the same objects for those that stay."""
        system = [] if request.system_message is None else [request.system_message]
        history: list[BaseMessage] = [*system, *request.messages]
        tools = self._tools_of(request)
        turn = self._conversations.fit(
            {
                "model": _model_name(request.model),
                "tools": tools,
                "messages": history,
            },
            wire=_wire,
            reads=_READS,
            make=_message,
        )
        if turn.is_unchanged:
            return request, turn
        return request.override(messages=turn.request["messages"][len(system) :]), turn

    def _tools_of(self, request: ModelRequest[Any]) -> list[dict[str, Any]]:
        """The tools of a request as they are on the wire. Only these are remembered: some agents make new ones each time."""
        known, now = self._tools, {}
        for tool in request.tools:
            if not isinstance(tool, dict):
                # The object is held, so that no other takes its place.
                now[id(tool)] = known.get(id(tool)) or (tool, convert_to_openai_tool(tool))
        self._tools = now
        return [tool if isinstance(tool, dict) else now[id(tool)][1] for tool in request.tools]

    def _note(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any]:
        for message in response.result if isinstance(response, ModelResponse) else []:
            usage = message.usage_metadata if isinstance(message, AIMessage) else None
            if usage and usage.get("input_tokens"):
                self._conversations.report_usage(turn, usage["input_tokens"])
        return response


def _model_name(model: Any) -> str | None:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else None


def _wire(message: BaseMessage) -> dict[str, Any]:
    """A message as the Chat Completions API has it: enough to know what belongs together and what it costs."""
    content: Any = message.content
    if isinstance(content, list):
        content = [_part(part) for part in content if not _is_call(part)]
    wire: dict[str, Any] = {"role": _ROLES.get(message.type, "user"), "content": content or ""}
    if message.type == "tool":
        wire["tool_call_id"] = getattr(message, "tool_call_id", "")
    # A message without the field takes its time to say so.
    if isinstance(message, AIMessage) and message.tool_calls:
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
    return wire


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _CALL_BLOCKS


def _part(part: Any) -> dict[str, Any]:
    """A part of a content: LangChain's own blocks, and Anthropic's, as the Chat Completions API has them."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("type")
    if kind == "text-plain" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if kind not in _MEDIA or kind in part:
        own: dict[str, Any] = part
        return own
    source = part["source"] if isinstance(part.get("source"), dict) else {}
    if source.get("type") == "text":
        return {"type": "text", "text": str(source.get("data", ""))}
    media = part.get("mime_type") or source.get("media_type") or "application/octet-stream"
    data = part.get("base64") or part.get("data") or source.get("data")
    url = f"data:{media};base64,{data}" if isinstance(data, str) else part.get("url") or source.get("url") or ""
    if kind == "audio" and isinstance(data, str):
        return {"type": "input_audio", "input_audio": {"data": data, "format": media.rpartition("/")[2]}}
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url}}


def _call(call: Any) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)}
    return {"id": call["id"], "type": "function", "function": function}


def _message(original: BaseMessage | None, wire: dict[str, Any]) -> AnyMessage:
    """A changed copy, or a message of Louver's own."""
    if original is not None:
        changed: Any = original.model_copy(update={"content": _content(original.content, wire["content"])})
        return changed
    kinds: dict[str, Any] = {"assistant": AIMessage, "system": SystemMessage}
    return kinds.get(wire["role"], HumanMessage)(content=wire["content"])


def _content(content: Any, wire: Any) -> Any:
    """A content as it came back: only what has changed is written anew."""
    is_list = isinstance(content, list) and isinstance(wire, list)
    if not is_list or sum(not _is_call(part) for part in content) != len(wire):
        return wire
    known = iter(wire)
    pairs = [(part, part if _is_call(part) else next(known)) for part in content]
    return [part if _is_call(part) or _part(part) == now else now for part, now in pairs]
