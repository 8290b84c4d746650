"""Errors of a statement that point at the place in its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from sqlglot import exp

from firesteel.common.errors import (
    ProgramError,
    SqlError,
    SqlUnsupportedError,
    SqlValidationError,
    UnsupportedError,
)
from firesteel.sql.source import Source, Span

_Kind = TypeVar("_Kind", bound=SqlError)
Place = exp.Expr | Span
"""A node of the syntax, or a part of the text."""


@dataclass(frozen=True)
class Text:
    """The text of a statement; `who` is what errors call the statement."""

    source: Source
    who: str = "query"

    def span(self, place: Place) -> Span:
        """Return where a node stands; one without a place stands where what contains it does."""
        if isinstance(place, Span):
            return place
        node: exp.Expr | None = place
        while node is not None and "start" not in node.meta:
            node = node.parent
        start, end = (node.meta["start"], node.meta["end"]) if node else (0, len(self.source.text))
        return self.source.span(start, end)

    def wrong(
        self, place: Place, requirement: str, *, got: str | None = None, hint: str | None = None
    ) -> SqlValidationError:
        """Make the error that a part of the statement means nothing."""
        return self._made(SqlValidationError, place, requirement, got, hint)

    def unsupported(self, place: Place, what: str, *, hint: str | None = None) -> SqlUnsupportedError:
        """Make the error that Flink has `what` and Firesteel does not."""
        return self._made(SqlUnsupportedError, place, f"uses {what}, which is not supported yet", None, hint)

    def located(self, place: Place, error: ProgramError) -> SqlError:
        """Make an error about a part of the statement of one that knows no place."""
        kind = SqlUnsupportedError if isinstance(error, UnsupportedError) else SqlValidationError
        requirement = f"has {error.who}, which {error.requirement}" if error.who else error.requirement
        return self._made(kind, place, requirement, error.got, error.hint)

    def _made(
        self, kind: type[_Kind], place: Place, requirement: str, got: str | None, hint: str | None
    ) -> _Kind:
        span = self.span(place)
        return kind(
            requirement,
            who=f"{self.who} (line {span.line}, column {span.column})",
            got=got,
            hint=hint,
            line=span.line,
            column=span.column,
            pointed=self.source.pointed(span),
        )


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Return the hint that a known name is meant; names that differ in case only are meant for sure.

    >>> suggestion("Prise", ["id", "price"])
    'did you mean price?'
    >>> suggestion("x", ["id", "price"])
    'known are: id, price'
    """
    names = list(dict.fromkeys(known))
    by_lower = {other.lower(): other for other in reversed(names)}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]}?"
    if not names:
        return None
    rest = f", ... ({len(names) - 12} more)" if len(names) > 12 else ""
    return f"known are: {', '.join(names[:12])}{rest}"
