"""A condition on partition columns of a table of Hive decides which of its files are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.table import TableEnvironment
from firesteel.table.catalog import HiveCatalog
from firesteel.testing.execution import executing
from tests.table.hive.programs import STORED, insert, rows, session

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("hive")]

PARTITIONS = {
    1: "n=1/region=x",
    2: "n=1/region=y",
    3: "n=2/region=x",
    4: "n=2/region=__HIVE_DEFAULT_PARTITION__",
    5: "n=3/region=a%2Fb",
}
"""The directory of each value of `a`."""

CASES = [
    ("n = 1 AND region = 'x'", {1}, [1]),
    ("region IN ('y', 'a/b')", {2, 5}, [2, 5]),
    ("n = 2 AND (region = 'x' OR region IS NULL)", {3, 4}, [3, 4]),
    ("n = 1 OR region = 'x'", {1, 2, 3}, [1, 2, 3]),
    ("n > 1 AND a < 4", {3, 4, 5}, [3]),
    ("NOT region = 'x'", {2, 5}, [2, 5]),
    ("n = 7", set[int](), []),
]
"""Conditions, the rows whose files are read, and the rows that are found."""


@pytest.fixture
def table(catalog: HiveCatalog, conf_dir: str) -> tuple[TableEnvironment, Path]:
    """A partitioned table, `t`, with a row in each partition, and its directory."""
    environment = session(catalog)
    environment.execute_sql(
        f"CREATE TABLE t (a INT, n INT, region STRING) PARTITIONED BY (n, region) {STORED.format('parquet')}"
    )
    insert(
        environment,
        "INSERT INTO t VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x'), (4, 2, CAST(NULL AS STRING)), (5, 3, 'a/b')",
    )
    return environment, Path(conf_dir) / "warehouse" / "test.db" / "t"


@contextmanager
def readable(directory: Path, kept: set[int]) -> Iterator[None]:
    """Let no file of the other partitions be read."""
    files = [
        file
        for value, partition in PARTITIONS.items()
        if value not in kept
        for file in (directory / partition).iterdir()
        if not file.name.startswith(".")
    ]
    assert len(files) == len(PARTITIONS) - len(kept)
    before = {file: file.read_bytes() for file in files}
    for file in files:
        file.write_bytes(b"no rows")
    yield
    for file, content in before.items():
        file.write_bytes(content)


@pytest.mark.parametrize("executor", ["process", "spark"])
def test_other_partitions_are_not_read(executor: str, table: tuple[TableEnvironment, Path]):
    environment, directory = table
    for condition, kept, expected in CASES if executor == "process" else CASES[:1]:
        with readable(directory, kept), executing(executor, parallelism=2):
            found = environment.execute_sql(f"SELECT a FROM t WHERE {condition}").collect()
            assert sorted(row[0] for row in found) == expected, condition


def test_what_needs_all_partitions_reads_all(table: tuple[TableEnvironment, Path]):
    environment, directory = table
    assert rows(environment, "SELECT COUNT(*) AS n FROM t WHERE n > 0 OR a > 4") == [(5,)]
    with readable(directory, {1}), pytest.raises(ConnectorError, match="requires that Spark can compute it"):
        rows(environment, "SELECT COUNT(*) AS n FROM t WHERE n = 1 OR a = 1")


def test_a_stream_reads_the_same_partitions(table: tuple[TableEnvironment, Path], catalog: HiveCatalog):
    _, directory = table
    with readable(directory, {1, 2}):
        found = rows(session(catalog, streaming=True), "SELECT a, region FROM t WHERE n = 1")
    assert sorted(found) == [(1, "x"), (2, "y")]


def test_two_scans_have_their_own_partitions(table: tuple[TableEnvironment, Path]):
    environment, directory = table
    with readable(directory, {1, 5}):
        found = rows(
            environment,
            "SELECT a, n FROM t WHERE region = 'x' AND n < 2 UNION ALL SELECT n, a FROM t WHERE n = 3",
        )
    assert sorted(found) == [(1, 1), (3, 5)]


def test_the_plan_says_which_partitions_there_are(table: tuple[TableEnvironment, Path]):
    environment, _ = table
    plan = environment.explain_sql("SELECT a FROM t WHERE n = 2")
    assert "partitions=[{n=2, region=null}, {n=2, region=x}]" in plan


@pytest.mark.parametrize(
    ("kind", "low", "high", "condition"),
    [
        ("DATE", "2024-01-01", "2024-02-01", "p > DATE '2024-01-15'"),
        ("BIGINT", "1", "20", "p > 5"),
        ("DECIMAL(3, 1)", "1.5", "20.5", "p > 5"),
        ("BOOLEAN", "false", "true", "p"),
    ],
)
def test_partitions_of_each_type_are_found(
    kind: str, low: str, high: str, condition: str, catalog: HiveCatalog
):
    environment = session(catalog)
    environment.execute_sql(f"CREATE TABLE t (a INT, p {kind}) PARTITIONED BY (p) {STORED.format('parquet')}")
    insert(environment, f"INSERT INTO t VALUES (1, CAST('{low}' AS {kind})), (2, CAST('{high}' AS {kind}))")
    assert rows(environment, f"SELECT a FROM t WHERE {condition}") == [(2,)]
