"""Texts of SQL, places in them, and errors that point there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from firesteel.common.errors import (
    ConfigurationError,
    PointedError,
    ProgramError,
    SqlConfigurationError,
    SqlError,
    SqlUnsupportedError,
    SqlValidationError,
    UnsupportedError,
)

_Kind = TypeVar("_Kind", bound=PointedError)
_WIDEST: Final = 300


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text.

    `start` and `end` are offsets into the whole text, in characters; `end` is exclusive. `line` and `column` say
    where it begins, counted from 1 as Flink counts them.
    """

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A text that can say in which line and column an offset is.

    >>> Source("SELECT a\\nFROM t").span(14, 15)
    Span(start=14, end=15, line=2, column=6)
    """

    text: str

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(index + 1 for index, character in enumerate(self.text) if character == "\n")
        return starts

    def span(self, start: int, end: int) -> Span:
        """Return the part from `start` to `end` (exclusive)."""
        line = bisect_right(self._line_starts, start)
        return Span(start, end, line, start - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return the line with that number, counted from 1, without its end."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : None if end < 0 else end].rstrip("\r")

    def pointed(self, span: Span) -> str:
        """Return the line where a part begins, and below it a caret under each of its characters.

        Of a very long line, what is around the part is shown.

        >>> print(Source("SELECT a FRM t").pointed(Span(9, 12, 1, 10)))
        SELECT a FRM t
                 ^^^
        """
        line, start = self.line(span.line), span.column - 1
        width = min(span.end - span.start, len(line) - start)
        if len(line) > _WIDEST:
            first = max(0, start - _WIDEST // 3)
            shown = line[first : first + _WIDEST]
            before, after = "..." * (first > 0), "..." * (first + _WIDEST < len(line))
            line, start = f"{before}{shown}{after}", start - first + len(before)
            width = min(width, len(line) - start)
        indent = "".join("\t" if character == "\t" else " " for character in line[:start])
        return f"{line}\n{indent}{'^' * max(1, width)}"


@dataclass(frozen=True)
class Pointer:
    """A place without the rest of its text, so that it can be sent to another process.

    `title` is what errors call the statement; `pointed` is the line with a caret below the place.
    """

    title: str
    line: int
    column: int
    pointed: str

    @property
    def shown(self) -> str:
        """Return the statement with line and column."""
        return f"{self.title} (line {self.line}, column {self.column})"

    def error(
        self,
        kind: type[_Kind],
        requirement: str,
        *,
        who: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> _Kind:
        """Make an error that points here; `who` is the statement itself if nothing else is given."""
        return kind(
            requirement,
            who=who or self.shown,
            got=got,
            hint=hint,
            line=self.line,
            column=self.column,
            pointed=self.pointed,
        )


@dataclass(frozen=True)
class Place:
    """A part of the text of a statement; `title` is what errors call the statement.

    >>> place = Place(Source("SELECT a FRM t"), Span(9, 12, 1, 10), "query")
    >>> print(place.located(UnsupportedError("is not supported yet", who="FRM")))
    query (line 1, column 10) cannot run: FRM is not supported yet
        SELECT a FRM t
                 ^^^
    """

    source: Source
    span: Span
    title: str

    @property
    def pointer(self) -> Pointer:
        """Return the place without the rest of its text."""
        return Pointer(self.title, self.span.line, self.span.column, self.source.pointed(self.span))

    def located(self, error: ProgramError) -> SqlError:
        """Return an error of the same kind that points here."""
        requirement = f"{error.who} {error.requirement}" if error.who else error.requirement
        return self.pointer.error(
            kind_of(error), f"cannot run: {requirement}", got=error.got, hint=error.hint
        )


@contextmanager
def errors_at(place: Place | None) -> Iterator[None]:
    """Make the errors of a program that point nowhere point at a place (None: leave them as they are)."""
    try:
        yield
    except ProgramError as error:
        if place is None or isinstance(error, SqlError):
            raise
        raise place.located(error) from error


def kind_of(error: ProgramError) -> type[SqlError]:
    """Return the kind of error that says the same about a part of a statement."""
    if isinstance(error, UnsupportedError):
        return SqlUnsupportedError
    return SqlConfigurationError if isinstance(error, ConfigurationError) else SqlValidationError
