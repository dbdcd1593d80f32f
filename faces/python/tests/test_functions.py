"""The functions say what the command line says, byte for byte."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from talks import tool_turns

import louver

POLICIES = ["ladder", "tokens", "messages", "newest"]
VECTORS = Path(__file__).parents[3] / "crates/louver/tests/data/vectors"
# Every conversation of the corpus under one of the policies; under all of them where there is time.
IS_FULL = os.environ.get("LOUVER_FULL") == "1"


def flags(settings: dict[str, Any]) -> list[str]:
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def assert_alike(run_louver: Any, text: bytes, settings: dict[str, Any], tmp_path: Path) -> None:
    """Text, dicts and the command line decide alike."""
    report_file = tmp_path / "report.json"
    done = run_louver("trim", *flags(settings), "--report", str(report_file), stdin=text)
    try:
        trimmed, report = louver.trim_report(text, **settings)
    except louver.LouverError as error:
        assert done.returncode == 2 and str(error).split(";")[0] in done.stderr.decode(), (str(error), done.stderr)
        return
    assert done.returncode == 0, done.stderr
    assert trimmed == done.stdout
    assert louver.trim(text.decode(), **settings) == done.stdout.decode()
    written = json.loads(report_file.read_bytes())
    assert {**report, "warnings": []} == {**written, "warnings": []}
    body = json.loads(text)
    objects = louver.trim(body, **settings)
    assert objects == json.loads(trimmed)
    assert body == json.loads(text)
    history = body if isinstance(body, list) else next(body[key] for key in ("messages", "input", "contents") if key in body)
    out = objects if isinstance(objects, list) else next(objects[key] for key in ("messages", "input", "contents") if key in objects)
    kept = [index for index in report["kept"] if index not in report["edited"]]
    same = {id(message) for message in out}
    assert all(id(history[index]) in same for index in kept)


@pytest.mark.parametrize("policy", POLICIES)
def test_generated_conversations_are_trimmed_alike(run_louver: Any, policy: str, tmp_path: Path) -> None:
    settings = {"policy": policy, "counter": "chars4"}
    if policy != "messages":
        settings |= {"context_window": 4_000, "max_output": 500}
    for turns in (0, 3, 40, 120):
        text = json.dumps({"model": "gpt-4", "messages": tool_turns(turns)}, indent=1).encode()
        assert_alike(run_louver, text, settings, tmp_path)


def test_the_vectors_are_decided_as_they_say(run_louver: Any, tmp_path: Path) -> None:
    """The message windows of the original system."""
    cases = json.loads((VECTORS / "message_window.json").read_text())["cases"]
    assert len(cases) > 10
    for case in cases:
        settings = {"policy": "messages", "max_messages": case["max_messages"], "counter": "chars4"}
        settings |= {"preserve_first": case["preserve_first_n"], "preserve_last": case["preserve_last_n"]}
        roles = ["user", "assistant"]
        messages = [{"role": roles[i % 2], "content": f"Message {i}"} for i in range(case["messages"])]
        _, report = louver.trim_report(messages, format="openai-chat", **settings)  # type: ignore[arg-type]
        assert (report["kept"], report["evicted"], report["metrics"]) == (case["kept"], case["evicted"], case["metrics"])
        assert_alike(run_louver, json.dumps(messages).encode(), {**settings, "format": "openai-chat"}, tmp_path)


def corpus() -> list[Path]:
    folder = os.environ.get("LOUVER_CORPUS", "")
    return sorted(Path(folder).rglob("*.json")) if folder else []


def test_the_corpus_is_trimmed_alike(run_louver: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = corpus()
    if not files:
        pytest.skip("skipped: LOUVER_CORPUS names no folder with conversations")
    for number, path in enumerate(files):
        for policy in POLICIES if IS_FULL else [POLICIES[number % len(POLICIES)]]:
            settings: dict[str, Any] = {"policy": policy, "counter": "chars4"}
            if policy != "messages":
                settings |= {"context_window": 16_000, "max_output": 2_000}
            assert_alike(run_louver, path.read_bytes(), settings, tmp_path)
    with capsys.disabled():
        print(f"\n{len(files)} conversations of the corpus, each under {len(POLICIES) if IS_FULL else 1} of the policies")


BROKEN = [
    {"role": "user", "content": "Hi"},
    {"role": "tool", "tool_call_id": "nobody", "content": "?"},
    {"role": "assistant", "content": "Hello"},
]


def test_check_and_repair_say_the_same(run_louver: Any) -> None:
    text = json.dumps(BROKEN).encode()
    found = run_louver("check", "--json", "--format", "openai-chat", stdin=text)
    assert louver.check(text, format="openai-chat") == json.loads(found.stdout) != []
    assert louver.check(BROKEN, format="openai-chat") == json.loads(found.stdout)
    mended = run_louver("repair", "--format", "openai-chat", stdin=text)
    assert louver.repair(text, format="openai-chat") == mended.stdout
    objects, changes = louver.repair_report(BROKEN, format="openai-chat")
    assert objects == json.loads(mended.stdout) and len(changes) == 1 and changes[0]["change"] == "removed"
    assert objects[0] is BROKEN[0] and len(BROKEN) == 3
    legal = tuple(tool_turns(2))
    assert louver.repair(legal) is legal and louver.trim(legal, model="gpt-5") is legal


def test_what_cannot_be_mended_is_handed_over_as_far_as_it_goes() -> None:
    system = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5
    body = {"model": "claude-sonnet-5-5", "max_tokens": 9, "system": system, "messages": [{"role": "user", "content": "Hi"}]}
    with pytest.raises(louver.RepairError) as left:
        louver.repair(body)
    assert left.value.repaired == body and left.value.left


def test_inspect_and_recall_say_the_same(run_louver: Any) -> None:
    text = json.dumps(tool_turns(60)).encode()
    settings: Any = {"policy": "ladder", "context_window": 4_000, "max_output": 500, "counter": "chars4"}
    shown = run_louver("inspect", "--json", *flags(settings), stdin=text)
    assert louver.inspect(text, **settings) == json.loads(shown.stdout)
    for wanted in ("3-4", "17.txt"):
        found = run_louver("recall", wanted, "--json", *flags(settings), "-", stdin=text)
        assert louver.recall(wanted, text, **settings) == json.loads(found.stdout) != []
    history = tool_turns(60)
    assert louver.recall("3", history)[0]["message"] is history[3]
    assert louver.recall("999", history) == []
    with pytest.raises(louver.SettingsError):
        louver.recall("[louver:x]", history)
