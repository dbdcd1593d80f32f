"""The OpenAI Agents SDK: an input filter that fits each model call, and leaves the run's items and session alone.

    Runner.run_sync(agent, task, run_config=RunConfig(call_model_input_filter=LouverFilter("gpt-5")))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.run import CallModelData, ModelInputData

from .._louver import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import WindowSettings


class LouverFilter:
    """Fits the input of each model call into the model's window."""

    def __init__(self, model: str | None = None, **settings: Unpack[WindowSettings]) -> None:
        own: WindowSettings = {**settings, "format": "openai-responses"}
        self._conversations = Conversations(model, **own)

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """The input that may be sent: the same items for those that stay."""
        given = data.model_data
        model = data.agent.model
        request = {
            "model": model if isinstance(model, str) else getattr(model, "model", None),
            "instructions": given.instructions,
            "tools": [_tool(tool) for tool in data.agent.tools],
            "input": given.input,
        }
        turn = self._conversations.fit(request)
        return ModelInputData(input=turn.request["input"], instructions=given.instructions)


def _tool(tool: Any) -> dict[str, Any]:
    """What a tool's definition costs."""
    schema = getattr(tool, "params_json_schema", {})
    return {"name": tool.name, "description": getattr(tool, "description", ""), "parameters": schema}
