"""A text of SQL and places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


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
        return self.text[start:].split("\n", 1)[0].rstrip("\r")

    def pointed(self, span: Span) -> str:
        """Return the line where a part begins, and below it a caret under each of its characters.

        >>> print(Source("SELECT a FRM t").pointed(Span(9, 12, 1, 10)))
        SELECT a FRM t
                 ^^^
        """
        line = self.line(span.line)
        before = "".join("\t" if character == "\t" else " " for character in line[: span.column - 1])
        width = min(span.end - span.start, len(line) - span.column + 1)
        return f"{line}\n{before}{'^' * max(1, width)}"
