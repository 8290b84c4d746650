"""A table whose rows arrive at given processing times, and the job that reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from firesteel.connectors.tables.registry import register
from firesteel.control import EpochStats, JobHandle
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Split
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Watch

START = 1_000_000
"""The processing time at which jobs begin (milliseconds)."""

Table = Counter[tuple[Any, ...]]


class Arrival(NamedTuple):
    """A row: when it arrives (milliseconds after the start), its key, its value and its time (milliseconds)."""

    at: int
    k: str
    v: int
    ts: int = 0


class ArrivingSource(ColumnSource):
    """A split for each sequence of arrivals."""

    def __init__(self, splits: Mapping[str, Sequence[Arrival]]) -> None:
        self._splits = splits

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [Split(name, 0, len(rows), name) for name, rows in self._splits.items() if name not in known]

    def available(self, split: Split, position: int, now: int) -> int:
        return sum(row.at <= now - START for row in self._splits[split.payload])

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        rows = self._splits[split.payload][start:end]
        columns = {
            "k": pa.array([row.k for row in rows]),
            "v": pa.array([row.v for row in rows], pa.int64()),
            "ts": pa.array([row.ts * 1000 for row in rows], pa.timestamp("us")),
        }
        yield pa.RecordBatch.from_pydict(columns), None
        return None


class ArrivingConnector(TableConnector):
    name = "arriving"

    tables: Mapping[str, Mapping[str, Sequence[Arrival]]] = {}

    def source(self, table: TableRequest) -> TableSource:
        return TableSource(ArrivingSource(self.tables[table.options["rows"]]))


class Run(NamedTuple):
    """How a job went: its rows, and for each commit the time after the start with the rows that are visible then."""

    rows: Table
    commits: list[tuple[int, Table]]
    late: int


class Query:
    """A query over rows that arrive in a table `source`, in a zone and with options of the session.

    There may be a second table `other`, with a primary key `k` and the same options.
    """

    def __init__(
        self,
        splits: Mapping[str, Sequence[Arrival]],
        columns: str,
        query: str,
        *,
        zone: str = "UTC",
        options: Mapping[str, str] | None = None,
        table_options: str = "",
        other: Mapping[str, Sequence[Arrival]] | None = None,
    ) -> None:
        self._splits = splits
        self._columns = columns
        self._query = query
        self._options = {"table.local-time-zone": zone, **(options or {})}
        self._table_options = table_options
        self._other = other

    def run(
        self,
        directory: Path,
        parallelisms: Sequence[int] = (1,),
        *,
        epochs: int = 0,
        epoch_records: int | None = None,
    ) -> Run:
        """Run the job to its end, and note what is visible when.

        It has each parallelism for a number of `epochs` and is then stopped and started again, the last until it ends.
        """
        clock = ManualClock(START)
        commits: list[tuple[int, Table]] = []
        late = 0
        for number, parallelism in enumerate(parallelisms, 1):
            stats_of: list[EpochStats] = []

            def note(
                handle: JobHandle,
                stats: EpochStats,
                own: list[EpochStats] = stats_of,
                last: bool = number == len(parallelisms),
            ) -> None:
                commits.append((clock.now() - START, visible(directory)))
                own.append(stats)
                if len(own) == epochs and not last:
                    handle.stop()

            self._start(directory, Watch(note), clock, parallelism, epoch_records)
            late += counted(stats_of[-1], "numLateRecordsDropped")
        return Run(visible(directory), commits, late)

    def _start(
        self, directory: Path, watch: Watch, clock: ManualClock, parallelism: int, epoch_records: int | None
    ) -> None:
        register(ArrivingConnector())
        tables = {"source": self._splits, **({} if self._other is None else {"other": self._other})}
        ArrivingConnector.tables = {f"{directory}/{name}": splits for name, splits in tables.items()}
        with executing(
            clock=clock,
            listener=watch,
            state_dir=str(directory / "state"),
            parallelism=parallelism,
            epoch_records=epoch_records,
        ):
            env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
            for key, value in self._options.items():
                env.get_config().set(key, value)
            for name in tables:
                key = ", PRIMARY KEY (k) NOT ENFORCED" if name == "other" else ""
                env.execute_sql(
                    f"CREATE TABLE {name} ({self._columns}{key}) "
                    f"WITH ('connector' = 'arriving', 'rows' = '{directory}/{name}'{self._table_options})"
                )
            names = env.sql_query(self._query).get_resolved_schema().get_column_names()
            kinds = ", ".join(f"c{place} STRING" for place in range(len(names)))
            env.execute_sql(
                f"CREATE TABLE answer ({kinds}) "
                f"WITH ('connector' = 'filesystem', 'path' = '{directory / 'answer'}', 'format' = 'csv')"
            )
            casts = ", ".join(f"CAST(`{name}` AS STRING)" for name in names)
            job = env.execute_sql(f"INSERT INTO answer SELECT {casts} FROM ({self._query})").job
            assert job is not None
            watch.follow(job).wait(60)


def visible(directory: Path) -> Table:
    """Return the rows that a query has made visible, as texts."""
    return Counter(
        tuple(cell.strip('"') for cell in line.split(","))
        for part in (directory / "answer").glob("[!._]*")
        for line in part.read_text().splitlines()
    )


def counted(stats: EpochStats, metric: str) -> int:
    """Return a metric over all operators."""
    found = stats.metrics()
    assert found is not None
    return sum(int(operator.value(metric) or 0) for operator in found.operators)
