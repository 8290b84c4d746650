"""Jobs of one query, from a connector of the tests into a table of SQLite that shows what is visible."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.splits import finished_splits
from firesteel.connectors.tables.registry import register
from firesteel.control import EpochStats, JobHandle
from firesteel.functions.columns.connectors import (
    ChangelogMode,
    TableConnector,
    TableRequest,
    TableSource,
)
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Split
from firesteel.runtime.columns.batch import DELETE, UPDATE_AFTER
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Watch

ROWS = 120
HALF = ROWS // 2
KEYS = 7
LENGTHS = {"first": HALF, "second": HALF}

Table = Counter[tuple[Any, ...]]
Act = Callable[[JobHandle, EpochStats], None]


def row(index: int) -> tuple[int, int, int]:
    """Return the key, the value and the time (milliseconds) of a row."""
    return index * 31 % KEYS, index * 17 % 23, index * 250


class UnsteadySource(ColumnSource):
    """Two splits of rows. Reading fails once at each of the given rows, as long as the mark of the row is not there.

    With `upserts`, rows are the new ones of their keys, and some say that there is none.
    """

    def __init__(self, schema: pa.Schema, marks: Path, failures: tuple[int, ...], upserts: bool) -> None:
        self._schema = schema
        self._marks = marks
        self._failures = failures
        self._upserts = upserts

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [] if known else [Split("first", 0, HALF, 0), Split("second", 0, HALF, HALF)]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        indices = range(split.payload + start, split.payload + end)
        for failing in self._failures:
            mark = self._marks / str(failing)
            if failing in indices and not mark.exists():
                mark.touch()
                raise OSError(f"row {failing} cannot be read now")
        keys, values, times = zip(*map(row, indices), strict=True)
        stamps = pa.array([time * 1000 for time in times]).cast(self._schema.field(2).type)
        columns = [pa.array(keys, pa.int64()), pa.array(values, pa.int64()), stamps]
        kinds = [DELETE if value % 5 == 0 else UPDATE_AFTER for value in values]
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        yield rows, np.array(kinds) if self._upserts else None
        return None


class UnsteadyConnector(TableConnector):
    name = "unsteady"

    def source(self, table: TableRequest) -> TableSource:
        names = table.row.field_names
        schema = pa.schema(list(zip(names, [pa.int64(), pa.int64(), pa.timestamp("us")], strict=True)))
        failures = tuple(map(int, filter(None, table.options["failures"].split(","))))
        upserts = "upserts" in table.options
        mode = ChangelogMode.upserts() if upserts else ChangelogMode.inserts()
        return TableSource(UnsteadySource(schema, Path(table.options["marks"]), failures, upserts), mode)


QUERIES = {
    "groups": (
        "k BIGINT, n BIGINT, s BIGINT, m BIGINT, d BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "SELECT k, COUNT(*), SUM(v), MAX(v), COUNT(DISTINCT v) FROM source GROUP BY k",
    ),
    "groups of groups": (
        "n BIGINT, c BIGINT, m BIGINT, PRIMARY KEY (n) NOT ENFORCED",
        "SELECT n, COUNT(*), MIN(v) FROM (SELECT v, COUNT(*) AS n FROM source GROUP BY v) GROUP BY n",
    ),
    "groups of groups with extremes": (
        "n BIGINT, least BIGINT, most BIGINT, d BIGINT, PRIMARY KEY (n) NOT ENFORCED",
        """SELECT n, MIN(s), MAX(v), COUNT(DISTINCT s)
        FROM (SELECT v, COUNT(*) AS n, SUM(k) AS s FROM source GROUP BY v) AS counted GROUP BY n""",
    ),
    "different rows": (
        "k BIGINT, v BIGINT, PRIMARY KEY (k, v) NOT ENFORCED",
        "SELECT DISTINCT k, v FROM source WHERE v > 4",
    ),
    "the greatest groups": (
        "v BIGINT, s BIGINT, PRIMARY KEY (v) NOT ENFORCED",
        "SELECT v, s FROM (SELECT v, SUM(k) AS s FROM source GROUP BY v) AS summed ORDER BY s DESC, v LIMIT 4",
    ),
    "windows": (
        "k BIGINT, ended TIMESTAMP(3), n BIGINT, s BIGINT",
        """SELECT k, window_end, COUNT(*), SUM(v)
        FROM TABLE(HOP(TABLE source, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))
        GROUP BY k, window_start, window_end""",
    ),
    "windows of whole rows": (
        "ended TIMESTAMP(3), n BIGINT, d BIGINT",
        """SELECT window_end, COUNT(*), COUNT(DISTINCT v)
        FROM TABLE(CUMULATE(TABLE source, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))
        GROUP BY window_start, window_end""",
    ),
    "windows of windows": (
        "ended TIMESTAMP(3), n BIGINT, most BIGINT",
        """SELECT window_end, SUM(n), MAX(n) FROM TABLE(TUMBLE(TABLE counted, DESCRIPTOR(t), INTERVAL '6' SECOND))
        GROUP BY window_start, window_end""",
    ),
    "over windows": (
        "k BIGINT, t TIMESTAMP(3), n BIGINT, so_far BIGINT",
        "SELECT k, t, n, SUM(n) OVER (PARTITION BY k ORDER BY t) FROM counted",
    ),
    "in order of time": (
        "k BIGINT, v BIGINT, ts TIMESTAMP(3)",
        "SELECT k, v, ts FROM source WHERE v < 20 ORDER BY ts",
    ),
    "sessions": (
        "k BIGINT, ended TIMESTAMP(3), n BIGINT, s BIGINT",
        """SELECT k, window_end, COUNT(*), SUM(v)
        FROM TABLE(SESSION(TABLE source PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1.5' SECOND))
        GROUP BY k, window_start, window_end""",
    ),
    "over": (
        "k BIGINT, ts TIMESTAMP(3), s BIGINT",
        """SELECT k, ts,
        SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM source""",
    ),
    "over a range": (
        "k BIGINT, ts TIMESTAMP(3), n BIGINT, m BIGINT",
        """SELECT k, ts,
        COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW),
        MAX(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW)
        FROM source""",
    ),
    "over all": (
        "k BIGINT, ts TIMESTAMP(3), s BIGINT",
        "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM source",
    ),
    "outer join": (
        "k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        """SELECT a.k, a.n, b.s FROM (SELECT k, COUNT(*) AS n FROM source GROUP BY k) AS a
        LEFT JOIN (SELECT v, SUM(k) AS s FROM source GROUP BY v) AS b ON a.k = b.v""",
    ),
    "near in time": (
        "k BIGINT, ts TIMESTAMP(3), k2 BIGINT, ts2 TIMESTAMP(3)",
        """SELECT x.k, x.ts, y.k, y.ts FROM source AS x FULL JOIN source AS y
        ON x.k = y.k AND x.v < y.v AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '3' SECOND""",
    ),
    "joined windows": (
        "k BIGINT, v BIGINT, ended TIMESTAMP(3), k2 BIGINT, v2 BIGINT",
        """SELECT x.k, x.v, x.window_end, y.k, y.v
        FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '4' SECOND)) AS x
        FULL JOIN TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '4' SECOND)) AS y
        ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.k = y.k AND x.v < y.v""",
    ),
    "first of windows": (
        "k BIGINT, v BIGINT, ts TIMESTAMP(3), n BIGINT",
        """SELECT k, v, ts, n FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC, ts) AS n
          FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '6' SECOND))
        ) WHERE n <= 2""",
    ),
    "first by time": (
        "v BIGINT, k BIGINT, ts TIMESTAMP(3)",
        """SELECT v, k, ts FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY ts) AS n FROM source
        ) WHERE n = 1""",
    ),
    "versions": (
        "k BIGINT, ts TIMESTAMP(3), v BIGINT",
        """SELECT s.k, s.ts, r.v FROM source AS s
        LEFT JOIN versioned FOR SYSTEM_TIME AS OF s.ts AS r ON MOD(s.v, 7) = r.k""",
    ),
    "looked up": (
        "k BIGINT, v BIGINT, s VARCHAR(9)",
        """SELECT t.k, t.v, n.s FROM (SELECT k, v, PROCTIME() AS p FROM source) AS t
        LEFT JOIN names FOR SYSTEM_TIME AS OF t.p AS n ON t.k = n.k""",
    ),
    "first of keys": (
        "k BIGINT, n BIGINT, v BIGINT, PRIMARY KEY (k, n) NOT ENFORCED",
        """SELECT k, n, v FROM (
          SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, ts) AS n FROM source
        ) AS ranked WHERE n <= 3""",
    ),
    "first groups of keys": (
        "g BIGINT, n BIGINT, v BIGINT, s BIGINT, PRIMARY KEY (g, n) NOT ENFORCED",
        """SELECT g, n, v, s FROM (
          SELECT g, v, s, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s DESC, v) AS n
          FROM (SELECT v % 3 AS g, v, SUM(k) AS s FROM source GROUP BY v % 3, v) AS summed
        ) AS ranked WHERE n <= 2""",
    ),
    "first pairs of keys": (
        "k BIGINT, v BIGINT, w BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        """SELECT k, v, w FROM (
          SELECT x.k, x.v, y.v AS w, ROW_NUMBER() OVER (PARTITION BY x.k ORDER BY x.v DESC, y.v) AS n
          FROM source AS x JOIN source AS y ON x.k = y.k AND x.v < y.v
        ) AS ranked WHERE n = 1""",
    ),
    "last of keys": (
        "k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        """SELECT k, v FROM (
          SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM source
        ) AS ranked WHERE n = 1""",
    ),
    "upserts": (
        "g BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (g) NOT ENFORCED",
        "SELECT v % 3, COUNT(*), SUM(v) FROM upserted GROUP BY v % 3",
    ),
    "conflicts": (
        "n BIGINT, g BIGINT, PRIMARY KEY (n) NOT ENFORCED",
        """SELECT COUNT(*), g FROM (SELECT CASE WHEN v < 1 THEN 0 WHEN v < 4 THEN 1 WHEN v < 11 THEN 2 ELSE 3 END AS g
        FROM source) AS classed GROUP BY g""",
    ),
    "one of equal rows": (
        "v BIGINT, g BIGINT, PRIMARY KEY (v) NOT ENFORCED",
        "SELECT v, v % 3 FROM source",
    ),
    "changelogs": (
        "k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        """SELECT k, SUM(CASE WHEN op IN ('INSERT', 'UPDATE_AFTER') THEN n ELSE -n END)
        FROM TO_CHANGELOG(input => TABLE counted_again) GROUP BY k
        HAVING SUM(CASE WHEN op IN ('INSERT', 'UPDATE_AFTER') THEN n ELSE -n END) > 0""",
    ),
}
UPSERTING = (
    *("groups", "groups of groups", "groups of groups with extremes"),
    *("different rows", "the greatest groups", "outer join"),
    *(
        "first of keys",
        "first groups of keys",
        "first pairs of keys",
        "last of keys",
        "upserts",
        "changelogs",
    ),
)
"""The queries whose tables change; SQLite knows them, too."""

IN_SQLITE = {
    "upserts": "SELECT v % 3, COUNT(DISTINCT v), SUM(DISTINCT v) FROM source WHERE v % 5 <> 0 GROUP BY v % 3",
    "changelogs": "SELECT k, COUNT(*) FROM source WHERE v <= 10 GROUP BY k",
}
"""What SQLite is asked instead of a query."""

ON_CONFLICT = {
    "the greatest groups": "ON CONFLICT DO DEDUPLICATE",
    "conflicts": "ON CONFLICT DO DEDUPLICATE",
    "one of equal rows": "ON CONFLICT DO NOTHING",
}
"""What INSERTs end with whose query has another key than the table.

