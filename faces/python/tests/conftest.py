"""The real parts that the tests talk to: the command line, and the sandbox that judges requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from talks import TURNS, WINDOW  # noqa: E402

LOUVER = os.environ.get("LOUVER_BIN", "")


@pytest.fixture(scope="session")
def louver_bin() -> str:
    if not LOUVER:
        pytest.fail("LOUVER_BIN names no command line: faces/python/test.sh builds one")
    return LOUVER


@dataclass
class Sandbox:
    url: str

    def journal(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/_sandbox/journal") as answer:
            return json.load(answer)


@pytest.fixture
def sandbox(louver_bin: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A model that calls a tool 200 times, or as often as a test says, and then answers; a tenth of it fills its window."""
    call = {"name": "read_file", "arguments": {"path": "a.txt"}}
    count = getattr(request, "param", TURNS)
    turns: list[dict[str, Any]] = [{"text": f"Step {turn}.", "calls": [call]} for turn in range(count)]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"name": "long", "turns": [*turns, {"text": "All is read."}]}))
    command = [louver_bin, "sandbox", "--scenario", str(scenario), "--context-window", str(WINDOW)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        yield Sandbox(address if address.startswith("http") else f"http://{address}")
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def run_louver(louver_bin: str) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """The command line, with an input."""

    def run(*arguments: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([louver_bin, *arguments], input=stdin, capture_output=True, timeout=300, check=False)

    return run
