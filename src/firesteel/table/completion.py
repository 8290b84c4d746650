"""What can be typed next: words of SQL, names of tables and columns, keys of options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from firesteel.sql.lexer import Token, TokenKind, tokens
from firesteel.sql.reserved import RESERVED
from firesteel.table.catalog.objects import row_of
from firesteel.table.session import Session

_BEFORE_TABLES: Final = frozenset(
    {"FROM", "JOIN", "INTO", "TABLE", "VIEW", "DESCRIBE", "DESC", "COLUMNS", "UPDATE", "EXISTS", "LIKE"}
)
_MORE_WORDS: Final = (
    "SHOW",
    "TABLES",
    "VIEWS",
    "DATABASES",
    "CATALOGS",
    "COLUMNS",
    "USE",
    "QUIT",
    "HELP",
    "CLEAR",
)
_OPTIONS: Final = (
    "execution.runtime-mode",
    "parallelism.default",
    "pipeline.name",
    "pipeline.max-parallelism",
    "sql-client.execution.result-mode",
    "sql-client.display.max-column-width",
    "table.display.max-column-width",
    "table.dml-sync",
    "table.exec.state.ttl",
    "table.local-time-zone",
    "table.optimizer.agg-phase-strategy",
    "table.optimizer.distinct-agg.split.enabled",
    "firesteel.epoch.duration",
    "firesteel.epoch.max-records",
    "firesteel.epoch.min-interval",
    "firesteel.state-dir",
)
"""The options that a session is likely to set."""


def candidates(session: Session, before: str, text: str) -> tuple[str, list[str]]:
    """Return the word that is typed at the end of `before`, and the words that it may become, names before keywords.

    `text` is the whole statement, which says which tables it is about.
    """
    found, typed = _tokens(before), typed_word(before)
    words = _words(session, found[:-1] if typed else found, text, typed)
    return typed, [word for word in words if word.lower().startswith(typed.lower()) and word != typed]


def _words(session: Session, before: list[Token], text: str, typed: str) -> Iterator[str]:
    """Yield the words that can follow these tokens; those of `text` say which tables it is about."""
    first = before[0].key if before else ""
    last = before[-1].key if before else ""
    if first in ("SET", "RESET") and len(before) == 1:
        yield from (f"'{key}'" for key in _OPTIONS)
        return
    if before and last == ".":
        yield from _columns(session, text)
        return
    tables = _tables(session)
    if last in _BEFORE_TABLES:
        yield from tables
    elif last == "USE":
        yield from _databases(session)
    elif before and typed:
        yield from _columns(session, text)
        yield from tables
    if typed or not before:
        words = sorted({*RESERVED, *_MORE_WORDS})
        yield from (word.lower() if typed.islower() else word for word in words)


def _tables(session: Session) -> list[str]:
    return session.manager.names(*session.manager.path)


def _databases(session: Session) -> list[str]:
    manager = session.manager
    return ["CATALOG", *manager.catalog(manager.current_catalog).list_databases()]


def _columns(session: Session, text: str) -> list[str]:
    """Return the columns of the tables that a text names."""
    names = {token.name() for token in tokens(text) if token.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME)}
    found: dict[str, None] = {}
    for name in _tables(session):
        table = session.manager.find(session.manager.qualified((name,)))
        if name in names and table is not None:
            found.update(dict.fromkeys(field.name for field in row_of(table).fields))
    return list(found)


def typed_word(text: str) -> str:
    """Return the word that the cursor at the end of a text is at the end of, empty after a space or a symbol."""
    found = _tokens(text)
    if not found or found[-1].end != len(text):
        return ""
    last = found[-1]
    return text[last.start :] if last.kind in (TokenKind.WORD, TokenKind.UNFINISHED) else ""


def _tokens(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.kind is not TokenKind.END]
