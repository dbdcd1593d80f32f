"""Google's ADK: a plugin that fits each request, and leaves the session's events alone.

    Runner(..., plugins=[LouverPlugin()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from .._louver import Conversations

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from typing_extensions import Unpack

    from .._types import WindowSettings


class LouverPlugin(BasePlugin):
    """Fits the contents of each request into the model's window."""

    def __init__(self, model: str | None = None, **settings: Unpack[WindowSettings]) -> None:
        super().__init__(name="louver")
        own: WindowSettings = {**settings, "format": "gemini"}
        self._conversations = Conversations(model, **own)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """The request is made for one call: its contents are those that may be sent, the same objects for what stays."""
        config: Any = llm_request.config
        turn = self._conversations.fit(
            {
                "model": llm_request.model,
                "systemInstruction": {"parts": [{"text": _text(config.system_instruction)}]},
                "tools": [tool for tool in config.tools or [] if isinstance(tool, types.Tool)],
                "contents": llm_request.contents,
            },
            make=lambda _, content: types.Content.model_validate(content),
        )
        llm_request.contents = turn.request["contents"]
        return None


def _text(instruction: Any) -> str:
    return instruction if isinstance(instruction, str) else str(instruction or "")
