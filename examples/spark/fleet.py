"""A Spark job that replays a fleet's recorded sessions: a file is a row, and so is what it comes to under a policy.

What two sessions have in common is counted once where they are replayed together, so whatever belongs together should
stand in one partition (`repartition("project")`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import louver


def replayed_files(spark: SparkSession, paths: list[str], **settings: Any) -> DataFrame:
    """A row per conversation and policy, as `louver replay --json` has them."""

    def replayed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = [path.removeprefix("file:") for path in batch["path"].to_pylist()]
            texts = dict(zip(names, batch["content"].to_pylist(), strict=True))
            yield from pa.table(louver.replay(texts, threads=1, **settings)).to_batches()

    # Folders count with what is below them.
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("pathGlobFilter", "*.json*")
    sessions = files.load(paths).select("path", "content")
    return sessions.mapInArrow(replayed, from_arrow_schema(pa.schema(louver.replay({}))))


if __name__ == "__main__":
    spark = SparkSession.builder.getOrCreate()
    *paths, table = sys.argv[1:]
    replayed_files(spark, paths).write.parquet(table)
