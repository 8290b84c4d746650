"""A text of many statements to statements, one by one.

A semicolon ends a statement, but not within a string, a quoted name, a comment, or a statement set: from ``BEGIN
STATEMENT SET`` or ``STATEMENT SET BEGIN`` to ``END`` is one statement. Each has its place in the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firesteel.common.places import Source, Span
from firesteel.sql.grammar.statement import StatementParser
from firesteel.sql.lexer import Token, TokenKind, tokens
from firesteel.sql.statements.parts import Statement


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one statement, without its semicolon; `complete` says whether that has been written."""

    source: Source
    tokens: tuple[Token, ...]
    complete: bool

    @property
    def span(self) -> Span:
        """Where the statement stands in the whole text."""
        return self.source.span(self.tokens[0].start, self.tokens[-1].end)

    @property
    def text(self) -> str:
        """The statement as it is written."""
        return self.source.text[self.tokens[0].start : self.tokens[-1].end]

    def parse(self) -> Statement:
        """Return the statement; raises `SqlParseError`."""
        last = self.tokens[-1].end
        end = Token(TokenKind.END, "", "", last, last)
        return StatementParser(self.source, [*self.tokens, end]).statement()


def pieces(text: str) -> Iterator[Piece]:
    """Yield the statements of a text, not parsed yet, each as soon as its end is read; empty ones are left out.

    >>> [piece.text for piece in pieces("SELECT ';' ; -- that was one;\\nSELECT 2")]
    ["SELECT ';'", 'SELECT 2']
    """
    source = Source(text)
    found: list[Token] = []
    for token in tokens(text):
        if token.kind is TokenKind.END or (token.key == ";" and not _in_statement_set(found)):
            if found:
                yield Piece(source, tuple(found), complete=token.kind is not TokenKind.END)
            found = []
        else:
            found.append(token)


def _in_statement_set(found: Sequence[Token]) -> bool:
    keys = [token.key for token in found]
    if keys[:3] == ["BEGIN", "STATEMENT", "SET"]:
        begins = True
    else:
        begins = any(keys[at : at + 3] == ["STATEMENT", "SET", "BEGIN"] for at in range(min(12, len(keys))))
    ended = len(keys) > 3 and keys[-1] == "END" and keys[-2] == ";"
    return begins and not ended


def is_complete(text: str) -> bool:
    """Return whether every statement of a text has its end, so that a shell need not ask for more.

    >>> is_complete("SELECT 1;"), is_complete("SELECT 1"), is_complete("SELECT 'a;"), is_complete("  -- nothing")
    (True, False, False, True)
    """
    return all(piece.complete for piece in pieces(text)) and not text_is_open(text)


def text_is_open(text: str) -> bool:
    """Return whether a text ends within a string, a quoted name or a comment."""
    return any(token.kind is TokenKind.UNFINISHED for token in tokens(text))


def parse_script(text: str) -> Iterator[Statement]:
    """Yield the statements of a text.

    Each is parsed when you ask for it, so that an error comes after the statements before it.

    >>> [type(statement).__name__ for statement in parse_script("USE a; SELECT * FROM t;")]
    ['UseDatabase', 'Query']
    """
    return (piece.parse() for piece in pieces(text))


def parse_statement(text: str) -> Statement:
    """Return the one statement of a text, with or without a semicolon at its end.

    >>> parse_statement("DROP TABLE IF EXISTS a.t").name.parts
    ('a', 't')
    """
    found = list(pieces(text))
    if len(found) == 1:
        return found[0].parse()
    source = Source(text)
    at = found[1].tokens[0] if found else Token(TokenKind.END, "", "", len(text), len(text))
    parser = StatementParser(source, [at], who="the text")
    raise parser.error("one statement" if not found else "the end: one statement is allowed")
