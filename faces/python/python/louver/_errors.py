"""What can go wrong, and what the engine knows about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Largest:
    """The largest message among those that have to be sent."""

    index: int
    tokens: int


class LouverError(Exception):
    """Anything that Louver refuses to do."""


class InputError(LouverError, ValueError):
    """Text that cannot be read, or a value that is no message."""

    path: str
    """Where, as a JSON path such as ``$.messages[3].content``."""
    offset: int | None
    """The same in bytes, where there was a text."""

    def __init__(self, message: str, path: str = "$", offset: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset


class SettingsError(LouverError, ValueError):
    """Settings that nothing can be done with."""


class WindowOverflow(LouverError):
    """A history that cannot be made to fit. Nothing has changed."""

    floor_tokens: int
    """The least that has to be sent: system, tools, what is pinned, and the last turn."""
    allowed_tokens: int
    """What the budget allows."""
    largest: Largest | None
    """The largest message in it; nothing where system and tools alone are too large."""

    def __init__(
        self, message: str, floor_tokens: int = 0, allowed_tokens: int = 0, largest: tuple[int, int] | None = None
    ) -> None:
        super().__init__(message)
        self.floor_tokens = floor_tokens
        self.allowed_tokens = allowed_tokens
        self.largest = Largest(*largest) if largest else None


class RecordError(LouverError, ValueError):
    """Records that are not of this window."""


class RepairError(LouverError):
    """A history that cannot be made legal."""

    repaired: Any
    """The history as far as it could be mended, in the form it came in."""
    left: Sequence[dict[str, Any]]
    """What is still refused in it."""

    def __init__(self, message: str, repaired: Any = None, left: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.repaired = repaired
        self.left = left
