"""The connector 'jdbc' as a source: which rows a database does not send, and that none is lost."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random
from typing import Any, Literal

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction, Like, NullTest
from tests.connectors.column_ends import read, row_type
from tests.connectors.conditions import holds
from tests.connectors.conftest import Target
from tests.connectors.jdbc_tables import COLUMNS, ROW, partitioned, source_of


def filtered(target: Target, condition: Condition, columns: str = COLUMNS) -> list[tuple[Any, ...]]:
    source = source_of(target, columns).filtered(condition)
    assert source is not None
    return sorted(read(source, row=row_type(columns)), key=str)


STORED = {
    "k": ("INTEGER", "INT"),
    "s": ("TEXT", "STRING"),
    "f": ("DOUBLE PRECISION", "DOUBLE"),
    "d": ("NUMERIC(10, 4)", "DECIMAL(10, 2)"),
    "e": ("NUMERIC(10, 2)", "DECIMAL(10, 2)"),
    "x": ("DATE", "DATE"),
    "m": ("TIMESTAMP", "TIMESTAMP(3)"),
    "n": ("TIMESTAMP", "TIMESTAMP(6)"),
    "b": ("BOOLEAN", "BOOLEAN"),
}
TYPED = ", ".join(f"{name} {declared}" for name, (_, declared) in STORED.items())
DAY, MOMENT = dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4, 5)


@pytest.fixture
def typed(target: Target) -> Target:
    target.run(f"CREATE TABLE t ({', '.join(f'{name} {stored}' for name, (stored, _) in STORED.items())})")
    for place in range(10):
        moment = MOMENT + dt.timedelta(microseconds=400 * place)
        target.run(
            f"INSERT INTO t VALUES ({place}, '{'aBcDeFghi '[place]}', {place}.5, {place}.0051, {place}.25, "
            f"'{DAY + dt.timedelta(place)}', '{moment}', '{moment}', {'TRUE' if place % 2 else 'FALSE'})"
        )
    target.run(f"INSERT INTO t VALUES ({', '.join(['NULL'] * len(STORED))})")
    return target


LATER = MOMENT + dt.timedelta(milliseconds=2)
CONDITIONS: list[tuple[Condition, int, int]] = [
    (Comparison("k", ">", 6), 3, 3),
    (Comparison("k", "<>", 6), 9, 9),
    (NullTest("k"), 1, 1),
    (NullTest("s", negated=True), 10, 10),
    (Comparison("s", "=", "B"), 1, 1),
    (Comparison("s", ">", "a"), 5, 5),
    (Comparison("s", "<>", "a"), 9, 9),
    (Comparison("s", "<=", "F"), 4, 4),
    (Like("s", "_"), 10, 10),
    (Like("s", "D%"), 1, 1),
    (Comparison("f", "<", 3.5), 3, 3),
    (Comparison("d", "=", Decimal("2.01")), 1, 11),
    (Comparison("d", ">", Decimal("7.01")), 3, 11),
    (Comparison("e", ">=", Decimal("7.25")), 3, 11),
    (NullTest("d"), 11, 11),
    (Comparison("x", "<=", DAY), 1, 1),
    (Comparison("m", "<", LATER), 8, 10),
    (Comparison("m", "=", LATER), 5, 10),
    (Comparison("m", "<>", LATER), 11, 11),
    (Comparison("m", ">", LATER + dt.timedelta(seconds=1)), 0, 0),
    (Comparison("n", ">=", LATER), 5, 10),
    (Comparison("b", "=", True), 5, 5),
    (Comparison("b", "<>", True), 5, 5),
    (Junction((Comparison("k", ">", 2), Comparison("m", "<>", LATER), Comparison("k", "<", 5))), 2, 2),
    (Junction((Comparison("k", "=", 2), Comparison("s", "=", "a")), any_of=True), 2, 2),
    (Junction((Comparison("k", "=", 2), Comparison("m", "<>", LATER)), any_of=True), 11, 11),
]
"""Conditions, and how many of the 11 rows PostgreSQL and SQLite send."""


@pytest.mark.parametrize(
    ("condition", "of_postgres", "of_sqlite"), CONDITIONS, ids=lambda case: str(case)[:60]
)
def test_rows_that_a_condition_rules_out_are_not_sent(
    typed: Target, condition: Condition, of_postgres: int, of_sqlite: int
) -> None:
    rows = filtered(typed, condition, TYPED)
    every = read(source_of(typed, TYPED), row=row_type(TYPED))
    names = row_type(TYPED).field_names
    wanted = sorted((row for row in every if holds(condition, dict(zip(names, row, strict=True)))), key=str)
    assert [row for row in rows if row in wanted] == wanted
    assert len(rows) == (of_postgres if typed.server else of_sqlite)
    assert read(source_of(typed, TYPED, {"filter.handling.policy": "NEVER"}), row=row_type(TYPED)) == every


@pytest.mark.parametrize(
    ("stored", "declared", "written", "condition"),
    [
        ("CHAR(5)", "STRING", "'ab   '", Comparison("v", "=", "ab   ")),
        ("NUMERIC(10, 4)", "DECIMAL(10, 2)", "'1.0051'", Comparison("v", "=", Decimal("1.01"))),
        ("DOUBLE PRECISION", "STRING", "1e20", Comparison("v", "=", "1e+20")),
        ("NUMERIC", "BIGINT", "'5.0'", Comparison("v", "=", 5)),
        ("REAL", "DOUBLE", "'0.1'", Comparison("v", "=", 0.1)),
        ("TEXT", "INT", "'10'", Comparison("v", ">", 9)),
        ("UUID", "STRING", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", Comparison("v", ">", "A")),
        ("NUMERIC", "DECIMAL(5, 0)", "123456", NullTest("v")),
        ("TIMESTAMPTZ", "TIMESTAMP(3)", "'2026-01-02 03:04:05'", Comparison("v", "<>", DAY)),
        ("TEXT", "DATE", "'2026-01-02'", Comparison("v", "<=", DAY)),
        ("TEXT", "DECIMAL(5, 1)", "'10.5'", Comparison("v", ">", Decimal("9.5"))),
        ("TEXT", "TIMESTAMP(3)", "'2026-01-02T03:04:05'", Comparison("v", "<", MOMENT + dt.timedelta(1))),
        ("VARCHAR(9)", "STRING", "'a'", Comparison("v", "<>", "b\0")),
        ("UUID", "STRING", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", Like("v", "a0%")),
        ("CHAR(5)", "STRING", "'ab   '", Like("v", "ab   ")),
    ],
)
def test_what_a_database_compares_otherwise_is_sent(
    target: Target, stored: str, declared: str, written: str, condition: Condition
) -> None:
    target.run(f"CREATE TABLE t (v {stored})", f"INSERT INTO t VALUES ({written})")
    assert len(filtered(target, condition, f"v {declared}")) == 1


@pytest.mark.parametrize("operator", ["<", "<>"])
def test_texts_are_compared_by_code_points(target: Target, operator: Literal["<", "<>"]) -> None:
    if target.server:
        target.run(
            "CREATE COLLATION other (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    target.run(f"CREATE TABLE t (v TEXT COLLATE {'other' if target.server else 'NOCASE'})")
    target.run("INSERT INTO t VALUES ('B'), ('b'), ('c')")
    assert (
        filtered(target, Comparison("v", operator, "b"), "v STRING")
        == {
            "<": [("B",)],
            "<>": [("B",), ("c",)],
        }[operator]
    )
    assert ("b",) in filtered(target, Comparison("v", "=", "b"), "v STRING")


def test_partitions_that_a_condition_rules_out_cost_no_statement(numbered: Target) -> None:
    source = source_of(numbered, options=partitioned("k", 4, 0, 99))
    some = source.filtered(Comparison("k", "<", 20))
    assert some is not None
    splits = [*some.splits(frozenset())]
    numbered.run("DROP TABLE t")
    for split in splits[1:]:
        assert read(some, split, row=ROW) == []
    with pytest.raises(ConnectorError, match="requires a"):
        read(some, splits[0], row=ROW)


@pytest.mark.xdist_group("postgres")
def test_a_server_is_asked_for_columns_and_rows(postgres_target: Target) -> None:
    postgres_target.run("CREATE SCHEMA shop", 'CREATE TABLE shop.t (k INTEGER, s TEXT, "Big Name%%" TEXT)')
    postgres_target.run("INSERT INTO shop.t SELECT n, 'name ' || n, 'x' FROM generate_series(1, 100000) AS n")
    columns = "k INT, s STRING, `Big Name%` STRING"
    options = {**partitioned("k", 2, 1, 60_000), "table-name": "shop.t"}
    source = source_of(postgres_target, columns, options).filtered(Comparison("s", ">", "name 5"))
    assert source is not None
    narrow = source.projected((2, 0))
    assert narrow is not None
    limited = narrow.limited(20_000)
    assert limited is not None
    batches = limited.read_columns([*limited.splits(frozenset())][1], 0, 1)
    assert next(batches)[0].schema.names == ["Big Name%", "k"]
    asked = postgres_target.rows("SELECT query FROM pg_stat_activity WHERE starts_with(query, 'COPY')")
    [query] = [" ".join(text.split()) for (text,) in asked]
    assert query == (
        'COPY (SELECT shop.t."Big Name%", shop.t.k FROM shop.t WHERE k >= 30001::INTEGER AND k <= 60000::INTEGER '
        "AND (s COLLATE \"C\" > 'name 5'::VARCHAR) LIMIT 20000::INTEGER) TO STDOUT (FORMAT csv)"
    )
    assert sum(rows.num_rows for rows, _ in batches) == 10_001 - 10_000


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    ("stored", "written", "expected"),
    [
        ("INTEGER[]", "{1,NULL,3}", "{1,NULL,3}"),
        ("JSONB", '{"a": [1, "b"]}', '{"a": [1, "b"]}'),
        ("UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("INET", "10.0.0.1", "10.0.0.1"),
        ("CHAR(4)", "ab", "ab  "),
        ("NUMERIC", "1.50", "1.50"),
    ],
)
def test_other_types_are_texts(postgres_target: Target, stored: str, written: str, expected: str) -> None:
    postgres_target.run(f"CREATE TABLE t (v {stored})", f"INSERT INTO t VALUES ('{written}')")
    postgres_target.run("CREATE VIEW seen AS SELECT v FROM t")
    source = source_of(postgres_target, "v STRING", {"table-name": "seen"}).filtered(
        Comparison("v", "<>", "none")
    )
    assert source is not None
    assert read(source, row=row_type("v STRING")) == [(expected,)]


KINDS = {
    "BIGINT": ("BIGINT", "NUMERIC(20, 4)", "TEXT"),
    "DOUBLE": ("DOUBLE PRECISION", "REAL", "NUMERIC(20, 4)", "TEXT"),
    "DECIMAL(6, 2)": ("NUMERIC(6, 2)", "NUMERIC(20, 4)", "DOUBLE PRECISION", "TEXT"),
    "STRING": ("TEXT", "VARCHAR(40)", "CHAR(8)", "BIGINT"),
    "DATE": ("DATE", "TEXT"),
    "TIMESTAMP(3)": ("TIMESTAMP", "TIMESTAMP(3)", "TEXT"),
    "TIMESTAMP(6)": ("TIMESTAMP", "TEXT"),
    "BOOLEAN": ("BOOLEAN",),
}
COMPARED = [(declared, stored) for declared, several in KINDS.items() for stored in several]


def values_of(kind: str, random: Random) -> tuple[str, Any]:
    """Return a value as it may be written into a column that is read as one of a type, and a constant of that type."""
    number = random.choice([0, 1, -1, 10, 9, 99, 2**53 + 1, -3, 1234])
    match kind.partition("(")[0]:
        case "BIGINT":
            return str(number), random.choice([number, 9, 0])
        case "DOUBLE":
            return str(number / 8), random.choice([number / 8, 0.1, 1e30])
        case "DECIMAL":
            thousandths = Decimal(random.randrange(-3_000, 3_000)) / 1_000
            return str(thousandths), Decimal(random.randrange(-300, 300)) / 100
        case "STRING":
            texts = ["", "a", "A", "ab", "ä", "é", "z", "Z ", "10", "9", " a", "a_b", "€", "😀", "\uffff"]
            return random.choice(texts), random.choice(texts)
        case "DATE":
            days = [dt.date(2026, 1, day) for day in (1, 2, 10)] + [dt.date(999, 12, 31)]
            return str(random.choice(days)), random.choice(days)
        case "TIMESTAMP":
            moments = [
                MOMENT + dt.timedelta(microseconds=random.choice([-1, 0, 1, 999, 1_000, 10**6])) for _ in "ab"
            ]
            return str(moments[0]), moments[1]
    return random.choice(["TRUE", "FALSE"]), random.choice([True, False])


@pytest.mark.parametrize(("declared", "stored"), COMPARED)
def test_no_row_is_lost(target: Target, declared: str, stored: str) -> None:
    random = Random(f"{declared} {stored}")
    written = {values_of(declared, random)[0] for _ in range(40)}
    if stored == "BIGINT" and declared == "STRING":
        written = {str(random.randrange(-20, 20)) for _ in range(40)}
    quoted = (text if declared == "BOOLEAN" else f"'{text}'" for text in sorted(written))
    target.run(
        f"CREATE TABLE t (v {stored})",
        f"INSERT INTO t VALUES {', '.join(f'({one})' for one in quoted)}, (NULL)",
    )
    columns = f"v {declared}"
    every = read(source_of(target, columns), row=row_type(columns))
    for _ in range(8):
        constant = values_of(declared, random)[1]
        several: list[Condition] = [
            Comparison("v", operator, constant) for operator in ("=", "<>", "<", "<=", ">", ">=")
        ]
        if declared == "STRING":
            several += [Like("v", constant + end) for end in ("%", "_", "")]
        for condition in (random.choice(several), NullTest("v", negated=random.choice([True, False]))):
            found = filtered(target, condition, columns)
            wanted = sorted((row for row in every if holds(condition, {"v": row[0]})), key=str)
            assert [row for row in found if row in wanted] == wanted, condition
