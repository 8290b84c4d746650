"""Queries have the columns that real Flink gives them, and those that Flink refuses are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firesteel.common.errors import SqlError, SqlUnsupportedError
from tests.sql.binding.catalogs import HERE, lines, small_catalog

CATALOG = small_catalog()


def answers(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / "flink" / name).read_text().splitlines()]


ANSWERS, DEFINITIONS, INSERTS = map(answers, ("answers.jsonl", "definitions.jsonl", "inserts.jsonl"))
OTHER_COLUMNS = {
    "SELECT -a, +b": "a plus sign leaves no trace in the syntax, so the column keeps its name",
    "SELECT LAG(price) OVER": "Flink: NOT NULL with a default that is, although the value may be NULL",
    "SELECT LISTAGG(w)": "Flink: NOT NULL of a constant, although there may be no rows",
    "SELECT a + b, a - l": "Flink: FLOAT times DOUBLE is FLOAT",
    "SELECT DATE_FORMAT(TUMBLE_START": "Flink: DATE_FORMAT may be NULL",
    "SELECT LEFT(c, 2)": "Flink: parts of a text have its length",
    "SELECT MD5(c)": "Flink: CHAR of the length of the hash",
    "SELECT ARRAY[a, 1]": "Flink: ELEMENT of values that are not NULL is not NULL",
}
"""Beginnings of queries that have columns of other types here, and how those of Flink are."""


REFUSED_LATER = {
    "SELECT MIN(r) FROM n": "Flink cannot run it",
    "SELECT MIN(ar) FROM n": "Flink cannot run it",
    "SELECT MIN(ma) FROM n": "Flink cannot run it",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(i), INTERVAL '10' MINUTE))": "no time attribute",
    "SELECT * FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '3' MINUTE, INTERVAL '10' MINUTE))": "the"
    " size is no multiple of the step",
    "SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime, proc), INTERVAL '10' MINUTE))": "two columns",
    "SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '1' MONTH))": "months have no length",
    "SELECT TUMBLE_START(bidtime, INTERVAL '1' HOUR) FROM bid": "there is no window",
    "SELECT COUNT(*) FROM bid GROUP BY TUMBLE(bidtime, INTERVAL '1' HOUR), HOP(bidtime, INTERVAL '1' MINUTE,"
    " INTERVAL '1' HOUR)": "there are two windows",
    "SELECT SUM(a) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t": "the rows before which are not known",
}
REFUSED_HERE = ("SELECT TO_TIMESTAMP('2020-01-01 00:00:00')",)
"""Beginnings of queries with a form of a function that there is not: UNIX_TIMESTAMP()."""

ACCEPTED_HERE = {
    "SELECT IF(f, 1, 2), IF(f, 'a', 'bcd'), IF(f, NULL, 1), IF(f, d, 1.5), IF(a > 1, c, v) FROM t": "NULL in IF",
    "SELECT ROW(1, 'a', NULL)": "NULL in ROW",
    "SELECT i > g, i = j, g = i, h = TIME '10:00:00', j > TIMESTAMP '2020-01-01 00:00:00', c = 1, a = '1', f = TRUE,"
    " d = e, k = 1.5 FROM t": "a date and a timestamp are compared",
    "SELECT CAST(a AS INT), CAST(a AS INTEGER), CAST(c AS VARCHAR), CAST(d AS NUMERIC(5, 1)), CAST(e AS FLOAT),"
    " CAST(e AS REAL), CAST(k AS DOUBLE PRECISION) FROM t": "REAL is FLOAT",
    "SELECT ma[1] FROM n": "a key is cast",
    "SELECT a = g FROM t": "a number and a date are compared",
    "SELECT a IN ('x', 1) FROM t": "a number and a text are compared",
    "SELECT a IN (g) FROM t": "a number and a date are compared",
    "VALUES (1, 'a'), (2, 'bcd'), (3, NULL)": "Flink takes no NULL without a type in VALUES",
    "SELECT * FROM (VALUES (NULL, 1), (2, NULL)) AS v (p, q)": "Flink takes no NULL without a type in VALUES",
    "SELECT r.x, COUNT(*) FROM n GROUP BY r": "Flink does not see that a field of a key is one",
    "SELECT * FROM t /*+ OPTIONS('k' = 'v') */": "the connector looks at options later",
}


REFUSED_TABLES = {
    "CREATE TABLE x (a DECIMAL(50, 2))": "Flink makes DECIMAL(38, 2) of it without a word",
    "CREATE TABLE x (a TIMESTAMP(12))": "Flink makes TIMESTAMP(9) of it without a word",
    "CREATE TABLE x (a INT, b AS COUNT(a))": "Flink cannot read such a table",
}
OTHER_INSERTS = {
    "INSERT OVERWRITE part PARTITION (p = 'x') SELECT 1, 2": "whether the job is a batch job is looked at later",
}


@pytest.mark.parametrize(
    ("found", "statements"), [(ANSWERS, "queries"), (DEFINITIONS, "definitions"), (INSERTS, "inserts")]
)
def test_all_statements_have_an_answer(found: list[dict[str, Any]], statements: str) -> None:
    assert [answer["sql"] for answer in found] == lines(f"flink/{statements}.sql")


def without_kind(kind: str) -> str:
    return kind.removesuffix(" *ROWTIME*").removesuffix(" *PROCTIME*")


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["sql"])
def test_a_query_is_understood_as_in_flink(answer: dict[str, Any]) -> None:
    """Flink shows what is computed of a time attribute as one, and takes that back when it plans."""
    sql = answer["sql"]
    try:
        plan = CATALOG.query(sql)
    except SqlUnsupportedError:
        return
    except SqlError:
        known = sql in REFUSED_LATER or sql.startswith(REFUSED_HERE)
        assert "error" in answer or known
        return
    if "error" in answer:
        assert sql in ACCEPTED_HERE
        return
    found = [[field.name, str(field.type)] for field in plan.row.fields]
    plain = [[name, without_kind(kind)] for name, kind in found]
    expected = [[name, without_kind(kind)] for name, kind in answer["columns"]]
    known = sql.startswith(tuple(OTHER_COLUMNS))
    assert plain == expected or known
    for ours, flinks in zip(found, answer["columns"], strict=True):
        assert ours[1] in (flinks[1], without_kind(flinks[1])) or known


def test_little_is_not_supported() -> None:
    unsupported = 0
    for answer in ANSWERS:
        try:
            CATALOG.query(answer["sql"])
        except SqlUnsupportedError:
            unsupported += 1
        except SqlError:
            pass
    assert unsupported <= 20


@pytest.mark.parametrize("answer", DEFINITIONS, ids=lambda answer: answer["sql"])
def test_a_table_is_what_flink_describes(answer: dict[str, Any]) -> None:
    sql = answer["sql"]
    try:
        table = small_catalog().create_table(sql)
    except SqlError:
        assert "error" in answer or sql in REFUSED_TABLES
        return
    assert "error" not in answer
    found = []
    for column in table.columns:
        kind = str(column.type.copy(nullable=True))
        if table.watermark is not None and table.watermark.column == column.name:
            kind += " *ROWTIME*"
        key = table.primary_key and column.name in table.primary_key
        found.append(
            [column.name, kind, column.type.nullable, key and f"PRI({', '.join(table.primary_key or ())})"]
        )
    assert [part[:3] for part in found] == [row[:3] for row in answer["columns"]]
    assert [part[3] or None for part in found] == [row[3] for row in answer["columns"]]


@pytest.mark.parametrize("answer", INSERTS, ids=lambda answer: answer["sql"])
def test_an_insert_is_accepted_or_refused_as_in_flink(answer: dict[str, Any]) -> None:
    try:
        CATALOG.insert(answer["sql"])
    except SqlError:
        assert "error" in answer
        return
    assert "error" not in answer or answer["sql"] in OTHER_INSERTS
