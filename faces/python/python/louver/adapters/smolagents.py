"""smolagents: an agent whose model calls fit their window, and whose memory stays whole.

    agent = louver_agent(ToolCallingAgent(tools=[...], model=model))
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from smolagents.models import ChatMessage, MessageRole

from .._louver import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import WindowSettings

_Agent = TypeVar("_Agent")

# smolagents tells calls and results as text.
_ROLES = {"tool-call": "assistant", "tool-response": "user"}


def louver_agent(agent: _Agent, model: str | None = None, **settings: Unpack[WindowSettings]) -> _Agent:
    """The same agent. What its memory says to the model is fitted before each call; the memory keeps every step."""
    own: WindowSettings = {**settings, "format": "openai-chat"}
    conversations = Conversations(model, **own)
    asked: Any = agent
    write = asked.write_memory_to_messages

    def write_memory_to_messages(*arguments: Any, **more: Any) -> list[ChatMessage]:
        return _fitted(conversations, asked, write(*arguments, **more))

    asked.write_memory_to_messages = write_memory_to_messages
    return agent


def _fitted(conversations: Conversations, agent: Any, messages: list[ChatMessage]) -> list[ChatMessage]:
    name = getattr(agent.model, "model_id", None)
    turn = conversations.fit(
        {
            "model": name if isinstance(name, str) else None,
            "tools": [_tool(tool) for tool in agent.tools.values()],
            "messages": messages,
        },
        wire=_wire,
        make=lambda _, wire: _message(wire),
    )
    fitted: list[ChatMessage] = turn.request["messages"]
    return fitted


def _tool(tool: Any) -> dict[str, Any]:
    """What a tool's definition costs."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.inputs}
    return {"type": "function", "function": function}


def _wire(message: ChatMessage) -> dict[str, Any]:
    role = getattr(message.role, "value", message.role)
    return {"role": _ROLES.get(role, role), "content": _content(message.content)}


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content or ""
    is_text = all(part.get("type") == "text" for part in content)
    return content if is_text else "\n".join(part.get("text") or json.dumps(part, default=str) for part in content)


def _message(wire: dict[str, Any]) -> ChatMessage:
    content = wire["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return ChatMessage(role=MessageRole(wire["role"]), content=parts)
