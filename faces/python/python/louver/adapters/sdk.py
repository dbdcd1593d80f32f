"""The official SDKs of Anthropic and OpenAI: one line, and every request of the client fits its window.

    client = louver.wrap(anthropic.Anthropic())

Works on what both SDKs call a request's options, so that every method that sends a conversation passes here: ``create``,
``stream``, ``parse``, the beta ones, sync and async. The lists that the caller holds stay as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .._louver import Conversations, Turn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._types import Format, WindowSettings

_Client = TypeVar("_Client")

_FORMATS: dict[str, Format] = {
    "/v1/messages": "anthropic",
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
}


class Requests:
    """What one wrapped client remembers: its conversations, by wire format."""

    def __init__(self, **settings: Unpack[WindowSettings]) -> None:
        self._settings = settings
        self._conversations: dict[Format, Conversations] = {}
        self._last: ContextVar[tuple[Format, Turn] | None] = ContextVar("louver_turn", default=None)

    def fit(self, options: Any) -> Any:
        """The same options with the request's view. The options that came stay as they are: a retry brings them again."""
        self._last.set(None)
        format = _FORMATS.get(options.url.partition("?")[0])
        body = options.json_data
        if format is None or options.method.lower() != "post" or not isinstance(body, dict):
            return options
        turn = self.conversations(format).fit(body)
        self._last.set((format, turn))
        return options.model_copy(update={"json_data": turn.request})

    def conversations(self, format: Format) -> Conversations:
        """The conversations of one format."""
        if format not in self._conversations:
            settings: WindowSettings = {**self._settings, "format": format}
            self._conversations[format] = Conversations(**settings)
        return self._conversations[format]

    def note(self, answer: Any) -> None:
        """Counts are corrected by what the provider counted, in an answer or while it streams."""
        last = self._last.get()
        if last is None:
            return
        self.report(last, answer)
        events = getattr(answer, "_iterator", None)
        if isinstance(events, AsyncIterator):
            answer._iterator = self._alisten(last, events)
        elif isinstance(events, Iterator):
            answer._iterator = self._listen(last, events)

    def report(self, asked: tuple[Format, Turn], said: Any) -> None:
        """Tells a conversation what was counted for its request, where something says so."""
        usage = getattr(said, "usage", None)
        if usage is not None:
            format, turn = asked
            self.conversations(format).report_usage(turn, {"usage": usage})

    def _listen(self, asked: tuple[Format, Turn], events: Iterator[Any]) -> Iterator[Any]:
        for event in events:
            self.report(asked, _counted(event))
            yield event

    async def _alisten(self, asked: tuple[Format, Turn], events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for event in events:
            self.report(asked, _counted(event))
            yield event


def _counted(event: Any) -> Any:
    """The part of an event that says what was counted for the request, as an answer that is not streamed would."""
    kind = getattr(event, "type", None)
    if kind == "message_start":
        return event.message
    if kind == "response.completed":
        return event.response
    # What Anthropic says of usage later on is about the reply; a chunk of a chat has no type.
    return event if kind is None else None


def wrap(client: _Client, **settings: Unpack[WindowSettings]) -> _Client:
    """A copy of an Anthropic or OpenAI client, sync or async, whose requests fit their window.

    The model of each request says how large the window is, unless ``context_window`` does. The client itself stays as
    it is, and so does every list that is handed to it.
    """
    base: Any = type(client)
    if not hasattr(base, "_prepare_options") or not hasattr(base, "_process_response"):
        raise TypeError(f"expected a client of the anthropic or openai SDK, found {base.__name__}")
    requests = Requests(**settings)
    mixin = _asynchronous if inspect.iscoroutinefunction(base._prepare_options) else _synchronous
    wrapped = cast(Any, client).copy()
    wrapped.__class__ = type(base.__name__, (base,), mixin(base, requests))
    return cast(_Client, wrapped)


def _synchronous(base: Any, requests: Requests) -> dict[str, Any]:
    def _prepare_options(self: Any, options: Any) -> Any:
        return base._prepare_options(self, requests.fit(options))

    def _process_response(self: Any, **arguments: Any) -> Any:
        answer = base._process_response(self, **arguments)
        requests.note(answer)
        return answer

    return {"_prepare_options": _prepare_options, "_process_response": _process_response}


def _asynchronous(base: Any, requests: Requests) -> dict[str, Any]:
    async def _prepare_options(self: Any, options: Any) -> Any:
        return await base._prepare_options(self, requests.fit(options))

    async def _process_response(self: Any, **arguments: Any) -> Any:
        answer = await base._process_response(self, **arguments)
        requests.note(answer)
        return answer

    return {"_prepare_options": _prepare_options, "_process_response": _process_response}
