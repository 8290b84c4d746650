"""A custom source and sink: reads one SQLite table and writes another, exactly once.

    python examples/sqlite_tables.py shop.db

creates a table `orders` in the database if there is none, adds up its amounts per customer, and inserts every new total
into the table `totals`.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from firesteel.common import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext
from firesteel.functions.source import RecordBatches, Source, Split

BATCH = 1_000


@dataclass(frozen=True)
class TableSource(Source[tuple[Any, ...]]):
    """Reads an append-only table; a position is a row id, so any range can be read again."""

    database: str
    table: str
    columns: str

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return one split, which ends at the last row at this moment."""
        if self.table in known:
            return []
        with closing(sqlite3.connect(self.database)) as connection:
            (last,) = connection.execute(f"SELECT coalesce(max(rowid), 0) FROM {self.table}").fetchone()
        return [Split(self.table, start=1, end=last + 1)]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[tuple[Any, ...]]:
        """Yield the rows with ids in `[start, end)`; runs in a worker, which opens its own connection."""
        query = f"SELECT {self.columns} FROM {self.table} WHERE rowid >= ? AND rowid < ? ORDER BY rowid"
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute(query, (start, end))
            while batch := rows.fetchmany(BATCH):
                yield batch
        return None


@dataclass(frozen=True)
class TableSink(Sink[tuple[Any, ...]]):
    """Adds records to a table. They are staged under their epoch's attempt, and moved in one transaction."""

    database: str
    table: str
    columns: tuple[str, ...]

    def create_writer(self, context: WriterContext) -> TableWriter:
        """Open the writer; its stage has a name that is unique for this try of the subtask's epoch."""
        return TableWriter(self, f"{context.operator_id}/{context.subtask}/{context.attempt}")

    def create_committer(self) -> TableCommitter:
        """Open the committer, on the driver."""
        return TableCommitter(self)

    def connect(self) -> sqlite3.Connection:
        """Open the database with both tables; with `timeout`, writers of several subtasks wait for each other."""
        connection = sqlite3.connect(self.database, timeout=60)
        columns = ", ".join(self.columns)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({columns})")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {self.table}_staged (stage, {columns})")
        return connection


class TableWriter(SinkWriter[tuple[Any, ...]]):
    """Collects the records of an epoch and stages them, where nobody reads them."""

    def __init__(self, sink: TableSink, stage: str) -> None:
        self.sink = sink
        self.stage = stage
        self.rows: list[tuple[Any, ...]] = []

    def write(self, values: Sequence[tuple[Any, ...]], timestamps: Sequence[int | None] | None) -> None:
        """Add records."""
        self.rows.extend((self.stage, *value) for value in values)

    def prepare_commit(self) -> Sequence[str]:
        """Stage the rows durably; a commit needs only the name of the stage."""
        if not self.rows:
            return []
        marks = ", ".join("?" * (len(self.sink.columns) + 1))
        with closing(self.sink.connect()) as connection, connection:
            connection.executemany(f"INSERT INTO {self.sink.table}_staged VALUES ({marks})", self.rows)
        return [self.stage]


class TableCommitter(Committer):
    """Moves staged rows into the table. A moved stage is empty, so a second commit does nothing."""

    def __init__(self, sink: TableSink) -> None:
        self.sink = sink

    def commit(self, committables: Sequence[str]) -> None:
        """Move all stages in one transaction."""
        table, columns = self.sink.table, ", ".join(self.sink.columns)
        with closing(self.sink.connect()) as connection, connection:
            for stage in committables:
                staged = f"FROM {table}_staged WHERE stage = ?"
                connection.execute(f"INSERT INTO {table} SELECT {columns} {staged} ORDER BY rowid", (stage,))
                connection.execute(f"DELETE {staged}", (stage,))


def make_orders(database: str) -> None:
    """Create and fill the table `orders` if it does not exist."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS orders (customer TEXT, amount INTEGER)")
        (count,) = connection.execute("SELECT count(*) FROM orders").fetchone()
        if count == 0:
            orders = [(f"customer-{number % 7}", number % 100) for number in range(5_000)]
            connection.executemany("INSERT INTO orders VALUES (?, ?)", orders)


def main() -> None:
    """Run the job and print the last total of each customer."""
    (database,) = sys.argv[1:] or ["shop.db"]
    make_orders(database)

    env = StreamExecutionEnvironment.get_execution_environment()
    orders = env.from_source(
        TableSource(database, "orders", "customer, amount"), WatermarkStrategy.no_watermarks(), "orders"
    )
    totals = orders.key_by(lambda order: order[0]).reduce(
        lambda total, order: (total[0], total[1] + order[1])
    )
    totals.sink_to(TableSink(database, "totals", ("customer", "total")))
    env.execute("totals per customer")

    with closing(sqlite3.connect(database)) as connection:
        for customer, total in connection.execute(
            "SELECT customer, max(total) FROM totals GROUP BY customer"
        ):
            print(customer, total)


if __name__ == "__main__":
    main()
