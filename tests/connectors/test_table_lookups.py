"""Rows of tables that are looked up: in databases, in files, by functions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import (
    ConfigurationError,
    ConnectorError,
    ProgramError,
    TypeMismatchError,
)
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.registry import connector_of
from firesteel.connectors.tables.values import rows_of
from firesteel.functions.columns.lookups import FullCache, LookupCalls, LookupTable, PartialCache
from tests.connectors import looked_up
from tests.connectors.column_ends import request, row_type
from tests.connectors.conftest import Target

COLUMNS = "k INT, s STRING"


def table_of(
    connector: str,
    options: Mapping[str, str],
    columns: str = COLUMNS,
    keys: tuple[str, ...] = ("k",),
    calls: LookupCalls = LookupCalls(),  # noqa: B008
    primary_key: list[str] | None = None,
) -> LookupTable:
    made = connector_of(connector, "table 't'").lookup(
        request(columns, options, key=primary_key), keys, calls
    )
    assert made is not None
    return made


def found(
    table: LookupTable, keys: list[tuple[Any, ...]], columns: str = COLUMNS, names: tuple[str, ...] = ("k",)
) -> list[tuple[int, tuple[Any, ...]]]:
    row = row_type(columns)
    of_keys = row_type(", ".join(f"{name} {row.fields[row.field_names.index(name)].type}" for name in names))
    table.lookup.open()
    try:
        answer = table.lookup.look_up(rows_of(of_keys, keys))
    finally:
        table.lookup.close()
    assert answer.rows.schema == to_arrow_schema(row)
    return sorted(
        zip(answer.keys.tolist(), map(tuple, (row.values() for row in answer.rows.to_pylist())), strict=True),
        key=str,
    )


def python(function: str, **more: Any) -> LookupTable:
    takes = more.pop("takes", None)
    options = {"function": f"tests.connectors.looked_up.{function}"} | (
        {} if takes is None else {"function.takes": takes}
    )
    return table_of("python", options | more.pop("options", {}), **more)


ANN, BOB = (0, (1, "ann")), (2, (2, "bob"))


@pytest.mark.parametrize(
    ("function", "takes", "expected"),
    [
        ("a_dict", None, [ANN, BOB]),
        ("a_row", "key", [ANN, (1, (7, None)), BOB]),
        ("tuples", "key", [(0, (1, "ANN")), ANN, (2, (2, "BOB")), BOB]),
        ("of_many", "keys", [ANN, BOB]),
        ("of_arrow", "arrow", [ANN, BOB]),
        ("later", "key", [(0, (1, "1")), (1, (7, "7")), (2, (2, "2"))]),
    ],
)
def test_a_function_finds_rows(function: str, takes: str | None, expected: list[Any]) -> None:
    table = python(function, takes=takes)
    assert found(table, [(1,), (7,), (2,)]) == expected
    assert table.asynchronous == (function == "later")
    assert table.cache is None


def test_a_function_gets_the_columns_in_the_order_of_the_table() -> None:
    names = ("k", "s")
    assert found(python("of_two", keys=names), [(1, "ann"), (1, "bob")], names=names) == [(0, (1, "ann"))]


def test_a_coroutine_is_called_for_as_many_keys_at_once_as_there_may_be() -> None:
    looked_up.RUNNING.update(now=0, most=0)
    keys = [(key,) for key in range(50)]
    assert len(found(python("later", calls=LookupCalls(capacity=7)), keys)) == 50
    assert looked_up.RUNNING == {"now": 0, "most": 7}


@pytest.mark.parametrize(
    ("function", "takes", "error", "said"),
    [
        ("never", "key", ConnectorError, r"table 't' requires an answer within 5 ms; got none for \(1,\)"),
        ("too_few", "keys", TypeMismatchError, "a list of 1 answers, one for each key; got 0 answers"),
        ("wrong", "key", TypeMismatchError, r"rows with the columns k, s: .*; got \{'k': 1\}"),
        ("a_dict", "arrow", TypeError, "unhashable"),
        ("later", "arrow", TypeMismatchError, "an Arrow batch or table with the columns k, s; got tuple"),
    ],
)
def test_what_a_function_may_not_do(function: str, takes: str, error: Any, said: str) -> None:
    calls = LookupCalls(timeout=5)
    with pytest.raises(error, match=said):
        found(python(function, takes=takes, calls=calls), [(1,)])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "requires the option 'function'"),
        ({"function": "tests.connectors.looked_up.nothing"}, "requires 'module.name' of a function"),
        ({"function": "nothing"}, "requires 'module.name' of a function"),
        ({"function": "tests.connectors.looked_up.NO_FUNCTION"}, "requires a function as the option"),
        (
            {"function": "tests.connectors.looked_up.a_dict", "function.takes": "all"},
            "one of key, keys, arrow",
        ),
        (
            {"function": "tests.connectors.looked_up.a_dict", "lookup.cash": "FULL"},
            "did you mean 'lookup.cache'",
        ),
        (
            {"function": "tests.connectors.looked_up.a_dict", "lookup.cache": "FULL"},
            r"NONE or PARTIAL \(not all rows can be read\)",
        ),
    ],
)
def test_what_a_table_of_a_function_requires(options: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        table_of("python", options)


def test_a_primary_key_says_by_what_a_function_looks_up() -> None:
    assert python("a_dict", primary_key=["k"]).cache is None
    with pytest.raises(ProgramError, match=r"requires equalities of its primary key \(k\), and of no other"):
        python("a_dict", primary_key=["k"], keys=("k", "s"))


@pytest.mark.parametrize(
    ("options", "cache"),
    [
        ({"lookup.cache": "none"}, None),
        ({"lookup.cache": "PARTIAL"}, PartialCache()),
        (
            {
                "lookup.cache": "PARTIAL",
                "lookup.partial-cache.max-rows": "9",
                "lookup.partial-cache.expire-after-write": "1 min",
                "lookup.partial-cache.expire-after-access": "10 s",
                "lookup.partial-cache.cache-missing-key": "false",
            },
            PartialCache(9, 60_000, 10_000, missing=False),
        ),
        ({"lookup.cache": "FULL", "lookup.full-cache.periodic-reload.interval": "1 h"}, FullCache(3_600_000)),
        (
            {
                "lookup.cache": "FULL",
                "lookup.full-cache.reload-strategy": "TIMED",
                "lookup.full-cache.timed-reload.iso-time": "01:00",
                "lookup.full-cache.timed-reload.interval-in-days": "2",
            },
            FullCache(at=3_600_000, days=2),
        ),
        ({"lookup.cache.max-rows": "9", "lookup.cache.ttl": "1 min"}, PartialCache(9, 60_000)),
        (
            {
                "lookup.cache": "NONE",
                "lookup.cache.max-rows": "9",
                "lookup.cache.ttl": "1 min",
                "lookup.cache.caching-missing-key": "false",
            },
            PartialCache(9, 60_000, missing=False),
        ),
        ({"lookup.cache.max-rows": "-1", "lookup.cache.ttl": "1 min"}, None),
        ({"lookup.cache.max-rows": "9", "lookup.cache.ttl": "0 s"}, None),
        ({"lookup.cache.caching-missing-key": "false"}, None),
        (
            {"lookup.cache": "PARTIAL", "lookup.cache.max-rows": "9", "lookup.cache.ttl": "1 min"},
            PartialCache(),
        ),
    ],
)
def test_what_is_kept(options: dict[str, str], cache: Any) -> None:
    given = {"url": "jdbc:sqlite:unused.db", "table-name": "t", **options}
    assert table_of("jdbc", given).cache == cache


@pytest.mark.parametrize(
    ("given", "missing"), [("max-rows", "ttl"), ("ttl", "max-rows")], ids=["only rows", "only time"]
)
def test_older_names_come_together(given: str, missing: str) -> None:
    options = {f"lookup.cache.{given}": "5", "url": "jdbc:sqlite:unused.db", "table-name": "t"}
    with pytest.raises(ConfigurationError, match=rf"requires the option 'lookup\.cache\.{missing}'"):
        table_of("jdbc", options)


@pytest.mark.parametrize("option", ["PERIODIC", "TIMED"])
def test_a_full_cache_says_when_it_is_read_again(option: str) -> None:
    options = {"lookup.cache": "FULL", "lookup.full-cache.reload-strategy": option}
    with pytest.raises(
        ConfigurationError, match=r"requires the option 'lookup.full-cache.*(interval|iso-time)'"
    ):
        table_of("jdbc", {"url": "jdbc:sqlite:unused.db", "table-name": "t", **options})


def jdbc(target: Target, columns: str, keys: tuple[str, ...], **options: str) -> LookupTable:
    url = (
        f"jdbc:{target.url}"
        if "postgresql" in target.url
        else f"jdbc:sqlite:{target.url.removeprefix('sqlite:///')}"
    )
    given = {"url": url.replace("+psycopg", ""), "table-name": "t", **options}
    return table_of("jdbc", given, columns, keys)


def test_a_database_has_rows_of_many_keys(target: Target) -> None:
    target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    target.run("INSERT INTO t VALUES " + ", ".join(f"({key}, 'v{key % 7}')" for key in range(0, 2_000, 2)))
    target.run("INSERT INTO t VALUES (4, 'twice')")
    table = jdbc(target, COLUMNS, ("k",))
    answers = found(table, [(key,) for key in range(1_500)])
    assert len(answers) == 751
    assert [row for number, row in answers if number == 4] == [(4, "twice"), (4, "v4")]
    assert all(number == row[0] for number, row in answers)
    both = jdbc(target, COLUMNS, ("k", "s"))
    assert found(both, [(4, "v4"), (4, "v5")], names=("k", "s")) == [(0, (4, "v4"))]


def test_values_of_all_types_come_back_from_a_database(target: Target) -> None:
    target.run(
        "CREATE TABLE t (k INTEGER, b BOOLEAN, d DECIMAL(8, 2), f DOUBLE PRECISION, x DATE, m TIMESTAMP, s TEXT)",
        "INSERT INTO t VALUES (1, TRUE, 12.50, 0.5, '2026-01-02', '2026-01-02 03:04:05.25', 'a')",
        "INSERT INTO t VALUES (2, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    columns = "k BIGINT, b BOOLEAN, d DECIMAL(8, 2), f DOUBLE, x DATE, m TIMESTAMP(3), s STRING"
    day, moment = dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4, 5, 250_000)
    assert found(jdbc(target, columns, ("k",)), [(1,), (2,)], columns) == [
        (0, (1, True, Decimal("12.50"), 0.5, day, moment, "a")),
        (1, (2, *(None,) * 6)),
    ]
    by_value = jdbc(target, columns, ("d", "x"))
    assert len(found(by_value, [(Decimal("12.50"), day)], columns, ("d", "x"))) == 1


def test_all_rows_of_a_database_are_read_for_a_full_cache(target: Target) -> None:
    target.run("CREATE TABLE t (k INTEGER, s TEXT)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    options = {"lookup.cache": "FULL", "lookup.full-cache.periodic-reload.interval": "1 h"}
    table = jdbc(target, COLUMNS, ("k",), **options)
    table.lookup.open()
    assert sorted(row["s"] for rows in table.lookup.rows() for row in rows.to_pylist()) == ["a", "b"]
    table.lookup.close()
    assert table.cache == FullCache(3_600_000)


def test_a_database_that_does_not_answer_is_an_error(target: Target) -> None:
    with pytest.raises(ConnectorError, match="lookup in the table 't', requires a database that answers"):
        found(jdbc(target, COLUMNS, ("k",), **{"lookup.max-retries": "0"}), [(1,)])


def test_files_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("1,ann\n2,bob\n")
    (tmp_path / "two.csv").write_text("2,eve\n")
    options = {"path": str(tmp_path), "format": "csv"}
    table = table_of("filesystem", options)
    rows = sorted(tuple(row.values()) for some in table.lookup.rows() for row in some.to_pylist())
    assert rows == [(1, "ann"), (2, "bob"), (2, "eve")]
    assert table.cache == FullCache()
    (tmp_path / "three.csv").write_text("3,dan\n")
    assert sum(some.num_rows for some in table.lookup.rows()) == 4
    every = {**options, "lookup.full-cache.periodic-reload.interval": "10 s"}
    assert table_of("filesystem", every).cache == FullCache(10_000)
    with pytest.raises(ConfigurationError, match=r"requires FULL as the option 'lookup\.cache'"):
        table_of("filesystem", {**options, "lookup.cache": "PARTIAL"})
