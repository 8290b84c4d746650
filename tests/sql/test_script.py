"""Many statements in one text."""

from __future__ import annotations

import pytest

from firesteel.common.errors import SqlParseError
from firesteel.sql.script import is_complete, parse_script, parse_statement, pieces
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from firesteel.sql.statements.session import SetOption

SCRIPT = """
-- the source; with a semicolon
SET 'parallelism.default' = '2';
CREATE TABLE s (a INT, `b;c` STRING) WITH ('path' = 'x;y', 'it''s' = ';');  /* ; */
;
INSERT INTO t
  SELECT /*+ STATE_TTL('s' = '1d') */ * FROM s
"""


def test_semicolons_within_strings_names_and_comments_do_not_end_a_statement():
    assert [type(statement) for statement in parse_script(SCRIPT)] == [SetOption, CreateTable, Insert]


def test_each_statement_knows_its_place_in_the_whole_text():
    found = list(parse_script(SCRIPT))
    assert [(one.span.line, one.span.column) for one in found] == [(3, 1), (4, 1), (6, 1)]
    assert SCRIPT[found[2].span.start : found[2].span.end].endswith("FROM s")


def test_only_the_last_piece_can_be_incomplete():
    assert [piece.complete for piece in pieces(SCRIPT)] == [True, True, False]


def test_statements_before_an_error_are_there():
    statements = parse_script("SELECT 1; SELECT FROM; SELECT 2")
    assert isinstance(next(statements), Query)
    with pytest.raises(SqlParseError) as error:
        next(statements)
    assert (error.value.line, error.value.column) == (1, 18)


@pytest.mark.parametrize(
    "text",
    [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
    ],
)
def test_a_statement_set_is_one_statement(text):
    [found] = parse_script(f"{text};")
    assert isinstance(found, StatementSet)
    assert [insert.table.name for insert in found.inserts] == ["a", "b"]
    beginnings = [text[:end] for end in range(1, len(text)) if text[end - 1] == ";"]
    assert [is_complete(beginning) for beginning in beginnings] == [False] * len(beginnings)


def test_after_a_statement_set_other_statements_may_follow():
    text = "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END; SELECT 1; SELECT 2"
    assert [type(statement) for statement in parse_script(text)] == [StatementSet, Query, Query]


def test_a_statement_set_that_is_begun_may_be_empty():
    [found] = parse_script("BEGIN STATEMENT SET; END;")
    assert isinstance(found, StatementSet)
    assert found.inserts == ()
    for wrong in ("EXECUTE STATEMENT SET BEGIN END;", "BEGIN STATEMENT SET; SELECT 1; END;", "END;"):
        with pytest.raises(SqlParseError, match="requires"):
            [*parse_script(wrong)]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("-- only a comment", True),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1", False),
        ("SELECT 1; SELECT", False),
        ("SELECT ';", False),
        ("SELECT `a;", False),
        ("SELECT 1; /* not closed", False),
        ("EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1;", False),
        ("EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;", True),
        ("SELECT ) ;", True),
    ],
)
def test_a_shell_learns_whether_to_ask_for_more(text, complete):
    assert is_complete(text) is complete


@pytest.mark.parametrize("text", ["", " -- nothing", "SELECT 1; SELECT 2"])
def test_one_statement_is_one(text):
    with pytest.raises(SqlParseError, match="requires"):
        parse_statement(text)


def test_options_may_be_set_without_quotes_as_in_the_shell_of_flink():
    [with_quotes] = parse_script("SET 'execution.runtime-mode' = 'batch';")
    [without] = parse_script("SET execution.runtime-mode = batch;")
    assert with_quotes == without == SetOption(without.span, "execution.runtime-mode", "batch")
