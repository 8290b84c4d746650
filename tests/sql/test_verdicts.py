"""Statements are accepted and refused as Flink's own parser does it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from firesteel.common.errors import SqlParseError
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.queries import Query
from firesteel.sql.writing import written
from tests.sql.statements import OPERATORS, REFUSED_HERE, VERDICTS

ACCEPTED = [verdict.sql for verdict in VERDICTS if verdict.accepted and verdict.sql not in REFUSED_HERE]
REFUSED = [verdict for verdict in VERDICTS if not verdict.accepted]


def test_there_are_hundreds_of_each():
    assert len(ACCEPTED) > 400
    assert len(REFUSED) > 150


@pytest.mark.parametrize("sql", ACCEPTED)
def test_what_flink_accepts_is_accepted_and_survives_being_written(sql):
    statement = parse_statement(sql)
    assert parse_statement(written(statement)) == statement


@pytest.mark.parametrize("sql", ACCEPTED)
def test_the_span_of_a_statement_is_its_text(sql):
    inside = parse_statement(f"\n  {sql} ;").span
    assert (inside.line, inside.column) == (first_place(sql))


def first_place(sql: str) -> tuple[int, int]:
    """Return where the first word stands if two blanks and a line are put before it."""
    line, column, text = 2, 3, sql
    if sql.startswith("/*"):
        before, text = sql.split("*/", 1)
        line, column = 2 + before.count("\n"), 3 + len(before.split("\n")[-1])
    return line, column + len(text) - len(text.lstrip())


@pytest.mark.parametrize("verdict", REFUSED, ids=lambda verdict: verdict.sql)
def test_what_flink_refuses_is_refused_with_the_line(verdict):
    with pytest.raises(SqlParseError) as error:
        parse_statement(verdict.sql)
    assert 1 <= error.value.line <= verdict.sql.count("\n") + 1
    assert error.value.pointed.count("\n") == 1


@pytest.mark.parametrize("sql", REFUSED_HERE)
def test_what_only_we_refuse_is_known(sql):
    assert sql in {verdict.sql for verdict in VERDICTS if verdict.accepted}
    with pytest.raises(SqlParseError):
        parse_statement(sql)


def test_most_errors_point_where_those_of_flink_do():
    """At the end of a text Flink points at its last character, we point behind it."""
    same = located = 0
    for verdict in REFUSED:
        if verdict.line is None:
            continue
        located += 1
        with pytest.raises(SqlParseError) as error:
            parse_statement(verdict.sql)
        at_end = '"<EOF>"' in verdict.message or "<EOF>" in verdict.message
        columns = {verdict.column, (verdict.column or 0) + at_end}
        same += error.value.line == verdict.line and error.value.column in columns
    assert same / located > 0.8


@pytest.mark.parametrize("verdict", OPERATORS, ids=lambda verdict: verdict.sql)
def test_operators_bind_as_in_flink(verdict):
    ours, flinks = parse_statement(verdict.sql), parse_statement(verdict.grouped)
    assert without_parentheses(ours) == without_parentheses(flinks)


def without_parentheses(statement: Statement) -> exp.Expr:
    """Return the query with nothing in parentheses, and with names that are not quoted."""
    assert isinstance(statement, Query)
    query = statement.query
    while parenthesis := query.find(exp.Paren):
        parenthesis.replace(parenthesis.this)
    for name in query.find_all(exp.Identifier):
        name.set("quoted", False)
    for between in query.find_all(exp.Between):
        between.set("symmetric", between.args.get("symmetric") or None)
    return query
