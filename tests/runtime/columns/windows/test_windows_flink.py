"""Queries with windows give what they give in real Flink (see flink/ask_windows.py), in one epoch and in many.

One subtask reads each file: which rows are late depends on their order.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing
from tests.runtime.columns.windows.flink.windows import TABLES

ANSWERS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "flink" / "windows.jsonl").read_text().splitlines()
]


def environment(directory: Path) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("table.local-time-zone", "America/Los_Angeles")
    for name, (rows, columns) in TABLES.items():
        path = directory / f"{name}.csv"
        path.write_text(rows.lstrip())
        env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
            "'format' = 'csv', 'csv.null-literal' = '')"
        )
    return env


def rows_of(directory: Path, query: str) -> Counter[tuple[Any, ...]]:
    with environment(directory).execute_sql(query).collect() as found:
        return Counter(tuple(None if value is None else str(value) for value in row) for row in found)


@pytest.mark.parametrize("given", ANSWERS, ids=lambda given: str(given["query"]))
def test_queries_answer_as_in_flink(given: dict[str, Any], tmp_path: Path) -> None:
    expected = Counter(map(tuple, given["rows"]))
    for epoch_records in (None, 1):
        with executing("process", epoch_records=epoch_records, parallelism=1):
            assert rows_of(tmp_path, given["query"]) == expected
