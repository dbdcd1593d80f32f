"""LiteLLM: the SDK's calls and the proxy's requests fit their window.

    litellm.completion(**louver_hook.fit("openai-chat", dict(model=..., messages=...)))   # one call
    litellm_settings: {callbacks: my_module.louver_hook}                                   # the proxy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger

from .._louver import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import Format, WindowSettings

# Every call type that carries a conversation; the others pass.
_FORMATS: dict[str, Format] = {
    "completion": "openai-chat",
    "acompletion": "openai-chat",
    "text_completion": "openai-chat",
    "anthropic_messages": "anthropic",
    "aanthropic_messages": "anthropic",
    "responses": "openai-responses",
    "aresponses": "openai-responses",
    "generate_content": "gemini",
    "agenerate_content": "gemini",
    "generate_content_stream": "gemini",
    "agenerate_content_stream": "gemini",
}
_HISTORIES: dict[Format, str] = {
    "openai-chat": "messages",
    "anthropic": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
# A request passes more than one hook; what was fitted at the first is not a history to be fitted at the next.
_FITTED = "louver_fitted"
# What of a call is part of the request; the rest is LiteLLM's own and may be anything.
_FRAME = ("model", "system", "instructions", "tools", "max_tokens", "max_completion_tokens", "max_output_tokens",
          "thinking", "previous_response_id")  # fmt: skip


class LouverHook(CustomLogger):
    """Fits each request of LiteLLM's proxy or SDK."""

    def __init__(self, **settings: Unpack[WindowSettings]) -> None:
        super().__init__()
        self._settings = settings
        self._conversations: dict[Format, Conversations] = {}

    def fit(self, format: Format, call: dict[str, Any]) -> dict[str, Any]:
        """A copy of a call's arguments whose history may be sent: the same messages for those that stay."""
        key = _HISTORIES[format]
        if not isinstance(call.get(key), list):
            return call
        if format not in self._conversations:
            settings: WindowSettings = {**self._settings, "format": format}
            self._conversations[format] = Conversations(**settings)
        request = {name: call[name] for name in _FRAME if call.get(name) is not None}
        if isinstance(request.get("model"), str):
            request["model"] = request["model"].rpartition("/")[2]
        turn = self._conversations[format].fit({**request, key: call[key]})
        return {**call, key: turn.request[key]}

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """The proxy asks here before it routes a request."""
        format = _FORMATS.get(getattr(call_type, "value", call_type))
        if format is None:
            return data
        return {**self.fit(format, data), "metadata": {**(data.get("metadata") or {}), _FITTED: True}}

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """The SDK's asynchronous calls and the router ask here, Anthropic's own format among them.

        What LiteLLM asks later (``async_pre_request_hook``) can change a list of messages in place only, which may be the
        caller's.
        """
        format = _FORMATS.get(getattr(call_type, "value", call_type))
        is_fitted = any((kwargs.get(key) or {}).get(_FITTED) for key in ("metadata", "litellm_metadata"))
        return kwargs if format is None or is_fitted else self.fit(format, kwargs)
