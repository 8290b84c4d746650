"""Whatever statement the binder is given, it answers with a plan or with an error of the house."""

from __future__ import annotations

import random

from firesteel.common.errors import SqlError
from firesteel.common.places import Source
from firesteel.relational.logical.printing import plan_text
from firesteel.sql.binding.statements import (
    bind_insert,
    bind_query,
    bind_statement_set,
    bind_table,
    bind_view,
)
from firesteel.sql.lexer import tokens
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.create import CreateTable, CreateView
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from tests.sql.binding.catalogs import lines, small_catalog
from tests.sql.statements import VERDICTS

CATALOG = small_catalog()
QUERIES = lines("flink/queries.sql")
TEXTS = [verdict.sql for verdict in VERDICTS] + QUERIES


def answered(sql: str) -> bool:
    """Bind a statement, and return whether it has a meaning; nothing but errors of SQL may be raised."""
    problem: SqlError | None = None
    try:
        statement, source = parse_statement(sql), Source(sql)
        match statement:
            case Query():
                plan_text(bind_query(statement.query, source, CATALOG))
            case Insert():
                plan_text(bind_insert(statement, source, CATALOG))
            case StatementSet():
                bind_statement_set(statement, source, CATALOG)
            case CreateTable():
                bind_table(statement, source, CATALOG)
            case CreateView():
                bind_view(statement, source, CATALOG)
            case _:
                return False
    except SqlError as error:
        problem = error
    assert problem is None or 1 <= problem.line <= sql.count("\n") + 1
    return problem is None


def test_every_known_statement() -> None:
    assert sum(map(answered, TEXTS)) > 300


def changed(text: str, choice: random.Random, words: list[str]) -> str:
    """Return a statement with some words left out, added, or replaced by others."""
    parts = [token.text for token in tokens(text) if token.text]
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(parts) + 1)
        kind = choice.randrange(3)
        if kind == 0:
            parts.insert(at, choice.choice(words))
        elif kind == 1:
            del parts[at : at + 1]
        else:
            parts[at : at + 1] = [choice.choice(words)]
    return " ".join(parts)


def test_statements_with_changes() -> None:
    choice = random.Random(7)
    words = sorted({token.text for text in QUERIES for token in tokens(text) if token.text})
    found = [answered(changed(choice.choice(TEXTS), choice, words)) for _ in range(2000)]
    assert 20 < sum(found) < 1900
