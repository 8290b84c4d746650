"""The connector 'jdbc' with MariaDB, which stands for MySQL, too: types, upserts, partitions, conditions, lookups."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConnectorError, TypeMismatchError, UnsupportedError
from firesteel.control import EpochStats, JobHandle
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from harness.mariadb import MariaDbServer, program
from tests.connectors.column_ends import read, row_type, write
from tests.connectors.conftest import Target
from tests.connectors.jdbc_tables import ROW, jdbc_url, partitioned, source_of
from tests.connectors.test_table_jdbc import sink_of
from tests.connectors.test_table_lookups import found, table_of
from tests.queries import tables
from tests.recovery.jobs import Watch

pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("mariadb"),
    pytest.mark.skipif(
        program("mariadbd") is None, reason="no MariaDB server here; ./run check installs one"
    ),
]
INSERT, BEFORE, AFTER, DELETE = range(4)

VALUES: list[tuple[str, str, list[Any]]] = [
    ("BOOLEAN", "BOOLEAN", [True, False, None]),
    ("BOOLEAN", "BIT(1)", [True, False, None]),
    ("TINYINT", "TINYINT", [-128, 127, None]),
    ("SMALLINT", "SMALLINT", [-32768, 32767]),
    ("INT", "INTEGER", [-(2**31), 2**31 - 1, None]),
    ("BIGINT", "BIGINT", [-(2**63), 2**63 - 1]),
    ("DECIMAL(20, 0)", "BIGINT UNSIGNED", [Decimal(2**64 - 1), Decimal(0), None]),
    ("FLOAT", "FLOAT", [0.5, 16777215.0, 0.10000000149011612, 1.1754943508222875e-38, None]),
    ("DOUBLE", "DOUBLE", [0.1, 1e300, -2.5e-300, 0.1 + 0.2, None]),
    ("DECIMAL(10, 2)", "DECIMAL(10, 2)", [Decimal("12.50"), Decimal("-0.01"), None]),
    ("STRING", "TEXT", ["", " a ", "quote\"s, 'and'\nlines\r\n", "\\N", "100%", "ä€😀", "NULL", "\0", None]),
    ("VARCHAR(5)", "VARCHAR(5)", ["abc", "", "A", "a ", None]),
    ("BYTES", "BLOB", [b"", b"\0\xff\\'", None]),
    ("DATE", "DATE", [dt.date(2026, 1, 2), dt.date(1000, 1, 1), dt.date(9999, 12, 31), None]),
    ("TIME", "TIME(3)", [dt.time(3, 4, 5), dt.time(23, 59, 59, 999_000), None]),
    (
        "TIMESTAMP(6)",
        "DATETIME(6)",
        [dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None],
    ),
    ("TIMESTAMP(3)", "TIMESTAMP(3) NULL", [dt.datetime(2026, 1, 2, 3, 4, 5, 250_000), None]),
]


@pytest.mark.parametrize(
    ("declared", "stored", "values"), VALUES, ids=[f"{case[0]} in {case[1]}" for case in VALUES]
)
def test_what_the_sink_wrote_is_read_and_found(
    mariadb_target: Target, declared: str, stored: str, values: list[Any]
) -> None:
    columns = f"k INT, v {declared}"
    mariadb_target.run(f"CREATE TABLE t (k INTEGER, v {stored}) CHARACTER SET utf8mb4")
    rows = [*enumerate(values)]
    write(sink_of(mariadb_target, "staged", columns).sink, row_type(columns), rows)
    assert sorted(read(source_of(mariadb_target, columns), row=row_type(columns))) == rows
    table = table_of("jdbc", {"url": jdbc_url(mariadb_target), "table-name": "t"}, columns)
    looked_up = found(table, [(key,) for key, _ in rows], columns)
    assert [key for _, (key, _) in sorted(looked_up)] == [key for key, _ in rows]


@pytest.mark.parametrize(
    ("stored", "written", "declared", "expected"),
    [
        ("YEAR", "2026", "INT", 2026),
        ("ENUM('tea', 'milk')", "tea", "STRING", "tea"),
        ("JSON", '{"a": 1}', "STRING", '{"a": 1}'),
        ("DECIMAL(10, 4)", "1.0051", "DECIMAL(10, 2)", Decimal("1.01")),
        ("DECIMAL(10, 0)", "7", "BIGINT", 7),
        ("TINYINT(1)", "1", "BOOLEAN", True),
        (
            "DATETIME(6)",
            "2026-01-02 03:04:05.678999",
            "TIMESTAMP(0)",
            dt.datetime(2026, 1, 2, 3, 4, 5, 678_000),
        ),
    ],
)
def test_values_become_those_of_the_declared_type(
    mariadb_target: Target, stored: str, written: str, declared: str, expected: Any
) -> None:
    mariadb_target.run(f"CREATE TABLE t (v {stored})", f"INSERT INTO t VALUES ('{written}')")
    assert read(source_of(mariadb_target, f"v {declared}"), row=row_type(f"v {declared}")) == [(expected,)]


@pytest.mark.parametrize(
    ("stored", "written", "declared"),
    [
        ("TEXT", "abc", "INT"),
        ("DECIMAL(4, 2)", "1.50", "INT"),
        ("TIME", "25:00:00", "TIME"),
        ("TIME", "-01:00:00", "TIME"),
        ("DATE", "0000-00-00", "DATE"),
        ("DATETIME", "2026-00-00 00:00:00", "TIMESTAMP(3)"),
    ],
)
def test_a_value_of_another_type_is_an_error(
    mariadb_target: Target, stored: str, written: str, declared: str
) -> None:
    lenient = "SET STATEMENT sql_mode = '' FOR"
    mariadb_target.run(
        f"CREATE TABLE t (k INT, v {stored})", f"{lenient} INSERT INTO t VALUES (1, '{written}')"
    )
    columns = f"k INT, v {declared}"
    with pytest.raises(TypeMismatchError, match="column 'v' of type"):
        read(source_of(mariadb_target, columns), row=row_type(columns))
    with pytest.raises(TypeMismatchError, match="column 'v' of type"):
        found(
            table_of("jdbc", {"url": jdbc_url(mariadb_target), "table-name": "t"}, columns), [(1,)], columns
        )


def test_points_in_time_are_refused(mariadb_target: Target) -> None:
    for make in (source_of, lambda target, columns: sink_of(target, "staged", columns)):
        with pytest.raises(UnsupportedError, match=r"'v' of type TIMESTAMP_LTZ\(3\) cannot be .* a database"):
            make(mariadb_target, "v TIMESTAMP_LTZ(3)")


def test_the_last_change_of_each_key_counts(mariadb_target: Target) -> None:
    mariadb_target.run("CREATE TABLE t (a INTEGER, b VARCHAR(9), n INTEGER, PRIMARY KEY (a, b))")
    columns = "a INT NOT NULL, b STRING NOT NULL, n INT"
    sink = sink_of(mariadb_target, "staged", columns, ["a", "b"]).sink
    first = [(1, "a", 1), (1, "b", 2), (2, "a", 3), (3, "a", None)]
    write(sink, row_type(columns), first, [(1, "a", 1), (1, "a", 7)], kinds=[[INSERT] * 4, [BEFORE, AFTER]])
    assert mariadb_target.rows("SELECT * FROM t ORDER BY a, b") == [
        *((1, "a", 7), (1, "b", 2), (2, "a", 3), (3, "a", None))
    ]
    write(
        sink,
        row_type(columns),
        [(1, "b", 2), (4, "x", 4), (2, "a", 5)],
        kinds=[[DELETE, INSERT, AFTER]],
        epoch=2,
    )
    assert mariadb_target.rows("SELECT * FROM t ORDER BY a, b") == [
        *((1, "a", 7), (2, "a", 5), (3, "a", None), (4, "x", 4))
    ]
    assert mariadb_target.staged() == 0
    assert mariadb_target.recorded() == [2]


@pytest.mark.parametrize(("collation", "left"), [("bin", ["A", "a"]), ("general_ci", ["a"])])
def test_keys_are_equal_as_in_the_table(mariadb_target: Target, collation: str, left: list[str]) -> None:
    mariadb_target.run(f"CREATE TABLE t (s VARCHAR(9) PRIMARY KEY, n INT) COLLATE utf8mb4_{collation}")
    columns = "s STRING NOT NULL, n INT"
    sink = sink_of(mariadb_target, "staged", columns, ["s"]).sink
    write(sink, row_type(columns), [("A", 1), ("a", 2)])
    assert sorted(key for key, _ in mariadb_target.rows("SELECT s, n FROM t")) == left
    assert ("a", 2) in mariadb_target.rows("SELECT s, n FROM t")


def test_a_table_of_keys_alone(mariadb_target: Target) -> None:
    mariadb_target.run("CREATE TABLE t (k INTEGER PRIMARY KEY)")
    sink = sink_of(mariadb_target, "staged", "k INT NOT NULL", ["k"]).sink
    write(sink, row_type("k INT NOT NULL"), [(1,), (2,)])
    write(sink, row_type("k INT NOT NULL"), [(1,), (2,)], kinds=[[INSERT, DELETE]], epoch=2)
    assert mariadb_target.rows("SELECT * FROM t") == [(1,)]


def test_rows_of_partitions_are_those_within_the_bounds(mariadb_target: Target) -> None:
    mariadb_target.run("CREATE TABLE t (k INTEGER, s TEXT)", "INSERT INTO t VALUES (NULL, 'nowhere')")
    mariadb_target.run("INSERT INTO t VALUES " + ", ".join(f"({key}, 'v{key}')" for key in range(100)))
    source = source_of(mariadb_target, options=partitioned("k", 4, 10, 31) | {"scan.fetch-size": "2"})
    splits = [*source.splits(frozenset())]
    assert [len(read(source, split, row=ROW)) for split in splits] == [6, 6, 5, 5]
    assert sorted(key for key, _ in read(source, row=ROW)) == [*range(10, 32)]


def test_the_number_of_rows_and_of_the_values_of_indexes(mariadb_target: Target) -> None:
    mariadb_target.run("CREATE TABLE t (k INTEGER PRIMARY KEY, s VARCHAR(9), KEY (s))")
    mariadb_target.run("INSERT INTO t VALUES " + ", ".join(f"({key}, 'v{key % 4}')" for key in range(1000)))
    mariadb_target.rows("ANALYZE TABLE t")
    found = source_of(mariadb_target).statistics()
    assert found is not None
    assert found.rows == pytest.approx(1000, rel=0.1)
    assert [column.distinct for column in found.columns] == [
        pytest.approx(1000, rel=0.1),
        pytest.approx(4, abs=8),
    ]


def test_what_is_wrong_is_said_at_once(mariadb_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConnectorError, match=r"scan of the table 't', requires a table that exists"):
        read(source_of(mariadb_target), row=ROW)
    mariadb_target.run("CREATE TABLE t (k INTEGER)")
    with pytest.raises(ConnectorError, match=r"Unknown column 't\.s'"):
        read(source_of(mariadb_target), row=ROW)
    monkeypatch.setenv("FIRESTEEL_TEST_WRONG", "wrong")
    url = jdbc_url(mariadb_target)
    stranger = url.replace(MariaDbServer.PASSWORD_VARIABLE, "FIRESTEEL_TEST_WRONG")
    for other, said in ((stranger, "Access denied"), (f"{url}_absent", "Unknown database")):
        with pytest.raises(ConnectorError, match=said):
            read(source_of(mariadb_target, options={"url": other}), row=ROW)


def test_texts_are_found_as_flink_compares_them(mariadb_target: Target) -> None:
    mariadb_target.run("CREATE TABLE t (k INTEGER, s VARCHAR(9))")
    mariadb_target.run("INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, 'a '), (4, 'á'), (5, NULL), (6, 'b')")
    table = table_of("jdbc", {"url": jdbc_url(mariadb_target), "table-name": "t"}, keys=("s",))
    assert found(table, [("a",), ("B",), ("á",)], names=("s",)) == [(0, (1, "a")), (2, (4, "á"))]
    both = table_of("jdbc", {"url": jdbc_url(mariadb_target), "table-name": "t"}, keys=("k", "s"))
    assert found(both, [(1, "a"), (2, "a")], names=("k", "s")) == [(0, (1, "a"))]


CONDITIONS = (
    "i > 3", "i IN (1, 5, 8)", "NOT (i > 3 OR s IS NULL)", "d = 0.5", "d < 0.5", "n = 2.50", "n >= 2.5", "n <> 1",
    "s = 'a'", "s <> 'a'", "s > 'a'", "s LIKE 'a%'", "s LIKE '_'", "s IS NOT NULL", "s = 'a ' OR i = 2",
    "m = TIMESTAMP '2026-01-01 00:00:02'", "m > TIMESTAMP '2026-01-01 00:00:02.5'", "m IS NULL",
    "z < TIMESTAMP '2026-10-25 02:30:00'", "y = DATE '2026-01-02'", "y BETWEEN DATE '2026-01-02' AND DATE '2026-01-04'",
    "f = CAST(0.1 AS FLOAT)", "f > 0.1", "b", "b IS NOT TRUE", "i = 1 AND s = 'A' OR y IS NULL",
)  # fmt: skip


def session(target: Target, *, batch: bool = True, **options: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    more = "".join(f", '{key.replace('_', '-')}' = '{value}'" for key, value in options.items())
    env.execute_sql(
        "CREATE TABLE t (i INT, d DOUBLE, n DECIMAL(6, 1), s STRING, m TIMESTAMP(0), z TIMESTAMP(3), y DATE, f FLOAT, "
        f"b BOOLEAN) WITH ('connector' = 'jdbc', 'url' = '{jdbc_url(target)}', 'table-name' = 't'{more})"
    )
    return env


def test_conditions_rule_out_no_row_that_meets_them(mariadb_target: Target) -> None:
    chance = random.Random(3)
    mariadb_target.run(
        "CREATE TABLE t (i INT, d DOUBLE, n DECIMAL(6, 2), s VARCHAR(9), m DATETIME(6), z TIMESTAMP(3) NULL, y DATE, "
        "f FLOAT, b BOOLEAN)"
    )
    given = (
        [*range(9), "NULL"],
        [0.5, 0.25, "NULL"],
        ["2.50", "2.46", "1.04", "0.96", "NULL"],
        ["'a'", "'A'", "'a '", "'á'", "'b'", "'ab'", "''", "NULL"],
        ["'2026-01-01 00:00:02'", "'2026-01-01 00:00:02.4999999'", "'2026-01-01 00:00:02.000999'", "NULL"],
        ["'2026-10-25 02:29:59.999'", "'2026-10-25 02:30:00'", "NULL"],
        ["'2026-01-02'", "'2026-01-04'", "NULL"],
        [0.1, 0.2, "NULL"],
        ["TRUE", "FALSE", "NULL"],
    )
    rows = ", ".join(f"({', '.join(str(chance.choice(values)) for values in given)})" for _ in range(200))
    mariadb_target.run(f"INSERT INTO t VALUES {rows}")
    asked, unasked = session(mariadb_target), session(mariadb_target, **{"filter.handling.policy": "NEVER"})
    with executing(parallelism=1):
        for condition in CONDITIONS:
            query = f"SELECT * FROM t WHERE {condition}"
            assert tables.table_of(asked, query) == tables.table_of(unasked, query), condition


@pytest.mark.parametrize("executor", ["process", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_table_is_copied_and_grouped_while_the_server_restarts(
    mariadb: MariaDbServer, mariadb_target: Target, tmp_path: Path, executor: Any
) -> None:
    mariadb_target.run("CREATE TABLE t (i INT, s VARCHAR(9))")
    mariadb_target.run("INSERT INTO t VALUES " + ", ".join(f"({key}, '{key % 7}')" for key in range(300)))
    mariadb_target.run("CREATE TABLE grouped (s VARCHAR(9) PRIMARY KEY, n BIGINT, total BIGINT)")

    def restart(_handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch == 2:
            mariadb.kill()
            mariadb.start()
        elif stats.epoch == 4:
            mariadb_target.hang_up()

    watch = Watch(restart)
    connected = f"'connector' = 'jdbc', 'url' = '{jdbc_url(mariadb_target)}', 'table-name'"
    parts = ", ".join(f"'{key}' = '{value}'" for key, value in partitioned("i", 10, 0, 299).items())
    more = {"listener": watch} if executor == "process" else {}
    with executing(executor, parallelism=2, epoch_records=40, state_dir=str(tmp_path / "state"), **more):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.execute_sql(f"CREATE TABLE t (i INT, s STRING) WITH ({connected} = 't', {parts})")
        env.execute_sql(
            "CREATE TABLE grouped (s STRING, n BIGINT, total BIGINT, PRIMARY KEY (s) NOT ENFORCED) "
            f"WITH ({connected} = 'grouped')"
        )
        job = env.execute_sql("INSERT INTO grouped SELECT s, COUNT(*), SUM(i) FROM t GROUP BY s").job
        assert job is not None
        (watch.follow(job) if executor == "process" else job).wait(120)
    expected = [(str(key), len(range(key, 300, 7)), sum(range(key, 300, 7))) for key in range(7)]
    assert mariadb_target.rows("SELECT * FROM grouped ORDER BY s") == expected
