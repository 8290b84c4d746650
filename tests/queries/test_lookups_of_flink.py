"""Rows that are looked up are those that real Flink finds in a database; see flink/ask_lookups.py."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.flink.lookup_tables import COLUMNS, HERE, IN_DATABASES, ROWS, definitions, values
from tests.queries.tables import described, expected, plain, rounded, table_of, texts

ANSWERS = [json.loads(line) for line in (HERE / "lookups.jsonl").read_text(encoding="utf-8").splitlines()]
UNKNOWN_OPTION = "'whatever'='0'"
"""Flink ignores it."""
FOUND = [given for given in ANSWERS if "refused" not in given and UNKNOWN_OPTION not in given["query"]]
MORE_HERE = ("x.k = 2", "IS NOT DISTINCT FROM")
"""What Flink does not take as a key, or as a condition."""
REFUSED = [
    given
    for given in ANSWERS
    if ("refused" in given or UNKNOWN_OPTION in given["query"])
    and not any(part in given["query"] for part in MORE_HERE)
]
WAYS: dict[str, dict[str, Any]] = {
    "many epochs": {"parallelism": 2, "epoch_records": 5},
    "batch": {"parallelism": 1},
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lookups") / "side.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, columns in IN_DATABASES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"INSERT INTO {table} VALUES {values(table)}")
    return path


@contextmanager
def session(database: Path, way: str) -> Iterator[TableEnvironment]:
    settings = EnvironmentSettings.in_streaming_mode()
    with executing(**WAYS[way]):
        env = TableEnvironment.create(EnvironmentSettings.in_batch_mode() if way == "batch" else settings)
        for statement in definitions(f"'url' = 'jdbc:sqlite:{database}'"):
            env.execute_sql(statement)
        yield env


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", FOUND, ids=lambda given: given["query"])
def test_a_database_has_the_rows_that_flink_finds(given: dict[str, Any], way: str, database: Path) -> None:
    with session(database, way) as env:
        check(env, given, way)


def check(env: TableEnvironment, given: dict[str, Any], way: str) -> None:
    batch = way == "batch"
    if batch and isinstance(given.get("batch"), dict):
        with pytest.raises(FiresteelError):
            table_of(env, given["query"])
        return
    names, types = described(env, given["query"])
    assert names == given["names"]
    assert plain(types) == plain(given["types"])
    rows = table_of(env, f"SELECT {', '.join(texts(names))} FROM answered")
    assert rounded(rows.elements(), types) == expected(given, batch=batch)


def find_tags(group: int, letter: str) -> list[tuple[Any, ...]]:
    return [row for row in ROWS["tags"] if row[:2] == (group, letter)]


async def find_people(key: int) -> tuple[Any, ...] | None:
    return next((row for row in ROWS["people"] if row[0] == key), None)


@pytest.mark.parametrize(
    "given",
    [
        given
        for given in FOUND
        # A table of a function with a primary key is asked for that key alone.
        if (
            "people " in given["query"]
            and not any(part in given["query"] for part in ("tags", "= grp", "grp = ", "= 'bob'"))
        )
        or "JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND asked.c = x.c" in given["query"]
    ],
    ids=lambda given: given["query"],
)
def test_functions_give_the_rows_that_flink_finds(given: dict[str, Any], database: Path) -> None:
    with session(database, "many epochs") as env:
        for name, columns in COLUMNS.items():
            env.execute_sql(f"DROP TABLE {name}")
            env.execute_sql(
                f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'python', "
                f"'function' = '{__name__}.find_{name}')"
            )
        check(env, given, "many epochs")


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: given["query"])
def test_what_flink_refuses_is_refused(given: dict[str, Any], database: Path) -> None:
    with session(database, "many epochs") as env, pytest.raises(FiresteelError):
        table_of(env, given["query"])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.k = 2", [("bob",)] * 12),
        ("x.k = 2 AND a = 1", [("bob",)] * 4 + [(None,)] * 8),
        ("a = x.k AND name IS NOT DISTINCT FROM 'ann'", [("ann",)] * 4 + [(None,)] * 8),
    ],
)
def test_keys_and_conditions_that_flink_does_not_take(
    condition: str, expected: list[tuple[Any, ...]], database: Path
) -> None:
    with session(database, "many epochs") as env:
        query = f"SELECT name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON {condition}"
        assert sorted(table_of(env, query).elements(), key=str) == sorted(expected, key=str)
