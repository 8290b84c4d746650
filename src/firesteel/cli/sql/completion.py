"""What can be typed next: words of SQL, names of tables and columns, keys of options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from firesteel.sql.lexer import Token, TokenKind, tokens
from firesteel.sql.reserved import RESERVED
from firesteel.table.catalog.manager import CatalogManager
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
    "firesteel.state-dir",
)
"""The options that a session is likely to set."""


class StatementCompleter(Completer):
    """Offers what begins like the word before the cursor."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the words that fit, names before keywords."""
        found = [token for token in tokens(document.text_before_cursor) if token.kind is not TokenKind.END]
        typed = _typed(found, document.text_before_cursor)
        before = found[:-1] if typed else found
        for word in self.words(before, document.text, typed):
            if word.lower().startswith(typed.lower()) and word != typed:
                yield Completion(word, start_position=-len(typed))

    def words(self, before: list[Token], text: str, typed: str) -> Iterator[str]:
        """Yield the words that can follow these tokens; those of `text` say which tables it is about."""
        first = before[0].key if before else ""
        last = before[-1].key if before else ""
        if first in ("SET", "RESET") and len(before) == 1:
            yield from (f"'{key}'" for key in _OPTIONS)
            return
        if before and last == ".":
            yield from self._columns(text)
            return
        tables = self._tables()
        if last in _BEFORE_TABLES:
            yield from tables
        elif last == "USE":
            yield from self._databases()
        elif before and typed:
            yield from self._columns(text)
            yield from tables
        if typed or not before:
            words = sorted({*RESERVED, *_MORE_WORDS})
            yield from (word.lower() if typed.islower() else word for word in words)

    @property
    def _manager(self) -> CatalogManager:
        return self._session.manager

    def _tables(self) -> list[str]:
        return self._manager.names(*self._manager.path)

    def _databases(self) -> list[str]:
        return ["CATALOG", *sorted(self._manager.catalog(self._manager.current_catalog).databases)]

    def _columns(self, text: str) -> list[str]:
        """Return the columns of the tables that a text names."""
        names = {
            token.name() for token in tokens(text) if token.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME)
        }
        found: dict[str, None] = {}
        for name in self._tables():
            table = self._manager.find(self._manager.qualified((name,)))
            if name in names and table is not None:
                found.update(dict.fromkeys(field.name for field in row_of(table).fields))
        return list(found)


def _typed(found: list[Token], text: str) -> str:
    """Return the word that the cursor is at the end of, empty after a space or a symbol."""
    if not found or found[-1].end != len(text):
        return ""
    last = found[-1]
    return text[last.start :] if last.kind in (TokenKind.WORD, TokenKind.UNFINISHED) else ""