The groups of "conflicts" end with different counts, but have had the counts of each other before.
"""

TABLES = (
    """CREATE TABLE source (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
    WITH ('connector' = 'unsteady', 'marks' = '{home}', 'failures' = '{failures}')""",
    """CREATE TABLE versioned (k BIGINT, v BIGINT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED,
    WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
    WITH ('connector' = 'unsteady', 'marks' = '{home}', 'failures' = '')""",
    """CREATE TABLE upserted (k BIGINT, v BIGINT, ts TIMESTAMP(3), PRIMARY KEY (v) NOT ENFORCED)
    WITH ('connector' = 'unsteady', 'marks' = '{home}', 'failures' = '{failures}', 'upserts' = 'true')""",
    """CREATE TABLE names (k BIGINT, s STRING)
    WITH ('connector' = 'python', 'function' = 'tests.connectors.looked_up.tuples')""",
    """CREATE VIEW said AS SELECT k, v, op FROM source CROSS JOIN UNNEST(ARRAY['INSERT', 'DELETE']) AS u(op)
    WHERE op = 'INSERT' OR v > 10""",
    """CREATE VIEW counted_again AS SELECT k, COUNT(*) AS n FROM FROM_CHANGELOG(input => TABLE said) GROUP BY k""",
)

COUNTED = """CREATE VIEW counted AS SELECT k, window_time AS t, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '2' SECOND))
GROUP BY k, window_start, window_end, window_time"""


def state_of(home: Path, state: str = "state") -> Path:
    """Return the state directory of the query's job, whose program has the state directory `state` at `home`."""
    [directory] = (home / state).iterdir()
    return directory


