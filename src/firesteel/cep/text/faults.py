"""Errors that point at a place in the text of a pattern."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.errors import PatternTextError
from firesteel.common.places import Source, Span

__all__ = ["Faults"]


@dataclass(frozen=True)
class Faults:
    """A text, and what errors call it."""

    source: Source
    title: str

    def at(
        self, span: Span, requirement: str, *, got: str | None = None, hint: str | None = None
    ) -> PatternTextError:
        """Return the error that a part of the text is wrong.

        >>> text = "select * from every e1 = Evnt"
        >>> print(Faults(Source(text), "the text").at(Source(text).span(25, 29), "requires a type", got="'Evnt'"))
        the text, line 1, column 26 requires a type; got 'Evnt'
            select * from every e1 = Evnt
                                     ^^^^
        """
        return PatternTextError(
            requirement,
            who=f"{self.title}, line {span.line}, column {span.column}",
            got=got,
            hint=hint,
            line=span.line,
            column=span.column,
            pointed=self.source.pointed(span),
        )

    def nested(self, span: Span) -> PatternTextError:
        """Return the error that an expression is nested more deeply than Python can compile."""
        return self.at(span, "requires an expression that is nested less deeply")
