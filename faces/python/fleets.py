"""Rows per second of the Spark job beside the command line's, over one folder of recorded sessions.

    faces/python/fleets.sh [FOLDER]      (default: LOUVER_CORPUS)

The command line is measured from its start to its end, the job with a Spark that is there already, as in a cluster; how long
Spark takes to be there is told beside it. Both have to come to the same rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/spark"))
os.environ["PYSPARK_PYTHON"] = sys.executable

import louver  # noqa: E402
import pyarrow.parquet  # noqa: E402
from fleet import replayed_files  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

POLICIES: Any = ["everything", "newest", "ladder"]


def in_order(rows: list[dict[str, Any]]) -> list[Any]:
    """What identifies a row and what it comes to."""
    return sorted((row["file"], row["policy"], row["requests"], row["cost_usd"]) for row in rows)


def main() -> None:
    folder = str(Path(sys.argv[1]).resolve())
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.json"
        command = [os.environ["LOUVER_BIN"], "replay", folder, "--policy", ",".join(POLICIES), "--json", str(report)]
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        alone = time.perf_counter() - start
        told = json.loads(report.read_bytes())["runs"]

        start = time.perf_counter()
        louver.replay(folder, policy=POLICIES, threads=cores)
        within = time.perf_counter() - start

        start = time.perf_counter()
        builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        replayed_files(spark, [told[0]["file"]], policy=POLICIES).collect()
        ready = time.perf_counter() - start
        start = time.perf_counter()
        replayed_files(spark, [folder], policy=POLICIES).write.parquet(f"{place}/table")
        job = time.perf_counter() - start
        spark.stop()
        rows = pyarrow.parquet.read_table(f"{place}/table").to_pylist()
    same = "the same rows" if in_order(rows) == in_order(told) else "NOT the same rows"
    print(f"{cores} cores, {len(told)} rows, {same}")
    for name, seconds in (("louver replay", alone), ("louver.replay in Python", within), ("the Spark job", job)):
        print(f"  {name:<24} {seconds:>7.2f} s  {len(told) / seconds:>8.0f} rows/s")
    print(f"  Spark was there after {ready:.1f} s")


if __name__ == "__main__":
    main()
