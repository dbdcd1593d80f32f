"""Strands: an input middleware that fits each model call, and leaves the agent's messages alone.

    agent.add_middleware(InvokeModelStage.Input, LouverInput())
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._louver import Conversations

if TYPE_CHECKING:
    from strands.middleware import InvokeModelContext
    from typing_extensions import Unpack

    from .._types import WindowSettings


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
        return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": _text(result["content"])}
    return {"type": "text", "text": block["text"] if "text" in block else json.dumps(block, default=str)}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] if "text" in part else json.dumps(part, default=str) for part in content)


def _message(original: Any, wire: dict[str, Any]) -> Any:
    """A changed copy, or a message of Louver's own."""
    if original is None:
        return {"role": wire["role"], "content": [{"text": _text(wire["content"])}]}
    results = {block["tool_use_id"]: block for block in wire["content"] if block["type"] == "tool_result"}
    content = []
    for block in original["content"]:
        known = results.get(block["toolResult"]["toolUseId"]) if "toolResult" in block else None
        if known is not None:
            block = {"toolResult": {**block["toolResult"], "content": [{"text": _text(known["content"])}]}}
        content.append(block)
    return {**original, "content": content}
