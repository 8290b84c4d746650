"""Expressions over the rows of a match, among the definitions and the measures of MATCH_RECOGNIZE.

A column of the current row is an `InputRef`, as everywhere; in DEFINE that is the row that is asked about, in the
measures of ALL ROWS PER MATCH the row that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from firesteel.functions.columns.row_patterns import RowsOf
from firesteel.relational.expressions import Expression


@dataclass(frozen=True)
class RowValue(Expression):
    """A column, by its place in the input, of one of some rows.

    That row is `offset` rows before the last one, or after the `first` one. It is NULL if there is no such row.
    """

    column: Expression
    rows: RowsOf
    offset: int = 0
    first: bool = False

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the column."""
        return (self.column,)

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same of another column."""
        return replace(self, column=operands[0])


@dataclass(frozen=True)
class RowsTotal(Expression):
    """An aggregate function over some rows; the arguments are computed of each of them."""

    function: str
    arguments: tuple[Expression, ...]
    rows: RowsOf

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the arguments."""
        return self.arguments

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same aggregate of other arguments."""
        return replace(self, arguments=operands)


@dataclass(frozen=True)
class MatchTime(Expression):
    """MATCH_ROWTIME() with `event_time`, otherwise MATCH_PROCTIME()."""

    event_time: bool


@dataclass(frozen=True)
class MatchTimedOut(Expression):
    """MATCH_TIMED_OUT(): TRUE in the rows of partial matches whose time has run out."""


@dataclass(frozen=True)
class Definition:
    """The condition of a pattern variable; `text` is what the query says."""

    variable: str
    condition: Expression
    text: str = field(default="", compare=False)
