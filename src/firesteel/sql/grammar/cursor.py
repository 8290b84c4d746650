"""A place among the tokens of a statement, and errors that point at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from sqlglot import exp

from firesteel.common.errors import SqlParseError
from firesteel.common.places import Place, Source, Span
from firesteel.common.suggestions import did_you_mean
from firesteel.sql.lexer import Token, TokenKind, span_of
from firesteel.sql.reserved import RESERVED

_CLAUSES: Final = (
    *(
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
        "WINDOW",
        "QUALIFY",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "JOIN",
        "UNION",
        "WITH",
    ),
    *("COMMENT", "PARTITIONED", "DISTRIBUTED", "LIKE", "VALUES", "SELECT", "INNER", "LEFT", "CROSS"),
)
Node = TypeVar("Node", bound=exp.Expr)
Item = TypeVar("Item")


class Cursor:
    """Reads tokens from left to right.

    Contract: `sees` looks and moves nothing; `takes` moves past what it saw and says whether it did; `needs` moves
    or raises. Words are given in upper case. The last token has the kind END and is never passed. `who` names the
    statement in errors.

    `deepest` is how deep expressions, queries and types may be nested within each other: deeper ones are refused
    with an error, because Python's stack ends somewhere. `longest` limits operators that follow each other, for the
    same reason; there is no limit for AND and OR.
    """

    deepest = 60
    longest = 200

    def __init__(self, source: Source, tokens: Sequence[Token], who: str = "the statement") -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0
        self.depth = 0
        self.who = who

    def at(self, ahead: int = 0) -> Token:
        """Return the token here, or some tokens ahead."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Return the token here and move past it."""
        token = self.at()
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def sees(self, *keys: str) -> bool:
        """Return whether these words and symbols follow."""
        return all(self.at(ahead).key == key for ahead, key in enumerate(keys))

    def sees_one_of(self, keys: Sequence[str] | frozenset[str]) -> bool:
        """Return whether one of these words or symbols follows."""
        return bool(self.at().key) and self.at().key in keys

    def takes(self, *keys: str) -> bool:
        """Move past these words and symbols if they follow."""
        if not self.sees(*keys):
            return False
        self.index += len(keys)
        return True

    def takes_one_of(self, *keys: str) -> str:
        """Move past one of these words or symbols and return it; empty if none follows."""
        return self.advance().key if self.sees_one_of(keys) else ""

    def needs(self, *keys: str) -> None:
        """Move past these words and symbols, or raise an error at the first that is missing."""
        for key in keys:
            if not self.takes(key):
                raise self.error(f"'{key}'", keys=[key])

    def needs_one_of(self, *keys: str) -> str:
        """Move past one of these words or symbols and return it."""
        if not self.sees_one_of(keys):
            raise self.error(_any_of(keys), keys=keys)
        return self.advance().key

    def needs_end(self) -> None:
        """Raise an error if anything follows.

        A word is suggested if the one here, or the one before it that passed as an alias, looks like a clause. A
        reserved word that is none may have been meant as an alias.
        """
        if self.at().kind is TokenKind.END:
            return
        words = [token.key for token in (self.at(), self.at(-1)) if token.kind is TokenKind.WORD]
        hints = (did_you_mean(word, _CLAUSES, similar=0.7) for word in words if word not in _CLAUSES)
        hint = next(filter(None, hints), None)
        here = self.at()
        if hint is None and _is_reserved(here) and here.key not in _CLAUSES:
            hint = reserved_hint(here)
        raise self.error("the end of the statement", hint=hint)

    def error(
        self, expected: str, *, keys: Sequence[str] = (), token: Token | None = None, hint: str | None = None
    ) -> SqlParseError:
        """Make the error that something else was expected here.

        `keys` are words to suggest if what is there is similar.
        """
        token = token or self.at()
        if hint is None and token.kind is TokenKind.WORD and keys:
            hint = None if token.key in keys else did_you_mean(token.key, keys)
        if hint is None and token.kind is TokenKind.STRAY and token.text == '"':
            hint = "quote names with `back quotes` and strings with 'single quotes'"
        return self.refused(f"requires {expected} here", self._span(token), got=_described(token), hint=hint)

    def refused(
        self, requirement: str, span: Span, *, got: str | None = None, hint: str | None = None
    ) -> SqlParseError:
        """Make an error that points at a part of the text."""
        pointer = Place(self.source, span, self.who).pointer
        return pointer.error(SqlParseError, requirement, got=got, hint=hint)

    def unsupported(self, what: str, *, hint: str | None = None) -> SqlParseError:
        """Make the error that Flink has this and Firesteel does not parse it."""
        return self.refused(
            f"uses {what}, which Firesteel does not support", self._span(self.at()), hint=hint
        )

    def _span(self, token: Token) -> Span:
        return span_of(self.source, token)

    def span_from(self, start: int) -> Span:
        """Return the part from the token with that index to the last token passed."""
        last = self.tokens[max(start, self.index - 1)]
        return self.source.span(self.tokens[start].start, last.end)

    def mark(self, node: Node, start: int) -> Node:
        """Note in a node that it stands from the token with that index to the last token passed."""
        node.meta["start"] = self.tokens[start].start
        node.meta["end"] = self.tokens[max(start, self.index - 1)].end
        return node

    def sees_name(self, ahead: int = 0) -> bool:
        """Return whether a name follows: a quoted one, or a word that is not reserved."""
        token = self.at(ahead)
        return token.kind is TokenKind.QUOTED_NAME or (
            token.kind is TokenKind.WORD and token.key not in RESERVED
        )

    def identifier(self, what: str = "a name") -> exp.Identifier:
        """Return the name that follows."""
        token = self.at()
        if not self.sees_name():
            raise self.error(what, hint=reserved_hint(token) if _is_reserved(token) else None)
        start = self.index
        self.advance()
        quoted = token.kind is TokenKind.QUOTED_NAME
        return self.mark(exp.Identifier(this=token.name(), quoted=quoted), start)

    def string(self, what: str = "a string") -> str:
        """Return the characters of the string that follows."""
        if self.at().kind is not TokenKind.STRING:
            raise self.error(what)
        return self.advance().string()

    def integer(self, what: str = "a whole number") -> int:
        """Return the whole number that follows."""
        token = self.at()
        if token.kind is not TokenKind.NUMBER or not token.text.isascii() or not token.text.isdigit():
            raise self.error(what)
        self.advance()
        return int(token.text)

    def listed(self, item: Callable[[], Item]) -> list[Item]:
        """Return one or more items, separated by commas."""
        items = [item()]
        while self.takes(","):
            items.append(item())
        return items

    def in_parentheses(self, item: Callable[[], Item]) -> Item:
        """Return an item that stands in parentheses."""
        self.needs("(")
        found = item()
        self.needs(")")
        return found


def reserved_hint(token: Token) -> str:
    """Return how a reserved word becomes a name."""
    return f"{token.text} is a reserved word; quote it as `{token.text}` to use it as a name"


def _is_reserved(token: Token) -> bool:
    return token.kind is TokenKind.WORD and token.key in RESERVED


def _any_of(keys: Sequence[str]) -> str:
    quoted = [f"'{key}'" for key in keys]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _described(token: Token) -> str:
    match token.kind:
        case TokenKind.END:
            return "the end of the text"
        case TokenKind.UNFINISHED:
            what = {"'": "a string", "`": "a quoted name"}.get(token.text[0], "a comment")
            return f"{what} that does not end"
        case TokenKind.STRAY:
            return f"the character {token.text!r}"
        case _ if _is_reserved(token):
            return f"the reserved word {token.text}"
        case _:
            return token.text
