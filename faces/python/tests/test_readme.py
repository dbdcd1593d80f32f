"""The README's examples run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Sandbox

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    for name, value in {"ANTHROPIC": sandbox.url, "OPENAI": f"{sandbox.url}/v1"}.items():
        monkeypatch.setenv(f"{name}_BASE_URL", value)
        monkeypatch.setenv(f"{name}_API_KEY", "key")
    exec(compile(EXAMPLES[number], f"README.md, example {number}", "exec"), {})


def test_the_first_example_has_five_lines() -> None:
    assert len([line for line in EXAMPLES[0].splitlines() if line.strip()]) == 5
