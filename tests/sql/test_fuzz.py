"""Whatever text the parser is given, it answers with a statement or with an error of the house."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import SqlParseError
from firesteel.sql.lexer import tokens
from firesteel.sql.script import is_complete, parse_script, parse_statement, pieces
from firesteel.sql.writing import written
from tests.sql.statements import VERDICTS

TEXTS = [verdict.sql for verdict in VERDICTS]
WORDS = sorted({token.text for text in TEXTS for token in tokens(text) if token.text})


def check(text: str) -> None:
    """Parse a text; what is accepted must survive being written."""
    is_complete(text)
    try:
        found = list(parse_script(text))
    except SqlParseError as error:
        found, problem = [], error
    else:
        problem = None
    assert problem is None or 1 <= problem.line <= text.count("\n") + 1
    for statement in found:
        assert parse_statement(written(statement)) == statement


@given(st.text(max_size=60))
def test_any_text(text):
    check(text)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
@settings(max_examples=400, deadline=None)
def test_words_of_sql_in_any_order(words):
    check(" ".join(words))


@given(st.sampled_from(TEXTS), st.integers(0, 2**32))
@settings(max_examples=800, deadline=None)
def test_statements_with_changes(text, seed):
    choice = random.Random(seed)
    parts = [token.text for token in tokens(text)]
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(parts) + 1)
        kind = choice.randrange(4)
        if kind == 0:
            parts.insert(at, choice.choice(WORDS))
        elif kind == 1:
            del parts[at : at + choice.randint(1, 2)]
        elif kind == 2:
            parts[at : at + 1] = [choice.choice(WORDS)]
        else:
            other = [token.text for token in tokens(choice.choice(TEXTS))]
            parts[at:at] = other[choice.randrange(len(other)) :][:6]
    check(" ".join(parts))


@given(st.sampled_from(TEXTS), st.integers(0, 400), st.characters())
@settings(max_examples=400, deadline=None)
def test_statements_with_other_characters(text, at, character):
    check(text[:at] + character + text[at + 1 :])


@pytest.mark.parametrize("text", TEXTS)
def test_statements_cut_anywhere(text):
    for end in range(1, len(text), 7):
        check(text[:end])


@given(st.text(alphabet="ab;'`-/*\n +", max_size=40))
def test_pieces_cover_every_token_but_semicolons(text):
    found = [token for piece in pieces(text) for token in piece.tokens]
    expected = [token for token in tokens(text) if token.key != ";" and token.text]
    assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "NOT " * 5000 + "a",
        "SELECT " + "- " * 5000 + "a",
        "SELECT a" + "[1]" * 5000,
        "SELECT a" + " IS NULL" * 5000,
        "SELECT a" + " + b - c" * 5000,
        "SELECT CAST(a AS " + "ARRAY<" * 5000 + "INT" + ">" * 5000 + ")",
        "SELECT CAST(a AS INT" + " ARRAY" * 5000 + ")",
        "SELECT * FROM " + "(SELECT * FROM " * 5000 + "t" + ")" * 5000,
        "SELECT " + "f(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "CASE WHEN " * 5000,
        "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (" + "(" * 5000,
    ],
)
def test_a_text_that_is_nested_too_deeply_is_refused(text):
    with pytest.raises(SqlParseError, match=r"deeper than|more than"):
        parse_statement(text)


def test_long_conditions_and_unions_are_not_nested():
    check("SELECT a FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(3000)))
    check(" UNION ALL ".join(f"SELECT {number}" for number in range(150)))
    check("SELECT a IN (" + ", ".join(map(str, range(3000))) + ") FROM t")
