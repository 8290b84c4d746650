"""Queries give the tables that real Flink gives: in one epoch and in many, at several parallelisms, in both modes.

`answers.json` has Flink's answers, which `ask_queries.py` asked for.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.common.logical_types import LogicalType, LogicalTypeRoot
from firesteel.connectors.tables import registry
from firesteel.connectors.tables.values import values_source
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSource
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.table.queries.tables import TABLES, materialized

ANSWERS: dict[str, dict[str, list[str]]] = json.loads((Path(__file__).parent / "answers.json").read_text())
DIFFERENT_HERE = {
    # Flink computes this one when it plans, and so has a row for no input, which it has not for others like it.
    "SELECT COUNT(*) FROM t WHERE FALSE",
}

REFUSED = [query for query in ANSWERS if "batch" not in ANSWERS[query] and "TABLE(SESSION" in query]
"""What is refused in BATCH mode here, too; legacy session windows and OVER by ranges of time are not."""

PRINTED = re.compile(r"^(?:\d+> )?([+-][IUD])\[(.*)\]$", re.MULTILINE)

WAYS = [("process", None, 1), ("process", 1, 1), ("process", 2, 2), ("process", None, 3)]
BATCH_WAYS = [("process", None, 2), ("process", 3, 1)]

R = LogicalTypeRoot
READERS: dict[LogicalTypeRoot, Callable[[str], Any]] = {
    R.INTEGER: int,
    R.BIGINT: int,
    R.VARCHAR: str,
    R.DECIMAL: Decimal,
    R.DOUBLE: float,
    R.BOOLEAN: lambda text: text == "true",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: dt.datetime.fromisoformat,
}


def read(text: str | None, kind: LogicalType) -> Any:
    return None if text is None else READERS[kind.root](text)


class Rows(TableConnector):
    """The rows of `tables.py`."""

    name = "rows"

    def source(self, table: TableRequest) -> TableSource:
        name = table.name.split(".")[-1]
        kinds = [field.type for field in table.row.fields]
        rows = [tuple(map(read, row, kinds)) for row in TABLES[name][1]]
        return TableSource(values_source(table.row, rows))


class Runner:
    """Runs a query into a print sink, and reads what is printed."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(
        self, query: str, mode: str, on: str, epoch: int | None, parallelism: int, options: Any = None
    ) -> list[str]:
        modes = {
            "streaming": EnvironmentSettings.in_streaming_mode,
            "batch": EnvironmentSettings.in_batch_mode,
        }
        environment = TableEnvironment.create(modes[mode]())
        for key, value in (options or {}).items():
            environment.get_config().set(key, value)
        for name, (columns, _) in TABLES.items():
            environment.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'rows')")
        row = environment.sql_query(query).get_resolved_schema()
        columns = ", ".join(
            f"`{column.get_name()}` {str(column.get_data_type()).split(' *')[0]}"
            for column in row.get_columns()
        )
        environment.execute_sql(f"CREATE TABLE printed ({columns}) WITH ('connector' = 'print')")
        self._capfd.readouterr()
        with executing(on, epoch_records=epoch, parallelism=parallelism):
            environment.execute_sql(f"INSERT INTO printed {query}").wait()
        return materialized((row, kind) for kind, row in PRINTED.findall(self._capfd.readouterr().out))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Runner:
    monkeypatch.setitem(registry._registered, "rows", Rows())
    return Runner(capfd)


@pytest.mark.parametrize("query", [query for query in ANSWERS if query not in DIFFERENT_HERE])
def test_streaming_queries_give_the_tables_of_flink(query: str, run: Runner) -> None:
    for way in WAYS:
        assert run(query, "streaming", *way) == ANSWERS[query]["streaming"], way


@pytest.mark.parametrize("query", [query for query in ANSWERS if "batch" in ANSWERS[query]])
def test_batch_queries_give_the_tables_of_flink(query: str, run: Runner) -> None:
    for way in BATCH_WAYS:
        assert run(query, "batch", *way) == ANSWERS[query]["batch"], way


@pytest.mark.parametrize("query", REFUSED)
def test_what_flink_refuses_is_refused(query: str, run: Runner) -> None:
    with pytest.raises(FiresteelError, match="not supported in BATCH mode"):
        run(query, "batch", *WAYS[0])


@pytest.mark.parametrize("query", [query for query in ANSWERS if "DISTINCT" in query and "FROM t" in query])
def test_split_distinct_gives_the_same(query: str, run: Runner) -> None:
    options = {
        "table.optimizer.distinct-agg.split.enabled": "true",
        "table.optimizer.agg-phase-strategy": "ONE_PHASE",
    }
    assert run(query, "streaming", "process", 2, 2, options) == ANSWERS[query]["streaming"]


@pytest.mark.spark
@pytest.mark.parametrize("query", [*ANSWERS][6::9])
def test_queries_run_on_spark(query: str, run: Runner) -> None:
    for way in (("spark", None, 2), ("spark", 4, 3)):
        assert run(query, "streaming", *way) == ANSWERS[query]["streaming"], way
