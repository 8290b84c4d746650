"""What an expression of SELECT can have besides scalar functions: aggregates, windows, subqueries.

These parts exist while a SELECT is bound. They are over the rows of FROM (those within an OVER over the groups, if
there are groups), and lowering replaces each by a column of the node that computes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from firesteel.common.places import Place
from firesteel.functions.columns.python_functions import PythonAggregate
from firesteel.relational.expressions import Expression, Frame
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.windows import CountHop, CountTumble, Hop, Session, Tumble


@dataclass(frozen=True)
class AggregateValue(Expression):
    """An aggregate function over the rows of the group."""

    function: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    filter: Expression | None = None
    ignore_nulls: bool = False
    user: PythonAggregate | None = None

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the arguments, and the condition of FILTER."""
        return self.arguments if self.filter is None else (*self.arguments, self.filter)

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same aggregate over other operands."""
        if self.filter is None:
            return replace(self, arguments=operands)
        return replace(self, arguments=operands[:-1], filter=operands[-1])


@dataclass(frozen=True)
class OuterRef(Expression):
    """The column at place `index` of the query around a subquery; it becomes one of a join.

    `depth` says which query that is: 1 is the one that the subquery stands in, 2 the one around that.
    """

    index: int
    depth: int = 1


@dataclass(frozen=True, eq=False)
class Question:
    """What a subquery is asked.

    VALUE: the value of its only row. EXISTS: whether it has a row. IN: whether it has a row that equals the values
    before IN. SOME: whether one of its values compares with the value before, as `comparison` says. `reads` are the
    columns of queries around that it speaks of, `place` is where it is written.
    """

    kind: Literal["VALUE", "EXISTS", "IN", "SOME"]
    plan: LogicalNode
    reads: tuple[OuterRef, ...]
    place: Place
    comparison: str = "="


@dataclass(frozen=True)
class QueryValue(Expression):
    """What a subquery says of a row.

    `given` are the values before IN or a comparison, `outer` is what each of `question.reads` is in the row.
    """

    question: Question
    given: tuple[Expression, ...]
    outer: tuple[Expression, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the values before IN or a comparison, and the columns that the subquery speaks of."""
        return (*self.given, *self.outer)

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same of other values."""
        count = len(self.given)
        return replace(self, given=operands[:count], outer=operands[count:])


@dataclass(frozen=True)
class GroupingValue(Expression):
    """GROUPING or GROUPING_ID: which of the expressions the row's grouping set leaves out.

    GROUP_ID, without expressions, is the number of sets before this one that are equal to it.
    """

    function: str
    arguments: tuple[Expression, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the expressions."""
        return self.arguments

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same function of other expressions."""
        return replace(self, arguments=operands)


GroupWindow = Tumble | Hop | Session | CountTumble | CountHop


@dataclass(frozen=True)
class WindowProperty(Expression):
    """A property of the window in GROUP BY: START, END, ROWTIME or PROCTIME.

    The time of `window` is a place in the row of FROM.
    """

    window: GroupWindow
    property: str


@dataclass(frozen=True)
class OverOrder:
    """A key of the order within a window."""

    value: Expression
    ascending: bool
    nulls_first: bool


@dataclass(frozen=True)
class OverValue(Expression):
    """A function over the window of each row."""

    function: str
    arguments: tuple[Expression, ...]
    partition: tuple[Expression, ...]
    order: tuple[OverOrder, ...]
    frame: Frame
    distinct: bool = False
    ignore_nulls: bool = False
    user: PythonAggregate | None = None

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Return the arguments, the keys of the partition, and the values of the order."""
        return (*self.arguments, *self.partition, *(key.value for key in self.order))

    def with_operands(self, operands: tuple[Expression, ...]) -> Expression:
        """Return the same function over another window."""
        first, second = len(self.arguments), len(self.arguments) + len(self.partition)
        order = tuple(
            replace(key, value=value) for key, value in zip(self.order, operands[second:], strict=True)
        )
        return replace(self, arguments=operands[:first], partition=operands[first:second], order=order)


_Value = TypeVar("_Value", bound=Expression)


def parts_of(expression: Expression, kind: type[_Value]) -> Iterator[_Value]:
    """Yield the parts of an expression that are of a kind, outer ones first."""
    if isinstance(expression, kind):
        yield expression
    for operand in expression.operands:
        yield from parts_of(operand, kind)
