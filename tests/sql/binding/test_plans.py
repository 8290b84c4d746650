"""What statements mean, as it is kept in files: a statement, its plan or the error, its columns, an empty line.

    REWRITE=1 pytest tests/sql/binding/test_plans.py

writes the files anew; look at the difference before you keep it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from firesteel.common.errors import SqlError
from firesteel.relational.logical.nodes import Aggregate, Project
from firesteel.relational.logical.printing import expression_text, plan_text
from firesteel.relational.tables import ComputedColumn, MetadataColumn, ResolvedTable, TableColumn
from tests.sql.binding.catalogs import HERE, lines, small_catalog

CATALOG = small_catalog()


def query_text(sql: str) -> str:
    plan = CATALOG.query(sql)
    columns = ", ".join(f"{field.name} {field.type}" for field in plan.row.fields)
    return f"{plan_text(plan)}\n({columns})"


def column_text(column: TableColumn, table: ResolvedTable) -> str:
    text = f"  {column.name} {column.type}"
    match column:
        case ComputedColumn():
            text += f" AS {expression_text(column.expression, [part.name for part in table.read])}"
        case MetadataColumn():
            text += f" METADATA FROM {column.key}{' VIRTUAL' if column.virtual else ''}"
    return text + (f" COMMENT {column.comment}" if column.comment else "")


def table_text(sql: str) -> str:
    table = small_catalog().create_table(sql)
    found = [column_text(column, table) for column in table.columns]
    if table.watermark is not None:
        mark = expression_text(table.watermark.expression, table.row.field_names)
        found.append(f"  WATERMARK FOR {table.watermark.column} AS {mark}")
    found += [f"  PRIMARY KEY {', '.join(table.primary_key)}"] if table.primary_key else []
    found += [f"  PARTITIONED BY {', '.join(table.partition_keys)}"] if table.partition_keys else []
    return "\n".join([*found, f"  WITH {dict(table.options)}"])


def insert_text(sql: str) -> str:
    return plan_text(CATALOG.insert(sql))


@pytest.mark.parametrize(
    ("statements", "kept", "shown"),
    [
        ("flink/queries.sql", "queries.txt", query_text),
        ("flink/definitions.sql", "definitions.txt", table_text),
        ("flink/inserts.sql", "inserts.txt", insert_text),
    ],
)
def test_statements_mean_what_is_kept(statements: str, kept: str, shown: Callable[[str], str]) -> None:
    found = []
    for sql in lines(statements):
        try:
            found.append(f"{sql}\n{shown(sql)}")
        except SqlError as error:
            found.append(f"{sql}\n{error}")
    file = HERE / kept
    if os.environ.get("REWRITE"):
        file.write_text("\n\n".join(found) + "\n")
    assert found == file.read_text().removesuffix("\n").split("\n\n")


@pytest.mark.parametrize(
    ("sql", "plan"),
    [
        (
            "SELECT b, SUM(a) FILTER (WHERE f) AS total FROM t WHERE a > 1 GROUP BY b HAVING COUNT(*) > 2",
            """\
LogicalProject(b=[$0], total=[$1])
+- LogicalFilter(condition=[>($2, CAST(2):BIGINT NOT NULL)])
   +- LogicalAggregate(group=[{0}], total=[SUM($1) FILTER $2], $f2=[COUNT()])
      +- LogicalProject(b=[$1], a=[$0], f=[$5])
         +- LogicalFilter(condition=[>($0, 1)])
            +- LogicalTableScan(table=[[default_catalog, default_database, t]])""",
        ),
        (
            "SELECT a FROM s ORDER BY b DESC LIMIT 3",
            """\
LogicalProject(a=[$0])
+- LogicalSort(order=[$1 DESC-nulls-last], fetch=[3])
   +- LogicalProject(a=[$0], $s1=[$1])
      +- LogicalTableScan(table=[[default_catalog, default_database, s]])""",
        ),
    ],
)
def test_a_plan_node_by_node(sql: str, plan: str) -> None:
    assert plan_text(CATALOG.query(sql)) == plan


def test_a_condition_of_many_parts_is_no_deep_plan() -> None:
    condition = " OR ".join(f"a = {number}" for number in range(3000))
    assert CATALOG.query(f"SELECT a FROM t WHERE {condition}").row.field_names == ["a"]


def test_a_hint_says_how_long_groups_live() -> None:
    plan = CATALOG.query("SELECT /*+ STATE_TTL('q' = '1 d') */ b, COUNT(*) FROM t AS q GROUP BY b")
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Aggregate)
    assert plan.input.time_to_live == 86_400_000


def test_a_view_sees_the_catalog_it_was_made_in() -> None:
    catalog = small_catalog()
    catalog.path = ("default_catalog", "elsewhere")
    assert catalog.query("SELECT twice FROM default_database.big").row.field_names == ["twice"]
    with pytest.raises(SqlError, match="got big, which does not exist"):
        catalog.query("SELECT twice FROM big")


def test_an_error_within_a_view_points_into_its_text() -> None:
    catalog = small_catalog()
    catalog.create("CREATE VIEW v AS\nSELECT a\nFROM s")
    catalog.create("CREATE TABLE s (z INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(SqlError) as error:
        catalog.query("SELECT * FROM v")
    assert (error.value.line, error.value.column) == (2, 8)
    assert "view `default_catalog`.`default_database`.`v` (line 2, column 8)" in str(error.value)


def test_a_view_that_reads_itself_is_refused() -> None:
    catalog = small_catalog()
    catalog.create("CREATE VIEW v AS SELECT a FROM s")
    catalog.create("CREATE VIEW s AS SELECT a FROM v")
    with pytest.raises(SqlError, match="within itself"):
        catalog.query("SELECT * FROM v")


def test_a_statement_set_has_a_plan_for_each_insert() -> None:
    sql = "EXECUTE STATEMENT SET BEGIN INSERT INTO t (a) SELECT a FROM s; INSERT INTO t (b) SELECT b FROM s; END"
    assert [sink.table.identifier.name for sink in CATALOG.statement_set(sql)] == ["t", "t"]
