"""ON CONFLICT leaves the table that real Flink leaves; see flink/ask_conflicts.py for how it was asked."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.testing import executing
from tests.queries import test_changelogs
from tests.queries.flink.statements import HERE
from tests.queries.tables import session

ANSWERS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (HERE / "conflicts.jsonl").read_text(encoding="utf-8").splitlines()
]
STRATEGIES: Final = ("DEDUPLICATE", "NOTHING", "ERROR")
SPARK: Final = (pytest.mark.spark, pytest.mark.xdist_group("spark"))
WAYS: Final[dict[str, dict[str, Any]]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
}
BY_NAME: Final = "name STRING, id INT, weight INT, PRIMARY KEY (name)"


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


def latest(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Return what Flink's SinkUpsertMaterializer leaves: the row of each name that came last, of those there."""
    known: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for change in map(json.loads, lines):
        if (before := change["before"]) is not None:
            del known[before["name"]][before["id"]]
        if (after := change["after"]) is not None:
            known[after["name"]][after["id"]] = after["weight"]
    return {name: [*rows.items()][-1] for name, rows in known.items() if rows}


def deleted(name: str, key: int, weight: int) -> str:
    """Return the message that a row goes, so that the one before it comes back."""
    before = {"id": key, "name": name, "weight": weight}
    return json.dumps({"before": before, "after": None, "op": "d"})


@pytest.mark.parametrize(
    ("executor", "wanted"),
    [("process", "AUTO"), ("process", "FORCE"), pytest.param("spark", "AUTO", marks=SPARK)],
)
def test_the_last_of_the_rows_that_are_there_is_that_of_flink(
    tmp_path: Path, executor: Literal["process", "spark"], wanted: str
) -> None:
    path = tmp_path / "changes"
    path.mkdir()
    lines, _ = test_changelogs.messages(random.Random(wanted), 200)
    lines += [deleted(name, *row) for name, row in latest(lines).items()]
    (path / "changes.json").write_text("\n".join(lines))
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute(f"CREATE TABLE written ({BY_NAME})")
    with executing(executor, state_dir=str(tmp_path / "state"), parallelism=3, epoch_records=17):
        env = test_changelogs.session(path, **{"table.exec.sink.upsert-materialize": wanted})
        env.execute_sql(
            f"CREATE TABLE written ({BY_NAME} NOT ENFORCED) WITH ('connector' = 'jdbc', "
            f"'table-name' = 'written', 'url' = 'jdbc:sqlite:{tmp_path / 'db'}')"
        )
        statement = "INSERT INTO written SELECT name, id, weight FROM p ON CONFLICT DO DEDUPLICATE"
        assert "upsertMaterialize=[true]" in env.explain_sql(statement)
        env.execute_sql(statement).wait()
    with sqlite3.connect(tmp_path / "db") as database:
        found = {name: (key, weight) for name, key, weight in database.execute("SELECT * FROM written")}
    assert found == latest(lines)
