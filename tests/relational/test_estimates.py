"""How many rows the nodes of plans are estimated to have, of tables of known and of unknown sizes."""

from __future__ import annotations

import datetime as dt
from math import exp

import pytest

from firesteel.common.logical_types import LogicalType, parse_type
from firesteel.functions.columns.connectors import TableSource
from firesteel.functions.columns.pushdowns import Extent
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics, of_extents
from firesteel.relational.estimates.formulas import equal_pairs
from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.estimates.sizes import Column, Estimate, of_table, width_of
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import physical_plans
from firesteel.relational.tables import ResolvedTable
from tests.relational.plans import NoSource, connections
from tests.sql.binding.catalogs import Catalog

KNOWN = {
    "fact": TableStatistics(
        1_000_000,
        columns=(
            ColumnStatistics(low=1, high=100),
            ColumnStatistics(low=0, high=999, nulls=250_000),
            ColumnStatistics(low=dt.date(2026, 1, 1), high=dt.date(2026, 4, 10)),
            ColumnStatistics(low="a", high="z"),
        ),
    ),
    "dim": TableStatistics(100, columns=(ColumnStatistics(), ColumnStatistics(distinct=4))),
    "none": TableStatistics(0),
}


class Known(NoSource):
    def __init__(self, name: str) -> None:
        self._name = name

    def statistics(self) -> TableStatistics | None:
        return KNOWN.get(self._name)

    def projected(self, columns: tuple[int, ...]) -> None:
        return None


def source(table: ResolvedTable) -> TableSource:
    return TableSource(Known(table.identifier.name))


def catalog() -> Catalog:
    made = Catalog()
    with_ = "WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json')"
    made.create(f"CREATE TABLE fact (k INT NOT NULL, v BIGINT, d DATE, s STRING) {with_}")
    made.create(f"CREATE TABLE dim (id INT, kind STRING, PRIMARY KEY (id) NOT ENFORCED) {with_}")
    made.create(f"CREATE TABLE `none` (id INT, kind STRING) {with_}")
    made.create(f"CREATE TABLE other (id INT, kind STRING) {with_}")
    return made


CATALOG = catalog()


def estimate(sql: str, *, batch: bool = True) -> Estimate:
    connected = Connections(source, connections().sink)
    (plan,) = physical_plans([CATALOG.query(sql)], PlanOptions(batch=batch), connected)
    return Estimator().of(plan)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM fact", 1e6),
        ("SELECT k FROM fact WHERE k = 7", 1e4),
        ("SELECT k FROM fact WHERE k = 700", 1),
        ("SELECT k FROM fact WHERE 7 <> k", 99e4),
        ("SELECT k FROM fact WHERE k IN (1, 2, 3)", 3e4),
        ("SELECT k FROM fact WHERE v < 333", 1e6 / 3),
        ("SELECT k FROM fact WHERE 333 < v AND v <= 666", 1e6 / 3),
        ("SELECT k FROM fact WHERE v > 2000", 1),
        ("SELECT k FROM fact WHERE v > -1", 1e6),
        ("SELECT k FROM fact WHERE v < 333 OR k = 7", 1e6 * (1 - 2 / 3 * 0.99)),
        ("SELECT k FROM fact WHERE NOT (k = 7)", 99e4),
        ("SELECT k FROM fact WHERE v IS NULL", 25e4),
        ("SELECT k FROM fact WHERE v IS NOT NULL", 75e4),
        ("SELECT k FROM fact WHERE s = 'b'", 15e4),
        ("SELECT k FROM fact WHERE s > 'b'", 5e5),
        ("SELECT k FROM fact WHERE s LIKE 'b%'", 5e4),
        ("SELECT k FROM fact WHERE d < DATE '2026-02-03'", 1e6 / 3),
        ("SELECT k FROM fact WHERE MOD(k, 3) = 1", 15e4),
        ("SELECT k, COUNT(*) FROM fact GROUP BY k", 100),
        ("SELECT k, v, COUNT(*) FROM fact GROUP BY k, v", 100_000),
        ("SELECT s, COUNT(*) FROM fact GROUP BY s", 1e6 * (1 - exp(-0.1))),
        ("SELECT COUNT(*) FROM fact", 1),
        ("SELECT COUNT(*) FROM `none`", 1),
        ("SELECT DISTINCT kind FROM dim", 4),
        ("SELECT kind, COUNT(*) FROM dim GROUP BY GROUPING SETS ((kind), ())", 8),
        ("SELECT * FROM fact JOIN dim ON k = id", 1e6),
        ("SELECT * FROM fact JOIN dim ON k = id WHERE kind = 'x'", 25e4),
        ("SELECT * FROM fact JOIN dim ON k = id AND s = kind", 1e6),
        ("SELECT * FROM fact LEFT JOIN dim ON k = id AND k < 0", 1e6),
        ("SELECT * FROM fact, dim", 1e8),
        ("SELECT * FROM fact JOIN `none` ON k = id", 0),
        ("SELECT * FROM dim WHERE id IN (SELECT k FROM fact)", 100),
        ("SELECT * FROM dim WHERE NOT EXISTS (SELECT 1 FROM fact WHERE k = id)", 1),
        ("SELECT k FROM fact UNION ALL SELECT id FROM dim", 1_000_100),
        ("SELECT k FROM fact ORDER BY k LIMIT 10 OFFSET 5", 10),
        ("SELECT * FROM dim ORDER BY id OFFSET 95 ROWS", 5),
        ("SELECT * FROM (VALUES (1), (2)) AS t(a)", 2),
        ("SELECT * FROM other", 1e8),
    ],
)
def test_rows_follow_from_what_is_known(sql: str, rows: float) -> None:
    assert estimate(sql).rows == pytest.approx(rows, rel=0.02)


