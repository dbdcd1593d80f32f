"""Strands: an input middleware that fits each model call, and leaves the agent's messages alone.

    agent.add_middleware(InvokeModelStage.Input, LouverInput())
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from .._louver import Conversations

if TYPE_CHECKING:
    from strands.middleware import InvokeModelContext
    from typing_extensions import Unpack

    from .._types import WindowSettings


# Documents that are read as they are written.
_TEXTS = ("csv", "html", "md", "txt")


class LouverInput:
    """Fits the messages of each model call into the model's window."""

    def __init__(self, model: str | None = None, **settings: Unpack[WindowSettings]) -> None:
        # A message holds all results of the calls before it, as one of Anthropic's does.
        own: WindowSettings = {**settings, "format": "anthropic"}
        self._conversations = Conversations(model, **own)

    def __call__(self, context: InvokeModelContext) -> InvokeModelContext:
        """The same call with the messages that may be sent."""
        system = context.system_prompt
        turn = self._conversations.fit(
            {
                "model": _model_name(context.model),
                "system": system if isinstance(system, str) else [_block(block) for block in system or []],
                "tools": [_tool(spec) for spec in context.tool_specs],
                "messages": context.messages,
            },
            wire=_wire,
            make=_message,
        )
        return context if turn.is_unchanged else context.replace(messages=turn.request["messages"])


def _model_name(model: Any) -> str | None:
    config = model.get_config() if hasattr(model, "get_config") else {}
    name = config.get("model_id") if isinstance(config, dict) else None
    return name if isinstance(name, str) else None


def _tool(spec: Any) -> dict[str, Any]:
    schema = spec["inputSchema"]
    return {"name": spec["name"], "description": spec["description"], "input_schema": schema.get("json", schema)}


def _wire(message: Any) -> dict[str, Any]:
    """A message as the Messages API has it: enough to know what belongs together and what it costs."""
    return {"role": message["role"], "content": [_block(block) for block in message["content"]] or "(nothing)"}


def _block(block: Any) -> dict[str, Any]:
    if "toolUse" in block:
        use = block["toolUse"]
        return {"type": "tool_use", "id": use["toolUseId"], "name": use["name"], "input": use["input"]}
    if "toolResult" in block:
        result = block["toolResult"]
        content = [_part(part) for part in result["content"]]
        return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": content or ""}
    return _part(block)


def _part(part: Any) -> dict[str, Any]:
    """Something that is said or shown, by itself or in a result."""
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    for kind in ("image", "document", "video"):
        if kind in part:
            return {"type": "image" if kind == "image" else "document", "source": _source(kind, part[kind])}
    return {"type": "text", "text": json.dumps(part, default=str)}


def _source(kind: str, media: Any) -> dict[str, Any]:
    source, form = media["source"], media["format"]
    if "bytes" not in source:
        return {"type": "url", "url": str(source.get("location", {}).get("uri", ""))}
    if kind == "document" and form in _TEXTS:
        return {"type": "text", "media_type": "text/plain", "data": bytes(source["bytes"]).decode(errors="replace")}
    of = "application" if kind == "document" else kind
    return {"type": "base64", "media_type": f"{of}/{form}", "data": b64encode(source["bytes"]).decode()}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _result(parts: list[Any], content: Any) -> list[Any]:
    """A result as it came back: only what has changed is written anew."""
    if isinstance(content, str) or len(content) != len(parts):
        return [{"text": _text(content)}]
    pairs = zip(parts, content, strict=True)
    return [part if _part(part) == known else {"text": known.get("text", "")} for part, known in pairs]


def _message(original: Any, wire: dict[str, Any]) -> Any:
    """A changed copy, or a message of Louver's own."""
    if original is None:
        return {"role": wire["role"], "content": [{"text": _text(wire["content"])}]}
    results = {block["tool_use_id"]: block for block in wire["content"] if block["type"] == "tool_result"}
    content = []
    for block in original["content"]:
        known = results.get(block["toolResult"]["toolUseId"]) if "toolResult" in block else None
        if known is not None:
            result = block["toolResult"]
            block = {"toolResult": {**result, "content": _result(result["content"], known["content"])}}
        content.append(block)
    return {**original, "content": content}
