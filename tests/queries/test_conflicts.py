"""ON CONFLICT leaves the table that real Flink leaves; see flink/ask_conflicts.py for how it was asked."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, Final

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.testing import executing
from tests.queries.flink.statements import HERE
from tests.queries.tables import session

ANSWERS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (HERE / "conflicts.jsonl").read_text(encoding="utf-8").splitlines()
]
STRATEGIES: Final = ("DEDUPLICATE", "NOTHING", "ERROR")
WAYS: Final[dict[str, dict[str, Any]]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
}


def cases() -> list[Any]:
    return [
        pytest.param(given["query"], strategy, given[strategy], way, id=f"{way}-{strategy}-{given['query']}")
        for given in ANSWERS
        for strategy in STRATEGIES
        for way in WAYS
    ]


def written(path: Path, query: str, strategy: str) -> list[list[str | None]]:
    """Return the table that a query is written into, whose primary key is its first column."""
    env = session()
    fields = env.sql_query(query).get_resolved_schema().get_columns()
    kinds = ", ".join(
        f"`{field.get_name()}` {str(field.get_data_type()).removesuffix(' NOT NULL')}" for field in fields
    )
    key = fields[0].get_name()
    with sqlite3.connect(path / "db") as database:
        database.execute(f"CREATE TABLE written ({kinds}, PRIMARY KEY (`{key}`))")
    env.execute_sql(
        f"CREATE TABLE written ({kinds}, PRIMARY KEY (`{key}`) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'table-name' = 'written', 'url' = 'jdbc:sqlite:{path / 'db'}')"
    )
    env.execute_sql(f"INSERT INTO written {query} ON CONFLICT DO {strategy}").wait()
    with sqlite3.connect(path / "db") as database:
        rows = [
            [None if cell is None else str(cell) for cell in row]
            for row in database.execute("SELECT * FROM written")
        ]
    return sorted(rows, key=lambda row: row[0] or "")


@pytest.mark.parametrize(("query", "strategy", "rows", "way"), cases())
def test_the_table_is_flinks(query: str, strategy: str, rows: Any, way: str, tmp_path: Path) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        if isinstance(rows, str):
            with pytest.raises(FiresteelError):
                written(tmp_path, query, strategy)
        else:
            assert written(tmp_path, query, strategy) == rows
