"""Queries over a connector of the program's own give the same table after failures, at another parallelism, too."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common.errors import FiresteelError
from firesteel.connectors.tables.registry import register
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Split
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ROWS = 120
KEYS = 7


def row(index: int) -> tuple[int, int, int]:
    """Return the key, the value and the time (milliseconds) of a row."""
    return index * 31 % KEYS, index * 17 % 23, index * 250


class UnsteadySource(ColumnSource):
    """Two splits of rows. Reading fails once at each of the given rows, as long as the mark of the row is not there."""

    def __init__(self, schema: pa.Schema, marks: Path, failures: tuple[int, ...]) -> None:
        self._schema = schema
        self._marks = marks
        self._failures = failures

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        half = ROWS // 2
        return [] if known else [Split("first", 0, half, 0), Split("second", 0, half, half)]

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
        yield pa.RecordBatch.from_arrays(columns, schema=self._schema), None
        return None


class UnsteadyConnector(TableConnector):
    name = "unsteady"

    def source(self, table: TableRequest) -> TableSource:
        names = table.row.field_names
        schema = pa.schema(list(zip(names, [pa.int64(), pa.int64(), pa.timestamp("us")], strict=True)))
        failures = tuple(map(int, filter(None, table.options["failures"].split(","))))
        return TableSource(UnsteadySource(schema, Path(table.options["marks"]), failures))


QUERIES = {
    "groups": (
        "k BIGINT, n BIGINT, s BIGINT, m BIGINT, d BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        "SELECT k, COUNT(*), SUM(v), MAX(v), COUNT(DISTINCT v) FROM source GROUP BY k",
    ),
    "groups of groups": (
        "n BIGINT, c BIGINT, m BIGINT, PRIMARY KEY (n) NOT ENFORCED",
        "SELECT n, COUNT(*), MIN(v) FROM (SELECT v, COUNT(*) AS n FROM source GROUP BY v) GROUP BY n",
    ),
    "windows": (
        "k BIGINT, ended TIMESTAMP(3), n BIGINT, s BIGINT",
        """SELECT k, window_end, COUNT(*), SUM(v)
        FROM TABLE(HOP(TABLE source, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))
        GROUP BY k, window_start, window_end""",
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
}


def run(home: Path, name: str, failures: str, parallelism: int, **more: Any) -> None:
    columns, query = QUERIES[name]
    register(UnsteadyConnector())
    with executing(state_dir=str(home / "state"), parallelism=parallelism, **more):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("restart-strategy.type", "none").set("parallelism.default", str(parallelism))
        env.execute_sql(
            "CREATE TABLE source (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '20' SECOND) "
            f"WITH ('connector' = 'unsteady', 'marks' = '{home}', 'failures' = '{failures}')"
        )
        env.execute_sql(
            f"CREATE TABLE answer ({columns}) "
            f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{home / 'result.db'}', 'table-name' = 'answer')"
        )
        env.execute_sql(f"INSERT INTO answer {query}").wait()


def table(home: Path) -> Counter[tuple[Any, ...]]:
    with sqlite3.connect(home / "result.db") as connection:
        return Counter(connection.execute("SELECT * FROM answer"))


def prepared(home: Path, name: str) -> Path:
    home.mkdir()
    declared = QUERIES[name][0].replace(" NOT ENFORCED", "").replace("TIMESTAMP(3)", "TEXT")
    with sqlite3.connect(home / "result.db") as connection:
        connection.execute(f"CREATE TABLE answer ({declared})")
    return home


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_survives_failures_and_changes_of_parallelism(tmp_path: Path, name: str) -> None:
    calm = prepared(tmp_path / "calm", name)
    run(calm, name, "", 1)
    expected = table(calm)
    assert expected

    home = prepared(tmp_path / "unsteady", name)
    for parallelism in (2, 1, 3):
        with pytest.raises(FiresteelError, match="cannot be read now"):
            run(home, name, "20,70,100", parallelism, epoch_records=11)
    run(home, name, "20,70,100", 2, epoch_records=11)
    assert table(home) == expected
