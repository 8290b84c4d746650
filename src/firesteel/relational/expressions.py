"""Typed expressions over the columns of one input.

Contract: an expression is immutable and its type is known when it is made; whoever makes one has already inserted the
casts that its operands need. Functions are named as in `firesteel.relational.functions`, in upper case; operators are
functions, too ("+", "AND", "CAST"). Two expressions are equal if they compute the same in the same way, wherever
they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

from firesteel.common.logical_types import LogicalType
from firesteel.common.places import Place
from firesteel.functions.columns.python_functions import PythonAggregate, PythonFunction


@dataclass(frozen=True)
class Expression:
    """What has a value for each row; `type` is that of the value.

    `place` is where it is written; None for what no text has, such as a cast that the binder inserts.
    """

    type: LogicalType
    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the expressions that this one is made of."""
        return ()

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same expression of other operands."""
        assert not operands
        return self

    def at(self, place: Place | None) -> Self:
        """Return the expression with a place, if it has none."""
        return self if self.place is not None or place is None else replace(self, place=place)

    @property
    def whereabouts(self) -> Place | None:
        """Return its place, or that of the first of its parts that has one."""
        if self.place is not None:
            return self.place
        return next((place for operand in self.operands if (place := operand.whereabouts)), None)


@dataclass(frozen=True)
class InputRef(Expression):
    """The value of the input's column at place `index`."""

    index: int


@dataclass(frozen=True)
class Literal(Expression):
    """A constant, as the Python value that `firesteel.common.logical_types.columns` takes; None is NULL."""

    value: Any


@dataclass(frozen=True)
class Call(Expression):
    """A scalar function of the operands; `CAST` and `TRY_CAST` have one operand and the type that is asked for.

    `CASE` has conditions and values in turn, and the value of ELSE last.

    >>> from firesteel.common.logical_types import BigIntType
    >>> number = InputRef(BigIntType(), 0)
    >>> Call(BigIntType(), "+", (number, Literal(BigIntType(nullable=False), 1))).function
    '+'
    """

    function: str
    arguments: tuple[Expression, ...] = ()

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the arguments."""
        return self.arguments

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the call with other arguments."""
        return replace(self, arguments=operands)


@dataclass(frozen=True)
class UserCall(Expression):
    """A function of the user's of the operands."""

    function: PythonFunction
    arguments: tuple[Expression, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the arguments."""
        return self.arguments

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the call with other arguments."""
        return replace(self, arguments=operands)


@dataclass(frozen=True)
class AggregateCall:
    """An aggregate function over the rows of a group.

    `arguments` and `filter` are places of columns of the aggregate's input; `filter` is one of booleans, whose rows
    that are not TRUE do not count. `order` has places and whether they ascend, for functions whose result depends on
    it. `user` is the function if it is one of the user's.
    """

    function: str
    arguments: tuple[int, ...]
    type: LogicalType
    distinct: bool = False
    filter: int | None = None
    ignore_nulls: bool = False
    order: tuple[tuple[int, bool], ...] = ()
    user: PythonAggregate | None = None


@dataclass(frozen=True)
class SortKey:
    """A column to sort by; Flink sorts NULL as the smallest value unless the text says otherwise."""

    index: int
    ascending: bool = True
    nulls_first: bool = True


Distance = int | float | Decimal
"""How far a frame reaches: rows, or a distance of the values of the sort column (milliseconds for times)."""


@dataclass(frozen=True)
class Frame:
    """The rows of an OVER window: from `lower` before the current row to `upper` after it; None: unbounded.

    `rows` counts rows, otherwise the distance is one of the sort column, and 0 means all rows that are equal in it. A
    distance below 0 is one on the other side of the current row.
    """

    rows: bool
    lower: Distance | None
    upper: Distance | None = 0


@dataclass(frozen=True)
class OverCall:
    """An aggregate, rank or offset function over the window of each row."""

    function: str
    arguments: tuple[int, ...]
    type: LogicalType
    frame: Frame
    distinct: bool = False
    ignore_nulls: bool = False
    user: PythonAggregate | None = None


def references(expression: Expression) -> Iterator[int]:
    """Yield the places of the columns that an expression reads, each as often as it does."""
    if isinstance(expression, InputRef):
        yield expression.index
    for operand in expression.operands:
        yield from references(operand)


def rewritten(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return the expression with `change` applied to all of its parts, innermost first.

    >>> from firesteel.common.logical_types import BigIntType
    >>> twice = Call(BigIntType(), "+", (InputRef(BigIntType(), 0), InputRef(BigIntType(), 1)))
    >>> moved = rewritten(twice, lambda part: replace(part, index=7) if isinstance(part, InputRef) else part)
    >>> list(references(moved))
    [7, 7]
    """
    operands = expression.operands
    changed = tuple(rewritten(operand, change) for operand in operands)
    return change(expression.with_operands(changed) if changed != operands else expression)


def shifted(expression: Expression, by: int) -> Expression:
    """Return an expression with all columns so many places later.

    >>> from firesteel.common.logical_types import BigIntType
    >>> shifted(InputRef(BigIntType(), 1), 3).index
    4
    """
    return rewritten(
        expression, lambda part: replace(part, index=part.index + by) if isinstance(part, InputRef) else part
    )