def _still(handle: JobHandle, stats: EpochStats) -> None:
    """Let the job go on."""


def run(
    home: Path,
    name: str,
    failures: str = "",
    parallelism: int = 1,
    *,
    act: Act = _still,
    state: str = "state",
    query: str | None = None,
    options: dict[str, str] | None = None,
    **more: Any,
) -> None:
    """Run the job of a query until it ends; `act` is called after each epoch."""
    columns, known = QUERIES[name]
    register(UnsteadyConnector())
    watch = Watch(act)
    more = {"clock": ManualClock(1_000_000), **more}
    with executing(state_dir=str(home / state), parallelism=parallelism, listener=watch, **more):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("restart-strategy.type", "none").set("parallelism.default", str(parallelism))
        for key, value in (options or {}).items():
            env.get_config().set(key, value)
        for statement in (*TABLES, COUNTED):
            env.execute_sql(statement.format(home=home, failures=failures))
        env.execute_sql(
            f"CREATE TABLE answer ({columns}) "
            f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{home / 'result.db'}', 'table-name' = 'answer')"
        )
        job = env.execute_sql(f"INSERT INTO answer {query or known} {ON_CONFLICT.get(name, '')}").job
        assert job is not None
        watch.follow(job).wait(120)


def table(home: Path) -> Table:
    """Return the rows that are visible."""
    with sqlite3.connect(home / "result.db") as connection:
        return Counter(connection.execute("SELECT * FROM answer"))


