"""What an error says, and where it points."""

from __future__ import annotations

import pickle

import pytest

from firesteel.common.errors import ProgramError, SqlParseError
from firesteel.sql.script import parse_statement


def error_of(text: str) -> SqlParseError:
    with pytest.raises(SqlParseError) as error:
        parse_statement(text)
    return error.value


def test_the_message_has_the_place_what_is_expected_what_is_there_and_the_line_with_a_caret():
    error = error_of("SELECT a\nFROM t\nWHERE a = = 1")
    assert isinstance(error, ProgramError)
    assert str(error).split("\n") == [
        "SELECT statement (line 3, column 11) requires an expression here; got =",
        "    WHERE a = = 1",
        "              ^",
    ]


def test_an_error_survives_being_sent_to_another_process():
    error = error_of("SELEC 1")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELEC 1", "did you mean SELECT?"),
        ("CRAETE TABLE t (a INT)", "did you mean CREATE?"),
        ("SHOW TABELS", "did you mean TABLES?"),
        ("CREATE TABEL t (a INT)", "did you mean TABLE?"),
        ("CREATE TABLE t (a STRNG)", "did you mean STRING?"),
        ("CREATE TABLE t (a INT) WIHT ('k' = 'v')", "did you mean WITH?"),
        ("SELECT a FORM t", "did you mean FROM?"),
        ("SELECT a FROM t WHER a = 1", "did you mean WHERE?"),
        ("SELECT a FROM t GRUOP BY a", "did you mean GROUP?"),
        ("SELECT a FROM t u v", None),
        ("SELECT value FROM t", "value is a reserved word; quote it as `value` to use it as a name"),
        ("SELECT a AS order FROM t", "order is a reserved word; quote it as `order` to use it as a name"),
        ("SELECT a prev FROM t", "prev is a reserved word; quote it as `prev` to use it as a name"),
        ("SELECT a, FROM t", "remove the comma before FROM"),
        ('SELECT "a" FROM t', "quote names with `back quotes` and strings with 'single quotes'"),
        ("SELECT a FROM t WHERE a != 1", "use <> for not equal"),
        ("SELECT 1 MINUS SELECT 2", "use EXCEPT"),
        ("SELECT a FROM t LIMIT 1, 2", "use LIMIT count OFFSET start"),
        ("CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)", "use TIMESTAMP_LTZ"),
    ],
)
def test_errors_suggest(text, hint):
    assert error_of(text).hint == hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("MERGE INTO t USING s ON TRUE", "the statement MERGE"),
        ("SELECT a FROM t TABLESAMPLE SYSTEM (10)", "TABLESAMPLE"),
        ("CREATE CONNECTION c WITH ('a' = 'b')", "CREATE CONNECTION"),
        ("SELECT a FROM t PIVOT (SUM(b) FOR c IN (1))", "PIVOT"),
        ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", "WITH RECURSIVE"),
        ("SELECT ? FROM t", "a parameter"),
    ],
)
def test_what_flink_has_and_we_do_not_parse_is_refused_by_name(text, what):
    assert error_of(text).requirement == f"uses {what}, which Firesteel does not support"


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("SELECT 'abc", "a string that does not end"),
        ("SELECT `abc", "a quoted name that does not end"),
        ("SELECT 1 /* abc", "a comment that does not end"),
        ("SELECT a FROM", "the end of the text"),
        ("SELECT #", "the character '#'"),
    ],
)
def test_errors_say_what_is_there(text, got):
    assert error_of(text).got == got


def test_tabs_are_kept_before_the_caret():
    assert error_of("SELECT\ta,\n\tb c d").pointed == "\tb c d\n\t    ^"
