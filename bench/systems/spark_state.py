"""Spark's own keyed state in Python: `rows` is transformWithState, `pandas` is transformWithStateInPandas.

It runs only the keyed count, the purpose of these operators. Input is Spark's rate-micro-batch source, so records are
generated inside the JVM, and all records of a key in a batch arrive together: the count reads and writes its state once
per key and batch, not once per record. State is kept in RocksDB with changelog checkpoints.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from bench.systems.command import Run, Task, main
from bench.workload import LANES, Job, Outcome

BATCH = 200_000
"""Records per micro-batch: larger ones gain nothing, smaller ones pay the fixed cost of a batch more often."""


class Count(StatefulProcessor):
    """Counts each key's records in a ValueState and emits the count when it is complete."""

    def __init__(self, per_key: int, pandas: bool) -> None:
        self._per_key = per_key
        self._pandas = pandas

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "count long")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        stored = self._count.get()
        count: int = stored[0] if stored is not None else 0
        for part in rows:
            count += len(part) if self._pandas else 1
        self._count.update((count,))
        if count == self._per_key:
            yield self._result(key[0], count)

    def _result(self, key: int, count: int) -> Any:
        if not self._pandas:
            return Row(key=key, count=count)
        import pandas as pd  # in this mode only

        return pd.DataFrame({"key": [key], "count": [count]})


class Gather:
    """Adds up the results of each batch on the driver, and notes when batches ended."""

    def __init__(self, batches: int) -> None:
        self._last = batches - 1
        self._counts: dict[int, tuple[int, int]] = {}
        self.ended: dict[int, float] = {}
        self.done = threading.Event()

    def __call__(self, results: DataFrame, batch: int) -> None:
        sums = results.agg(sf.count("*"), sf.sum("count")).collect()[0]
        if batch <= self._last:
            self._counts[batch] = (sums[0], sums[1] or 0)
            self.ended[batch] = time.time()
        if batch >= self._last:
            self.done.set()

    def outcome(self) -> Outcome:
        """Return the counts of all batches."""
        return Outcome(
            sum(results for results, _ in self._counts.values()),
            sum(total for _, total in self._counts.values()),
        )


def session() -> SparkSession:
    """Return a session of Spark on this machine with two task slots."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return (
        SparkSession.builder.master(f"local[{LANES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", LANES)
        .config("spark.sql.streaming.stateStore.providerClass", store)
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.streaming.forceDeleteTempCheckpointLocation", "true")
        .getOrCreate()
    )


def start(
    spark: SparkSession, job: Job, mode: str, gather: Gather, checkpoint: str, batch: int
) -> StreamingQuery:
    """Start the query."""
    indices = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", batch)
        .option("numPartitions", LANES)
        .load()
    )
    grouped = indices.selectExpr(f"value * 7919 % {job.keys} as key", "value as number").groupBy("key")
    apply = grouped.transformWithStateInPandas if mode == "pandas" else grouped.transformWithState
    counted = apply(Count(job.per_key, mode == "pandas"), "key long, count long", "update", "none")
    writer = counted.writeStream.outputMode("update").option("checkpointLocation", checkpoint)
    return writer.foreachBatch(gather).start()


def run(task: Task) -> Run:
    """Run batches until all records are counted; the time is that from the end of the first batch to the last's."""
    job = task.job
    if job.kind != "count":
        raise SystemExit("transformWithState is measured on the keyed count only")
    batch = min(BATCH, job.records // LANES)
    batches = job.records // batch
    gather = Gather(batches)
    spark = session()
    query = start(spark, job, task.mode, gather, str(task.scratch / "checkpoint"), batch)
    while not gather.done.wait(0.2):
        if not query.isActive:
            raise SystemExit(f"the query ended: {query.exception()}")
    query.stop()
    spark.stop()
    return Run((batches - 1) * batch, gather.ended[batches - 1] - gather.ended[0], gather.outcome())


if __name__ == "__main__":
    main(run)
