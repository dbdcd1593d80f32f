"""Keeps LLM conversations inside the context window: cheaply, legally, and without losing anything.

>>> import louver
>>> window = louver.Window("claude-sonnet-5-5")
>>> window.push({"role": "user", "content": "Fix the failing test."})
0
>>> window.view_of([{"role": "user", "content": "Fix the failing test."}])
[{'role': 'user', 'content': 'Fix the failing test.'}]
"""

from ._condense import acondense, condense
from ._errors import InputError, Largest, LouverError, RecordError, RepairError, SettingsError, WindowOverflow
from ._louver import (
    Conversations,
    Fit,
    Job,
    Replay,
    Turn,
    Window,
    check,
    inspect,
    recall,
    repair,
    repair_report,
    replay,
    trim,
    trim_report,
)
from ._types import Change, Inspection, ReplaySettings, Report, Settings, Violation, WindowSettings
from .adapters.sdk import wrap

__all__ = [
    "Change",
    "Conversations",
    "Fit",
    "InputError",
    "Inspection",
    "Job",
    "Largest",
    "LouverError",
    "RecordError",
    "RepairError",
    "Replay",
    "ReplaySettings",
    "Report",
    "Settings",
    "SettingsError",
    "Turn",
    "Violation",
    "Window",
    "WindowOverflow",
    "WindowSettings",
    "acondense",
    "check",
    "condense",
    "inspect",
    "recall",
    "repair",
    "repair_report",
    "replay",
    "trim",
    "trim_report",
    "wrap",
]
