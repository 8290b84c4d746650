"""What MATCH_RECOGNIZE looks for, and what it gives for a match, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.sorting import SortColumn

After = Literal["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]
"""Where matching goes on after a match."""


@dataclass(frozen=True)
class PatternStep:
    """A variable of a pattern, which takes `least` to `most` rows (None: any number), directly after each other.

    A `greedy` one takes as many as it can. `excluded` rows are not shown by ALL ROWS PER MATCH.

    >>> str(PatternStep("A", 1, None, greedy=False)), str(PatternStep("B", 2, 2))
    ('A+?', 'B{2}')
    """

    variable: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True
    excluded: bool = False

    @property
    def insists(self) -> bool:
        """Whether the step takes further rows as long as it can."""
        return self.greedy and self.least != self.most and (self.least, self.most) != (0, 1)

    def __str__(self) -> str:
        known = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}
        bounds = str(self.least) if self.least == self.most else f"{self.least},{self.most or ''}"
        quantifier = known.get((self.least, self.most), f"{{{bounds}}}")
        text = f"{self.variable}{quantifier}{'' if self.greedy else '?'}"
        return f"{{- {text} -}}" if self.excluded else text


@dataclass(frozen=True)
class RowPattern:
    """A pattern of rows that follow each other: its steps, and what happens after a match.

    `skips_to` is the variable of TO FIRST and TO LAST. The last row of a match comes less than `within` (milliseconds)
    after the first one. With `all_rows` each row of a match is a row of the result. With `timed_out`, partial matches
    whose time has run out are matches, too.
    """

    steps: tuple[PatternStep, ...]
    after: After = "TO NEXT ROW"
    skips_to: str | None = None
    within: int | None = None
    all_rows: bool = False
    timed_out: bool = False

    def __str__(self) -> str:
        return " ".join(map(str, self.steps))


@dataclass(frozen=True)
class RowsOf:
    """Some rows of a match: those of `variables` (none: all rows).

    While a match grows, and in the rows of ALL ROWS PER MATCH, they are those up to the current one, unless `final`.
    """

    variables: tuple[str, ...] = ()
    final: bool = False


@dataclass(frozen=True)
class ValueAt:
    """Column `column` of one of these rows: `offset` before the last one, or after the `first` one.

    It is NULL if there is no such row.
    """

    rows: RowsOf
    column: int
    offset: int = 0
    first: bool = False


@dataclass(frozen=True)
class TotalOf:
    """An aggregate over these rows."""

    rows: RowsOf
    aggregation: Aggregation


@dataclass(frozen=True)
class KeyOf:
    """A column of the rows' partition; `key` is its place among the keys."""

    key: int


@dataclass(frozen=True)
class InputOf:
    """Column `column` of the current row, in ALL ROWS PER MATCH."""

    column: int


@dataclass(frozen=True)
class TimeOf:
    """The time of the match, or the processing time."""

    event_time: bool


@dataclass(frozen=True)
class WhetherTimedOut:
    """Whether it is a partial match whose time has run out."""


MatchValue = ValueAt | TotalOf | KeyOf | InputOf | TimeOf | WhetherTimedOut


@dataclass(frozen=True)
class RowFormula:
    """A part of a condition that looks at several rows.

    `code` is an expression of Python, in which ``C[n][p]`` is column n of the current row and ``V[n](m, p)`` is value n
    of those in `values`; or a program over the `currents`, columns of the current row, and then the values, where
    Python does not have what Flink means.
    """

    code: str | Program
    values: tuple[ValueAt | TotalOf, ...] = ()
    currents: tuple[int, ...] = ()


@dataclass(frozen=True)
class RowCondition:
    """What DEFINE says of a variable: all parts must be TRUE, and are asked in this order.

    `column` is that of the part that looks at the current row alone, `text` what the query says.
    """

    variable: str
    column: int | None
    formulas: tuple[RowFormula, ...]
    text: str = ""


@dataclass(frozen=True)
class MatchRecognize:
    """Looks for a pattern in the rows of each key, in the order of `time` and of `order`.

    Columns of rows are those of `events`, which is computed of the input. The first `kept` of them stay with a match,
    whose values make the rows that `results` is computed of. Without `event_time` the order is that of arrival.
    """

    input: RowType
    output: RowType
    keys: tuple[int, ...]
    time: int
    event_time: bool
    order: tuple[SortColumn, ...]
    pattern: RowPattern
    events: Program
    kept: int
    conditions: tuple[RowCondition, ...]
    values: tuple[MatchValue, ...]
    types: tuple[LogicalType, ...]
    """The types of the values."""
    results: Program
