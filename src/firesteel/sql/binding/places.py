"""Errors of a statement that point at the place in its text."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from firesteel.common.errors import ProgramError, SqlError, SqlUnsupportedError, SqlValidationError
from firesteel.common.places import Place, Source, Span, kind_of

Part = exp.Expr | Span
"""A node of the syntax, or a part of the text."""


@dataclass(frozen=True)
class Text:
    """The text of a statement; `who` is what errors call the statement."""

    source: Source
    who: str = "query"

    def place(self, part: Part) -> Place:
        """Return where a node stands; one without a place stands where what contains it does."""
        if isinstance(part, Span):
            return Place(self.source, part, self.who)
        node: exp.Expr | None = part
        while node is not None and "start" not in node.meta:
            node = node.parent
        start, end = (node.meta["start"], node.meta["end"]) if node else (0, len(self.source.text))
        return Place(self.source, self.source.span(start, end), self.who)

    def wrong(
        self, part: Part, requirement: str, *, got: str | None = None, hint: str | None = None
    ) -> SqlValidationError:
        """Make the error that a part of the statement means nothing."""
        return self.place(part).pointer.error(SqlValidationError, requirement, got=got, hint=hint)

    def unsupported(
        self, part: Part, what: str, *, hint: str | None = None, as_in_flink: bool = False
    ) -> SqlUnsupportedError:
        """Make the error that Flink has `what` and Firesteel does not; or neither of them has it."""
        requirement = f"uses {what}, which is not supported{', as in Flink' if as_in_flink else ' yet'}"
        return self.place(part).pointer.error(SqlUnsupportedError, requirement, hint=hint)

    def located(self, part: Part, error: ProgramError) -> SqlError:
        """Make an error about a part of the statement of one that knows no place."""
        requirement = f"has {error.who}, which {error.requirement}" if error.who else error.requirement
        pointer = self.place(part).pointer
        return pointer.error(kind_of(error), requirement, got=error.got, hint=error.hint)
