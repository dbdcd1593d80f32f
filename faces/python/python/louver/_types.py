"""The shapes of what goes in and comes out, for type checkers."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Format = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Policy = Literal[
    "ladder", "ladder-lean", "ladder-careful", "ladder-full", "messages", "tokens", "both", "everything", "newest", "clear-tools",
    "mask", "full-cut",
]  # fmt: skip
Counter = Literal["auto", "chars4", "o200k", "cl100k"]


class WindowSettings(TypedDict, total=False):
    """What can be said about a window, besides its model."""

    format: Format | None
    """The wire format; by default that of the model's provider, or what the conversation itself shows."""
    policy: Policy | None
    """What decides; by default ``ladder`` where the context window is known, else ``messages``."""
    context_window: int | None
    """In tokens, in place of the catalogue's."""
    max_output: int | None
    """The reply length to keep free, in place of the request's."""
    counter: Counter | None
    max_messages: int | None
    preserve_first: int | None
    preserve_last: int | None
    total_tokens: int | None
    """What the provider reported for all but the last message."""
    profile: str | None
    summarize: bool | None
    """Whether what leaves is to be summarised: ``Fit.job`` then asks for it."""
    condensing_prompt: str | None
    keep_recent_tokens: int | None
    ledger_tokens: int | None
    pin: list[str] | None
    """Messages that hold one of these texts stay (``ladder``)."""
    pin_tools: list[str] | None
    """Calls of these tools stay, with their results (``ladder``)."""


class Settings(WindowSettings, total=False):
    """The same, with the model."""

    model: str | None


class ReplaySettings(TypedDict, total=False):
    """How recorded conversations are replayed: the flags of ``louver replay``."""

    policy: Policy | list[Policy] | None
    """The policies to compare; by default all but ``both`` and ``ladder-full``."""
    model: str | None
    """Whose prices, window and counter hold; by default the recorded one."""
    context_window: int | None
    max_output: int | None
    counter: Counter | None
    overhead: int | None
    """What system and tools cost where a record has neither them nor what was billed, in tokens."""
    prices: str | None
    """Cache write and read prices as multiples of the input price, such as ``1.25/0.1``."""
    gap: int | None
    """One pause between all requests, in seconds, instead of the recorded times."""
    cold_every: int | None
    timings: bool | None
    since: str | None
    """Only conversations that went on after this day or time."""
    project: str | None
    threads: int | None
    """All cores where nobody says; one where an engine runs several of these side by side."""


class Violation(TypedDict):
    """A rule that the provider would refuse a conversation for, in its own words."""

    path: str
    rule: str
    index: int
    message: str


class Change(TypedDict):
    """One change that made a history legal."""

    index: int
    change: Literal["removed", "changed", "inserted before"]
    reason: str


class Metrics(TypedDict):
    total_messages: int
    preserved_messages: int
    evicted_messages: int
    estimated_tokens: int


class Tokens(TypedDict):
    before: int
    after: int
    allowed: int | None


class Report(TypedDict):
    """What was decided, as ``louver trim --report`` writes it."""

    policy: str
    format: Format
    action: Literal["none", "truncate", "condense"]
    trigger: str | None
    metrics: Metrics
    tokens: Tokens
    kept: list[int]
    evicted: list[int]
    edited: list[int]
    prev_context_tokens: int
    new_context_tokens: int
    summary: str | None
    cost: float | None
    error: str | None
    warnings: list[str]


class Inspection(TypedDict):
    """What fills a window, as ``louver inspect --json`` prints it."""

    format: Format
    model: str | None
    counter: dict[str, Any]
    context_window: int | None
    allowed_tokens: int | None
    fill_of: str
    policy: str
    overhead: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    units: int
    totals: dict[str, int]
    total_tokens: int
