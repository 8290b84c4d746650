"""Rows as a drawn table, as Flink prints them.

::

    +----+-------------+-----------+
    | op |      number |      word |
    +----+-------------+-----------+
    | +I |           1 |         a |
    +----+-------------+-----------+

Contract: a cell is as wide as a terminal shows it: characters of East Asia that are wide count two. A cell that is
wider than its column ends in "...".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from unicodedata import east_asian_width

from firesteel.common.logical_types import (
    DecimalType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    TimestampType,
    TimeType,
)

MOST: Final = 30
"""The greatest width of a column whose type does not say one, unless an option does."""

_CUT: Final = "..."
_NULL: Final = "<NULL>"
_BY_ROOT: Final = {
    LogicalTypeRoot.TINYINT: 4,
    LogicalTypeRoot.SMALLINT: 6,
    LogicalTypeRoot.INTEGER: 11,
    LogicalTypeRoot.BIGINT: 20,
    LogicalTypeRoot.BOOLEAN: 5,
    LogicalTypeRoot.DATE: 10,
}
"""The longest text of a type: its digits, and a sign."""


class Tableau:
    """A table that is drawn line by line, with columns of fixed widths.

    >>> table = Tableau(["n", "word"], [3, 6])
    >>> print(table.head(), table.line(["1", "letters"]), table.border(), sep="\\n")
    +-----+--------+
    |   n |   word |
    +-----+--------+
    |   1 | let... |
    +-----+--------+
    """

    def __init__(self, names: Sequence[str], widths: Sequence[int]) -> None:
        self.names = tuple(names)
        self.widths = tuple(widths)

    def border(self) -> str:
        """Return a line between parts of the table."""
        return "+" + "".join(f"{'-' * (width + 2)}+" for width in self.widths)

    def head(self) -> str:
        """Return the lines above the rows."""
        return "\n".join((self.border(), self.line(self.names), self.border()))

    def line(self, cells: Sequence[str]) -> str:
        """Return the line of a row."""
        fitted = (_fitted(cell, width) for cell, width in zip(cells, self.widths, strict=True))
        return "|" + "".join(f" {cell} |" for cell in fitted)


def widths_by_type(names: Sequence[str], types: Sequence[LogicalType], most: int = MOST) -> list[int]:
    """Return the widths of columns before any row is known.

    >>> from firesteel.common.logical_types import STRING, BigIntType
    >>> widths_by_type(["n", "word"], [BigIntType(), STRING])
    [20, 30]
    """
    return [
        max(_utf16_length(name), len(_NULL), _width(data_type, most))
        for name, data_type in zip(names, types, strict=True)
    ]


def widths_by_content(
    names: Sequence[str], rows: Sequence[Sequence[str]], most: int | None = None
) -> list[int]:
    """Return the widths that the rows need, at most `most`.

    >>> widths_by_content(["n", "word"], [["1", "letters"], ["2000", "a"]])
    [4, 7]
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    wide = [
        max([_utf16_length(name), *map(display_width, cells)])
        for name, cells in zip(names, columns, strict=True)
    ]
    return wide if most is None else [min(width, most) for width in wide]


def display_width(text: str) -> int:
    """Return how many places of a terminal Flink takes a text to need.

    >>> display_width("abc"), display_width("日本")
    (3, 4)
    """
    return _utf16_length(text) + (0 if text.isascii() else sum(map(_is_wide, text)))


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in ("F", "W")


def _fitted(text: str, width: int) -> str:
    length = display_width(text)
    if length <= width:
        return " " * (width - length) + text
    room = width - len(_CUT)
    kept = _longest_prefix(text, room, display_width)
    return " " * (room - display_width(kept)) + kept + _CUT


def _longest_prefix(text: str, room: int, measure: Callable[[str], int]) -> str:
    end = 0
    while end < len(text) and measure(text[end]) <= room:
        room -= measure(text[end])
        end += 1
    return text[:end]


def _width(data_type: LogicalType, most: int) -> int:
    match data_type:
        case DecimalType():
            return data_type.precision + 2
        case TimeType():
            return 8 if data_type.precision == 0 else data_type.precision + 9
        case TimestampType() | LocalZonedTimestampType():
            groups = -(-data_type.precision // 3)
            return 19 + (1 + 3 * groups if groups else 0)
        case _:
            return _BY_ROOT.get(data_type.root, most)
