"""Replay's rows are the command line's, and whatever reads Arrow reads them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from talks import tool_turns

import louver

POLICIES: Any = ["everything", "newest", "ladder"]
# Every so many conversations of the corpus, the smaller ones of them; all where there is time.
SLICE, MAX_BYTES = (1, 1 << 40) if os.environ.get("LOUVER_FULL") == "1" else (8, 400_000)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Recorded conversations: generated ones, and some of the corpus where there is one."""
    folder = tmp_path_factory.mktemp("sessions")
    for turns in (3, 40, 90):
        messages = [*tool_turns(turns), {"role": "assistant", "content": f"{turns} read."}]
        (folder / f"{turns}.json").write_text(json.dumps({"model": "gpt-5", "messages": messages}))
    corpus = os.environ.get("LOUVER_CORPUS", "")
    recorded = sorted(Path(corpus).rglob("*.json*")) if corpus else []
    few = [path for path in recorded if path.suffix in (".json", ".jsonl") and path.stat().st_size < MAX_BYTES]
    return [*sorted(folder.glob("*.json")), *few[::SLICE]]


@pytest.fixture(scope="module")
def written(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the command line says of them, without the command."""
    report = tmp_path_factory.mktemp("report") / "report.json"
    command = [os.environ["LOUVER_BIN"], "replay", *map(str, files), "--policy", ",".join(POLICIES), "--json", str(report)]
    done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    assert done.returncode in (0, 1), done.stderr
    return re.sub(r'^  "command": .*\n', "", report.read_text(), count=1, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def told(written: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(written)
    return read


def whole(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what JSON leaves out as null, as a column has it."""
    return {"session": None, "project": None, "last_time": None, "warnings": None, "micros_per_request": None, **row}


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["file"], row["policy"]))


def test_the_report_is_the_command_lines(files: list[Path], written: str, told: dict[str, Any]) -> None:
    replay = louver.replay(files, policy=POLICIES)
    assert replay.to_json() == written
    assert replay.rows() == told["runs"] and len(replay) == len(told["runs"]) >= 9
    assert (replay.totals, replay.skipped, replay.copies) == (told["totals"], told["skipped"], told["copies"])
    assert replay.assumed == told["assumed"] and "rows" in repr(replay)


def test_texts_by_their_names_give_the_same(files: list[Path], told: dict[str, Any]) -> None:
    texts = {str(path): path.read_bytes() for path in files}
    replay = louver.replay({**texts, "broken.json": b"\xff\xfe", "empty.json": "{}"}, policy="everything,newest,ladder")
    assert replay.rows() == told["runs"]
    left = {one["file"]: one["reason"] for one in replay.skipped}
    assert "valid UTF-8" in left["broken.json"] and "empty.json" in left


def test_settings_are_those_of_the_command_line(files: list[Path], tmp_path: Path) -> None:
    some = files[:2]
    assert {row["policy"] for row in louver.replay(some[0]).rows()} >= {"everything", "messages", "ladder"}
    tight = louver.replay(some, policy=["newest"], context_window=4_000, max_output=500, overhead=100, timings=True, threads=1)
    assert all(row["context_window"] == 4_000 and row["micros_per_request"] is not None for row in tight.rows())
    assert len(louver.replay({"old": some[0].read_text()}, policy="newest", project="elsewhere")) == 0
    for wrong in ({"policy": "best"}, {"prices": "cheap"}, {"since": "yesterday"}):
        with pytest.raises(louver.SettingsError):
            louver.replay(some, **wrong)  # type: ignore[arg-type]
    for wrong in ({"polcy": "newest"}, {"cold_every": 0}, {"max_output": "many"}):
        with pytest.raises(TypeError):
            louver.replay(some, **wrong)  # type: ignore[arg-type]
    with pytest.raises(louver.SettingsError, match="nothing to replay"):
        louver.replay(tmp_path)


def test_arrow_has_every_row_and_field(files: list[Path], told: dict[str, Any]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="skipped: tested in an environment of its own")
    replay = louver.replay(files, policy=POLICIES)
    table = arrow.table(replay)
    assert table.to_pylist() == [whole(row) for row in told["runs"]]
    assert table.schema == arrow.schema(louver.replay({})) and table.num_rows == len(replay)
    # A stream can be asked for again, and is gone with whoever took it.
    assert arrow.table(replay) == table
    assert arrow.table(louver.replay({})).num_rows == 0


def test_pandas_polars_and_duckdb_read_it(files: list[Path], told: dict[str, Any]) -> None:
    pandas = pytest.importorskip("pandas", reason="skipped: tested in an environment of its own")
    import duckdb
    import polars

    replay = louver.replay(files, policy=POLICIES)
    spent = sum(row["cost_usd"] for row in told["runs"] if row["policy"] == "ladder")
    frame = polars.DataFrame(replay)
    assert frame.to_dicts() == [whole(row) for row in told["runs"]]
    assert frame.filter(polars.col("policy") == "ladder")["cost_usd"].sum() == pytest.approx(spent)
    framed = pandas.DataFrame.from_arrow(replay)
    assert framed[framed.policy == "ladder"].cost_usd.sum() == pytest.approx(spent)
    assert list(framed.columns) == frame.columns
    asked = duckdb.sql("select sum(cost_usd), sum(tokens.read) from replay where policy = 'ladder'").fetchall()
    assert asked[0][0] == pytest.approx(spent)
    assert asked[0][1] == sum(row["tokens"]["read"] for row in told["runs"] if row["policy"] == "ladder")


def test_a_spark_job_writes_the_same_table(
    files: list[Path], told: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="skipped: tested in an environment of its own")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "examples/spark")
    import pyarrow.parquet
    from fleet import replayed_files
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        table = replayed_files(spark, [str(path) for path in files], policy=POLICIES)
        table.write.parquet(str(tmp_path / "table"))
    finally:
        spark.stop()
    written = pyarrow.parquet.read_table(tmp_path / "table").to_pylist()
    assert in_order(written) == in_order([whole(row) for row in told["runs"]])
