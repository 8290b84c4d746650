"""The connector 'jdbc': what databases know of tables before they are read."""

from __future__ import annotations

import pytest

from firesteel.connectors.tables.jdbc_source import JdbcTableSource
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics
from tests.connectors.conftest import Target
from tests.connectors.jdbc_tables import source_of


def known(source: object) -> TableStatistics:
    assert isinstance(source, JdbcTableSource)
    found = source.statistics()
    assert found is not None
    return found


def test_the_number_of_rows(numbered: Target) -> None:
    if numbered.server:
        numbered.run("ANALYZE t")
    source = source_of(numbered)
    assert known(source).rows == 100
    assert known(source.limited(7)).rows == 7
    assert len(known(source.projected((1,))).columns) == 1


def test_what_analyze_has_counted_in_sqlite(numbered: Target) -> None:
    if numbered.server:
        pytest.skip("PostgreSQL looks at the size of the table")
    numbered.run("CREATE INDEX i ON t (k)", "ANALYZE", "DELETE FROM t WHERE k > 3")
    assert known(source_of(numbered)).rows == 100


@pytest.mark.xdist_group("postgres")
def test_postgres_knows_values_and_nulls(postgres_target: Target) -> None:
    postgres_target.run(
        "CREATE SCHEMA other",
        'CREATE TABLE other."T t" (k INTEGER, s TEXT)',
        'INSERT INTO other."T t" SELECT n, nullif(mod(n, 4), 0) FROM generate_series(1, 1000) AS g (n)',
        'ANALYZE other."T t"',
    )
    found = known(source_of(postgres_target, options={"table-name": "other.T t"}))
    assert found.rows == 1000
    assert found.columns == (ColumnStatistics(1000, nulls=0), ColumnStatistics(3, nulls=pytest.approx(250)))


@pytest.mark.xdist_group("postgres")
def test_postgres_knows_views_and_tables_that_have_grown(postgres_target: Target) -> None:
    postgres_target.run(
        "CREATE TABLE t (k INTEGER, s TEXT)",
        "INSERT INTO t SELECT n, n FROM generate_series(1, 20000) AS g (n)",
        "ANALYZE t",
        "INSERT INTO t SELECT n, n FROM generate_series(1, 20000) AS g (n)",
        "CREATE VIEW v AS SELECT * FROM t",
    )
    for name in ("t", "v"):
        assert known(source_of(postgres_target, options={"table-name": name})).rows == pytest.approx(
            40_000, rel=0.05
        )


def test_a_database_that_does_not_answer_knows_nothing(target: Target) -> None:
    assert source_of(target).statistics() is None
    if not target.server:
        absent = f"{target.url.removeprefix('sqlite:///')}.absent"
        assert source_of(target, options={"url": f"jdbc:sqlite:{absent}"}).statistics() is None
    else:
        assert source_of(target, options={"url": "jdbc:postgresql://127.0.0.1:1/x"}).statistics() is None
