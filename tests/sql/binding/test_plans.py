"""The plans of queries, as they are kept in `plans.txt`: a query, its plan, its columns, an empty line.

    REWRITE=1 pytest tests/sql/binding/test_plans.py

writes the file anew; look at the difference before you keep it.
"""

from __future__ import annotations

import os

import pytest

from firesteel.common.errors import SqlError
from firesteel.relational.logical.printing import plan_text
from tests.sql.binding.catalogs import HERE, lines, small_catalog

CATALOG = small_catalog()
KEPT = HERE / "plans.txt"


def shown(sql: str) -> str:
    """Return a query with its plan and its columns, or with the error."""
    try:
        plan = CATALOG.query(sql)
    except SqlError as error:
        return f"{sql}\n{error}\n"
    columns = ", ".join(f"{name} {kind}" for name, kind, _ in plan.row.fields)
    return f"{sql}\n{plan_text(plan)}\n({columns})\n"


def test_plans_are_those_that_are_kept() -> None:
    found = [shown(sql) for sql in lines("flink/queries.sql")]
    if os.environ.get("REWRITE"):
        KEPT.write_text("\n".join(found))
    kept = KEPT.read_text().split("\n\n")
    assert [text.rstrip("\n") for text in found] == [text.rstrip("\n") for text in kept]


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
