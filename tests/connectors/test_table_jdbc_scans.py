"""The connector 'jdbc' as a source: rows of all types, partitions, and connections."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, EngineError, TypeMismatchError
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.jdbc_source import JdbcTableSource, Partitions
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.lookups import LookupCalls
from tests.connectors.column_ends import read, request, row_type, write
from tests.connectors.conftest import Target
from tests.connectors.jdbc_tables import COLUMNS, ROW, jdbc_url, partitioned, source_of
from tests.connectors.test_table_jdbc import sink_of
from tests.connectors.test_table_lookups import found, table_of

VALUES: list[tuple[str, str, list[Any]]] = [
    ("BOOLEAN", "BOOLEAN", [True, False, None]),
    ("TINYINT", "SMALLINT", [-128, 127, None]),
    ("SMALLINT", "SMALLINT", [-32768, 32767]),
    ("INT", "INTEGER", [-(2**31), 2**31 - 1, None]),
    ("BIGINT", "BIGINT", [-(2**63), 2**63 - 1]),
    ("FLOAT", "REAL", [0.5, -1.25, None]),
    ("DOUBLE", "DOUBLE PRECISION", [0.1, 1e300, -2.5e-300, math.inf, -math.inf, None]),
    ("DECIMAL(10, 2)", "NUMERIC(10, 2)", [Decimal("12.50"), Decimal("-0.01"), None]),
    ("STRING", "TEXT", ["", " a ", 'quote"s, and\nlines\r\n', "\\N", "\\.", "ä€😀", "NULL", None]),
    ("VARCHAR(5)", "VARCHAR(5)", ["abc", "", None]),
    ("BYTES", "BYTEA", [b"", b"\0\xff\\", None]),
    ("DATE", "DATE", [dt.date(2026, 1, 2), dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    ("TIME", "TIME", [dt.time(3, 4, 5), dt.time(23, 59, 59, 999_000), None]),
    (
        "TIMESTAMP(6)",
        "TIMESTAMP",
        [dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None],
    ),
    ("TIMESTAMP(3)", "TIMESTAMP(3)", [dt.datetime(2026, 1, 2, 3, 4, 5, 250_000), dt.datetime(1, 1, 1), None]),
]


@pytest.mark.parametrize(("declared", "stored", "values"), VALUES, ids=[case[0] for case in VALUES])
def test_what_the_sink_wrote_is_read(target: Target, declared: str, stored: str, values: list[Any]) -> None:
    columns = f"k INT, v {declared}"
    if not target.server:
        stored = {"BYTEA": "BLOB"}.get(stored, stored)
    target.run(f"CREATE TABLE t (k INTEGER, v {stored})")
    rows = [*enumerate(values)]
    write(sink_of(target, "staged", columns).sink, row_type(columns), rows)
    source = source_of(target, columns)
    assert sorted(read(source, row=row_type(columns))) == rows
    narrow = source.projected((1,))
    assert narrow is not None
    found = read(narrow, row=row_type(f"v {declared}"))
    assert sorted(map(str, found)) == sorted(str((value,)) for value in values)


@pytest.mark.xdist_group("postgres")
def test_nan_is_read(postgres_target: Target) -> None:
    postgres_target.run("CREATE TABLE t (v FLOAT8)", "INSERT INTO t VALUES ('NaN')")
    [(value,)] = read(source_of(postgres_target, "v DOUBLE"), row=row_type("v DOUBLE"))
    assert math.isnan(value)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns"])
def test_points_in_time_are_read_whatever_the_zone_of_the_server(postgres_target: Target, zone: str) -> None:
    [(name,)] = postgres_target.rows("SELECT current_database()")
    postgres_target.run(
        "CREATE TABLE t (v TIMESTAMPTZ)",
        "INSERT INTO t VALUES ('2026-01-02 03:04:05.25+00'), ('2026-07-02 03:04:05+00'), (NULL)",
        f"ALTER DATABASE {name} SET timezone = '{zone}'",
        f"ALTER DATABASE {name} SET datestyle = 'German'",
    )
    found = read(source_of(postgres_target, "v TIMESTAMP_LTZ(3)"), row=row_type("v TIMESTAMP_LTZ(3)"))
    moments = [dt.datetime(2026, 1, 2, 3, 4, 5, 250_000, dt.UTC), dt.datetime(2026, 7, 2, 3, 4, 5, 0, dt.UTC)]
    assert [value and (value.seconds, value.nanos) for (value,) in found] == [
        *((int(one.timestamp()), one.microsecond * 1000) for one in moments),
        None,
    ]


@pytest.mark.parametrize(
    ("stored", "written", "declared", "expected"),
    [
        ("NUMERIC(10, 4)", "1.0051", "DECIMAL(10, 2)", Decimal("1.01")),
        ("NUMERIC", "123456", "DECIMAL(5, 2)", None),
        ("NUMERIC", "7", "BIGINT", 7),
        ("INTEGER", "7", "DECIMAL(5, 2)", Decimal("7.00")),
        ("INTEGER", "1", "BOOLEAN", True),
        ("INTEGER", "7", "STRING", "7"),
        (
            "TIMESTAMP",
            "2026-01-02 03:04:05.678999",
            "TIMESTAMP(0)",
            dt.datetime(2026, 1, 2, 3, 4, 5, 678_000),
        ),
    ],
)
def test_values_become_those_of_the_declared_type(
    target: Target, stored: str, written: str, declared: str, expected: Any
) -> None:
    target.run(f"CREATE TABLE t (v {stored})", f"INSERT INTO t VALUES ('{written}')")
    assert read(source_of(target, f"v {declared}"), row=row_type(f"v {declared}")) == [(expected,)]


@pytest.mark.parametrize(
    ("written", "declared"),
    [("abc", "INT"), ("1.5", "INT"), ("abc", "DATE"), ("x", "DECIMAL(5, 2)"), ("x", "BOOLEAN")],
)
def test_a_value_of_another_type_is_an_error(target: Target, written: str, declared: str) -> None:
    target.run("CREATE TABLE t (v TEXT)", f"INSERT INTO t VALUES ('{written}')")
    with pytest.raises(TypeMismatchError, match=f"column 'v' of type .* got '{written}'"):
        read(source_of(target, f"v {declared}"), row=row_type(f"v {declared}"))


def test_numbers_with_a_fraction_are_no_whole_numbers(target: Target) -> None:
    target.run("CREATE TABLE t (k INT, v NUMERIC(4, 2))", "INSERT INTO t VALUES (1, 1.50)")
    columns = "k INT, v INT"
    with pytest.raises(TypeMismatchError, match=r"column 'v' of type INT requires .* got"):
        read(source_of(target, columns), row=row_type(columns))
    with pytest.raises(TypeMismatchError, match=r"column 'v' of type INT requires .* got"):
        found(table_of("jdbc", {"url": jdbc_url(target), "table-name": "t"}, columns), [(1,)], columns)


def test_a_password_in_plain_text_is_refused_by_the_tables_name() -> None:
    options = {"url": "jdbc:postgresql://db/shop?user=me&password=secret", "table-name": "t"}
    connector, table = connector_of("jdbc", "table 't'"), request(COLUMNS, options)
    for make in (
        connector.source,
        connector.sink,
        lambda table: connector.lookup(table, ("k",), LookupCalls()),
    ):
        with pytest.raises(
            ConfigurationError, match=r"^table 't' requires a URL without a password in it"
        ) as caught:
            make(table)
        assert "secret" not in str(caught.value)


def test_parameters_of_mysql_are_those_of_the_driver() -> None:
    connector = connector_of("jdbc", "table 't'")

    def address(parameters: str) -> object:
        options = {"url": f"jdbc:mysql://db:3306/shop?{parameters}", "table-name": "t", "username": "me"}
        source = connector.source(request(COLUMNS, options)).source
        assert isinstance(source, JdbcTableSource)
        return source.settings.address

    given = "useSSL=false&rewriteBatchedStatements=true&characterEncoding=UTF-8&read_timeout=7"
    assert address(given) == "mysql://me@db:3306/shop?ssl_disabled=true&read_timeout=7"
    with pytest.raises(ConfigurationError, match=r"^table 't' requires .* got serverTimezone=UTC"):
        address("serverTimezone=UTC")


def test_rows_of_partitions_are_those_within_the_bounds(numbered: Target) -> None:
    numbered.run("INSERT INTO t VALUES (NULL, 'nowhere')")
    source = source_of(numbered, options=partitioned("k", 4, 10, 31))
    splits = [*source.splits(frozenset())]
    assert [len(read(source, split, row=ROW)) for split in splits] == [6, 6, 5, 5]
    assert sorted(key for key, _ in read(source, row=ROW)) == [*range(10, 32)]
    assert [*source.splits(frozenset(split.id for split in splits[1:]))] == splits[:1]


def test_values_between_whole_numbers_are_in_a_partition(target: Target) -> None:
    target.run("CREATE TABLE t (v DOUBLE PRECISION)", "INSERT INTO t VALUES (1), (1.5), (2.9), (3), (3.5)")
    source = source_of(target, "v DOUBLE", partitioned("v", 3, 1, 3))
    row = row_type("v DOUBLE")
    assert [sorted(read(source, split, row=row)) for split in source.splits(frozenset())] == [
        [(1.0,), (1.5,)],
        [(2.9,)],
        [(3.0,)],
    ]


@pytest.mark.parametrize(
    ("number", "low", "high"), [(1, 5, 5), (3, 1, 7), (9, 1, 4), (4, -7, 1000), (7, 0, 2**63 - 1)]
)
def test_partitions_follow_each_other(number: int, low: int, high: int) -> None:
    bounds = [split.payload for split in Partitions("k", number, low, high).splits()]
    assert len(bounds) == min(number, high - low + 1)
    assert (bounds[0].low, bounds[-1].high) == (low, high)
    assert [one.high for one in bounds[:-1]] == [one.low for one in bounds[1:]]
    assert [one.last for one in bounds] == [False] * (len(bounds) - 1) + [True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scan.partition.column": "k"}, "requires the option 'scan.partition.num'"),
        ({"scan.fetch-size": "-1"}, "a whole number of at least 0 as the option 'scan.fetch-size'"),
        ({"scan.auto-commit": "maybe"}, "true or false as the option 'scan.auto-commit'"),
        ({"scan.partition.columns": "k"}, "did you mean 'scan.partition.column'"),
        ({"filter.handling.policy": "often"}, "one of always, never"),
        (
            partitioned("k", 2, 9, 1),
            "a number of at most 1 as the option 'scan.partition.lower-bound'; got '9'",
        ),
        (
            partitioned("s", 2, 1, 9),
            "a column of numbers, and not of STRING, as the option 'scan.partition.column'; got 's'",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], said: str) -> None:
    given = {"url": "jdbc:sqlite:/x.db", "table-name": "t", **options}
    with pytest.raises(ConfigurationError) as caught:
        connector_of("jdbc", "table 't'").source(request(COLUMNS, given))
    assert said in str(caught.value)


def test_a_table_that_is_not_there_is_an_error(target: Target) -> None:
    with pytest.raises(ConnectorError, match="scan of the table 't', requires a database that answers"):
        read(source_of(target), row=ROW)


def test_rows_are_fetched_as_they_are_asked_for(numbered: Target) -> None:
    source = source_of(numbered, options={"scan.fetch-size": "7"})
    [split] = source.splits(frozenset())
    batches = source.read_columns(split, 0, 1)
    sizes = [rows.num_rows for rows, _ in batches]
    assert sizes == [7] * 14 + [2]
    assert [*source.read_columns(split, 1, 1)] == []


@pytest.mark.xdist_group("postgres")
def test_an_abandoned_read_leaves_no_connection(postgres_target: Target) -> None:
    postgres_target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    postgres_target.run("INSERT INTO t SELECT n, repeat('x', 100) FROM generate_series(1, 200000) AS n")
    source = source_of(postgres_target)
    [split] = source.splits(frozenset())
    batches = source.read_columns(split, 0, 1)
    rows, kinds = next(batches)
    assert rows.schema == to_arrow_schema(ROW)
    assert (rows.num_rows, kinds) == (10_000, None)
    batches.close()
    query = "SELECT count(*) FROM pg_stat_activity WHERE starts_with(query, 'COPY') AND state = 'active'"
    while postgres_target.rows(query) != [(0,)]:
        pass


@pytest.mark.xdist_group("postgres")
def test_a_connection_that_is_lost_is_no_error_of_the_program(postgres_target: Target) -> None:
    postgres_target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    postgres_target.run("INSERT INTO t SELECT n, repeat('x', 100) FROM generate_series(1, 200000) AS n")
    source = source_of(postgres_target)
    [split] = source.splits(frozenset())
    batches = source.read_columns(split, 0, 1)
    next(batches)
    postgres_target.hang_up()
    with pytest.raises(EngineError, match="a connection that stays open"):
        list(batches)


def test_others_can_write_while_rows_of_a_file_are_read(numbered: Target) -> None:
    source = source_of(numbered, options={"scan.fetch-size": "10"})
    [split] = source.splits(frozenset())
    batches = source.read_columns(split, 0, 1)
    next(batches)
    numbered.run("INSERT INTO t VALUES (1000, 'new')")
    assert sum(rows.num_rows for rows, _ in batches) == 90


def test_an_empty_table_has_no_rows(target: Target) -> None:
    target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    assert read(source_of(target), row=ROW) == []


def test_no_more_rows_than_the_limit_are_sent(numbered: Target) -> None:
    limited = source_of(numbered).limited(7)
    assert limited is not None
    assert len(read(limited, row=ROW)) == 7