def test_first_rows_of_groups_are_so_many_for_each() -> None:
    ranked = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM fact"
    assert estimate(f"SELECT k, v FROM ({ranked}) WHERE n <= 3", batch=False).rows == 300


def test_what_is_computed_of_a_table_of_unknown_size_is_not_known() -> None:
    assert not estimate("SELECT * FROM dim JOIN other ON dim.id = other.id").known
    assert estimate("SELECT * FROM dim JOIN fact ON id = k").known


def test_a_key_of_several_columns_has_no_more_values_than_rows() -> None:
    many = [Column(8, base=1e6, distinct=1e5)] * 3
    assert equal_pairs(many, [Column(8, base=1e3)] * 3) == 1e-3
    assert equal_pairs(many, many) == 1e-6


@pytest.mark.parametrize(
    ("kind", "low", "high", "distinct"),
    [
        ("INT", 1, 10, 10),
        ("INT", 1, 1000, None),
        ("DOUBLE", 1.0, 10.0, None),
        ("DATE", dt.date(2026, 1, 1), dt.date(2026, 1, 3), 3),
        ("STRING", "a", "b", None),
        ("BOOLEAN", False, True, 2),
        ("INT", None, 10, None),
    ],
)
def test_bounds_say_how_many_values_there_are_if_they_are_near(
    kind: str, low: object, high: object, distinct: float | None
) -> None:
    row = parse_type(f"ROW<a {kind}> NOT NULL")
    statistics = TableStatistics(100, columns=(ColumnStatistics(low=low, high=high),))
    (column,) = of_table(row, statistics).columns  # type: ignore[arg-type]
    assert column.distinct == distinct


def test_what_is_not_known_of_a_part_is_not_known_of_the_column() -> None:
    assert of_extents([Extent(3, 1, 2, 0), Extent(4, 5, 9)]) == ColumnStatistics(low=1, high=9)
    assert of_extents([Extent(3, 1, 2, 0), Extent(4, None, None, 4)]) == ColumnStatistics(None, 1, 2, 4)
    assert of_extents([Extent(3, 1, 2, 0), Extent(4, "a", "b", 0)]) == ColumnStatistics(nulls=0)
    assert of_extents([]) == ColumnStatistics()


def test_types_have_the_widths_of_flink() -> None:
    widths: dict[str, float] = {
        "TIMESTAMP(3)": 12,
        "MAP<INT, BIGINT>": 192,
        "MULTISET<INT>": 128,
        "BYTES": 16,
    }
    found: dict[str, LogicalType] = {text: parse_type(text) for text in widths}
    assert {text: width_of(kind) for text, kind in found.items()} == widths