def prepared(home: Path, name: str) -> Path:
    """Make the directory of a job, with an empty table for its answer."""
    home.mkdir()
    declared = QUERIES[name][0].replace(" NOT ENFORCED", "").replace("TIMESTAMP(3)", "TEXT")
    with sqlite3.connect(home / "result.db") as connection:
        connection.execute(f"CREATE TABLE answer ({declared})")
    return home


_calm: dict[str, Table] = {}


def expected(directory: Path, name: str) -> Table:
    """Return the table of a job that was left alone."""
    if name not in _calm:
        home = prepared(directory / "calm", name)
        run(home, name)
        _calm[name] = table(home)
        assert _calm[name]
    return _calm[name]


def read_so_far(state: Path) -> list[int]:
    """Return the rows that a job has read at its last commit."""
    storage = Storage.of(state)
    last = ManifestReader(storage).latest()
    assert last is not None
    [progress] = last.sources.values()
    positions = {split: left.position for split, left in progress.unfinished.items()}
    positions |= finished_splits(storage, progress)
    return [
        first + place
        for split, first in (("first", 0), ("second", HALF))
        for place in range(positions.get(split, 0))
    ]


@contextmanager
def _rows_in_sqlite(indices: Iterable[int]) -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE source (k, v, ts)")
        connection.executemany("INSERT INTO source VALUES (?, ?, ?)", map(row, indices))
        yield connection


def answer_of(name: str, indices: Iterable[int]) -> Table:
    """Return what SQLite answers over some rows; for queries that it knows."""
    with _rows_in_sqlite(indices) as connection:
        return Counter(connection.execute(IN_SQLITE.get(name, QUERIES[name][1])))
