"""What is in a statement, and where its parts stand."""

from __future__ import annotations

import pytest
from sqlglot import exp

from firesteel.common.places import Source
from firesteel.sql import nodes
from firesteel.sql.script import parse_statement
from firesteel.sql.statements import alter
from firesteel.sql.statements.create import CreateFunction, CreateTable
from firesteel.sql.statements.parts import (
    ComputedColumn,
    LikeOption,
    MetadataColumn,
    ObjectKind,
    PhysicalColumn,
)
from firesteel.sql.statements.queries import Explain, Insert, Query
from firesteel.sql.statements.session import Pattern, Show

TABLE = """CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (
  id BIGINT NOT NULL COMMENT 'key',
  `off set` BIGINT METADATA FROM 'offset' VIRTUAL,
  twice AS id * 2,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'a table' DISTRIBUTED BY HASH(id) INTO 4 BUCKETS PARTITIONED BY (ts)
WITH ('connector' = 'print') LIKE s (EXCLUDING ALL OVERWRITING OPTIONS)"""


def create_table() -> CreateTable:
    found = parse_statement(TABLE)
    assert isinstance(found, CreateTable)
    return found


def test_a_table_has_all_that_is_written():
    found = create_table()
    assert found.name.parts == ("c", "d", "t")
    assert (found.temporary, found.or_replace, found.if_not_exists) == (True, False, True)
    key, offset, twice, ts = found.columns
    assert isinstance(key, PhysicalColumn)
    assert (key.type.this, key.type.args["nullable"], key.comment) == ("BIGINT", False, "key")
    assert isinstance(offset, MetadataColumn)
    assert (offset.name.parts, offset.metadata, offset.virtual) == (("off set",), "offset", True)
    assert isinstance(twice, ComputedColumn)
    assert isinstance(twice.expression, exp.Mul)
    assert isinstance(ts, PhysicalColumn)
    assert ts.type.args["parameters"] == [exp.Literal.number(3)]
    assert [mark.column.parts for mark in found.watermarks] == [("ts",)]
    assert [(key.columns[0].parts, key.enforced) for key in found.keys] == [(("id",), False)]
    assert found.distribution is not None
    assert (found.distribution.kind, found.distribution.buckets) == ("HASH", 4)
    assert found.options is not None
    assert [(option.key, option.value) for option in found.options] == [("connector", "print")]
    assert found.like is not None
    assert found.like.options == (LikeOption("EXCLUDING", "ALL"), LikeOption("OVERWRITING", "OPTIONS"))


def test_parts_of_a_table_know_their_places():
    found = create_table()
    assert found.options is not None
    option = found.options[0]
    texts = [
        TABLE[span.start : span.end] for span in (option.span, option.value_span, *found.name.part_spans)
    ]
    assert texts == ["'connector' = 'print'", "'print'", "c", "d", "t"]
    assert (found.columns[2].span.line, found.columns[2].span.column) == (4, 3)
    mark = found.watermarks[0]
    assert (mark.column.span.line, mark.column.span.column) == (6, 17)
    where = nodes.span(mark.expression, Source(TABLE))
    assert TABLE[where.start : where.end] == "ts - INTERVAL '5' SECOND"


def test_every_node_of_a_query_knows_its_place():
    text = """SELECT a, SUM(b + 1) OVER w AS s, CASE WHEN x IS NULL THEN f(a => 1)[2] END
    FROM c.t AS t JOIN LATERAL TABLE(g(t.x)) AS u (y) ON t.k = u.k
    WHERE NOT a BETWEEN 1 AND 2 GROUP BY a WINDOW w AS (ORDER BY ts) ORDER BY a DESC LIMIT 3"""
    found = parse_statement(text)
    assert isinstance(found, Query)
    for node in found.query.find_all(exp.Column, exp.Table, exp.Binary, nodes.Call, exp.Literal, exp.Alias):
        where = nodes.span(node, Source(text))
        assert text[where.start : where.end].strip()
        if isinstance(node, (exp.Column, exp.Literal)):
            assert text[where.start : where.end] == node.sql()


def test_statements_of_the_same_words_are_equal_wherever_they_stand():
    assert parse_statement("SELECT a FROM t") == parse_statement("  SELECT\n a  FROM t ;")
    assert parse_statement("SELECT a FROM t") != parse_statement("SELECT A FROM t")
    assert parse_statement("DROP TABLE a.b") == parse_statement("drop table\na . b")


def test_an_insert_has_its_parts():
    text = "INSERT OVERWRITE c.t /*+ OPTIONS('a'='b') */ PARTITION (d = '1') (x, y) SELECT 1, 2"
    found = parse_statement(text)
    assert isinstance(found, Insert)
    assert (found.overwrite, found.table.name, found.table.db) == (True, "t", "c")
    assert [value.column.parts for value in found.partition] == [("d",)]
    assert found.columns is not None
    assert [column.parts for column in found.columns] == [("x",), ("y",)]
    assert found.table.args["hints"][0].find(nodes.HintOption) is not None


def test_a_function_in_python():
    found = parse_statement("CREATE TEMPORARY SYSTEM FUNCTION f AS 'module.f' LANGUAGE PYTHON")
    assert isinstance(found, CreateFunction)
    assert (found.target, found.language, found.temporary, found.system) == ("module.f", "PYTHON", True, True)


def test_explain_has_its_details_and_its_statement():
    found = parse_statement("EXPLAIN CHANGELOG_MODE, PLAN_ADVICE INSERT INTO t SELECT 1")
    assert isinstance(found, Explain)
    assert found.details == ("CHANGELOG_MODE", "PLAN_ADVICE")
    assert isinstance(found.statement, Insert)


def test_show_has_its_scope_and_its_pattern():
    found = parse_statement("SHOW FUNCTIONS IN c.d NOT ILIKE 'x%'")
    assert isinstance(found, Show)
    assert found.scope is not None
    assert (found.what, found.scope.parts) == ("FUNCTIONS", ("c", "d"))
    assert found.pattern == Pattern("x%", ignores_case=True, negated=True)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("ALTER TABLE t RENAME TO u", alter.RenameTo),
        ("ALTER TABLE t RENAME a TO b", alter.RenameColumn),
        ("ALTER TABLE t DROP WATERMARK", alter.DropPart),
        ("ALTER VIEW v AS SELECT 1", alter.SetQuery),
        ("ALTER CATALOG c COMMENT 'x'", alter.SetComment),
        ("ALTER MATERIALIZED TABLE m SUSPEND", alter.Suspend),
    ],
)
def test_alter_has_one_action(text, action):
    found = parse_statement(text)
    assert isinstance(found, alter.Alter)
    assert isinstance(found.action, action)
    assert found.kind is ObjectKind(text.split()[1] if "MATERIALIZED" not in text else "MATERIALIZED TABLE")
