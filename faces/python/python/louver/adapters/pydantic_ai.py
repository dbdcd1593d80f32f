"""pydantic-ai: a capability that fits each model request, and leaves the run's messages alone.

    agent = Agent(model, capabilities=[LouverCapability()])
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    CachePoint,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from .._louver import Conversations

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.models import ModelRequestContext
    from typing_extensions import Unpack

    from .._types import WindowSettings


class LouverCapability(AbstractCapability[Any]):
    """Fits the messages of each model request into the model's window."""

    def __init__(self, model: str | None = None, **settings: Unpack[WindowSettings]) -> None:
        # A request of pydantic-ai holds all results of the calls before it, as one of Anthropic's does.
        own: WindowSettings = {**settings, "format": "anthropic"}
        self._conversations = Conversations(model, **own)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """The messages that may be sent: the same objects for those that stay."""
        turn = self._conversations.fit(
            {
                "model": request_context.model.model_name,
                "system": [{"type": "text", "text": text} for text in _instructions(request_context)],
                "tools": [_tool(tool) for tool in request_context.model_request_parameters.function_tools],
                "messages": request_context.messages,
            },
            wire=_wire,
            make=_message,
        )
        return request_context if turn.is_unchanged else replace(request_context, messages=turn.request["messages"])


def _instructions(context: ModelRequestContext) -> list[str]:
    return [part.content for part in context.model_request_parameters.instruction_parts or []]


def _tool(tool: Any) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}


def _wire(message: ModelMessage) -> dict[str, Any]:
    """A message as the Messages API has it: enough to know what belongs together and what it costs."""
    role = "user" if isinstance(message, ModelRequest) else "assistant"
    return {"role": role, "content": [block for part in message.parts for block in _blocks(part)] or "(nothing)"}


def _blocks(part: Any) -> list[dict[str, Any]]:
    if part.part_kind == "tool-call":
        use = {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()}
        return [use]
    if _is_result(part):
        return [_result(part)]
    content = getattr(part, "content", "")
    # Where to cache is no content, and changes from request to request.
    items = [item for item in content if not isinstance(item, CachePoint)] if isinstance(content, list) else [content]
    return [_shown(item) for item in items]


def _result(part: Any) -> dict[str, Any]:
    content = part.model_response_str() if part.part_kind == "tool-return" else part.model_response()
    files = _files(part)
    if files:
        content = [*([{"type": "text", "text": content}] if content else []), *map(_shown, files)]
    return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": content}


def _files(part: Any) -> list[Any]:
    """What a result shows beside its text."""
    return list(getattr(part, "files", ()))


def _shown(item: Any) -> dict[str, Any]:
    """Something that is said or shown."""
    kind = getattr(item, "kind", None)
    if kind == "binary":
        media = item.media_type
        if media.startswith("text/"):
            source = {"type": "text", "media_type": "text/plain", "data": item.data.decode(errors="replace")}
        else:
            source = {"type": "base64", "media_type": media, "data": item.base64}
        return {"type": "image" if media.startswith("image/") else "document", "source": source}
    if isinstance(item, FileUrl):
        return {"type": "image" if kind == "image-url" else "document", "source": {"type": "url", "url": item.url}}
    if kind == "uploaded-file":
        return {"type": "document", "source": {"type": "file", "file_id": item.file_id}}
    text = item if isinstance(item, str) else getattr(item, "content", item)
    return {"type": "text", "text": text if isinstance(text, str) else str(text)}


def _is_result(part: Any) -> bool:
    """Whether a part answers a call; without a tool's name, one asks to try again as a user would."""
    return part.part_kind in ("tool-return", "retry-prompt") and part.tool_name is not None


def _message(original: ModelMessage | None, wire: dict[str, Any]) -> ModelMessage:
    """A changed copy, or a message of Louver's own."""
    if original is None:
        text = _text(wire["content"])
        own = ModelResponse([TextPart(text)]) if wire["role"] == "assistant" else ModelRequest([UserPromptPart(text)])
        return own
    whole: Any = original
    blocks = {block.get("tool_use_id"): block for block in wire["content"] if block["type"] == "tool_result"}
    parts = [_part(part, blocks.get(getattr(part, "tool_call_id", None))) for part in whole.parts]
    changed: ModelMessage = replace(whole, parts=parts)
    return changed


def _part(part: Any, block: dict[str, Any] | None) -> Any:
    """A part as its block came back; the same object where that says what it said."""
    if block is None or not _is_result(part) or block == _result(part):
        return part
    content: Any = _text(block["content"])
    if part.part_kind == "retry-prompt" and isinstance(part.content, str):
        # What it asks for stands behind what it says, whatever that is.
        content = content.removesuffix(part.model_response().removeprefix(part.content))
    if isinstance(block["content"], list):
        content = [content, *_files(part)]
    return replace(part, content=content)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if "text" in block)
