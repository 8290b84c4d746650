"""The nodes of logical plans.

Contract: a node is immutable and checks itself when it is made (AssertionError: the binder or a rule is wrong, never
the user). `row` is the type of its rows; columns are referred to by their places. `with_inputs` gives the same node
over other inputs, whose rows have the same number and types of columns. `place` is where the text of the statement says
what the node does (None: nowhere); nodes are equal wherever they are written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

from firesteel.common.logical_types import BooleanType, Field, RowType
from firesteel.common.places import Place
from firesteel.functions.columns.sinks import Conflict
from firesteel.relational.expressions import (
    AggregateCall,
    Expression,
    Literal,
    OverCall,
    SortKey,
    references,
)
from firesteel.relational.logical.windows import Window
from firesteel.relational.tables import ResolvedTable


@dataclass(frozen=True)
class LogicalNode(ABC):
    """A relation."""

    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    @abstractmethod
    def row(self) -> RowType:
        """Return the type of the rows."""

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return the relations that this one is computed of."""
        return ()

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> LogicalNode:
        """Return the same node over other inputs."""
        assert not inputs
        return self

    def at(self, place: Place | None) -> Self:
        """Return the node with a place, if it has none."""
        return self if self.place is not None or place is None else replace(self, place=place)


@dataclass(frozen=True)
class UnaryNode(LogicalNode):
    """A relation of one input."""

    input: LogicalNode

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return the input."""
        return (self.input,)

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> Self:
        """Return the same node over another input."""
        (only,) = inputs
        return replace(self, input=only)


@dataclass(frozen=True)
class TableScan(LogicalNode):
    """The rows of a table as its connector delivers them: physical and metadata columns (`ResolvedTable.read`)."""

    table: ResolvedTable

    @property
    def row(self) -> RowType:
        """Return the type of what the connector delivers."""
        return RowType(tuple(Field(column.name, column.type) for column in self.table.read), nullable=False)


@dataclass(frozen=True)
class Values(LogicalNode):
    """Given rows."""

    rows: tuple[tuple[Literal, ...], ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the type of the rows."""
        return self.type


@dataclass(frozen=True)
class Project(UnaryNode):
    """Computes columns of those of the input."""

    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.names) == len(self.expressions)
        _check_references(self.input, self.expressions)

    @property
    def row(self) -> RowType:
        """Return the names with the types of the expressions."""
        types = (expression.type for expression in self.expressions)
        return RowType(tuple(map(Field, self.names, types)), nullable=False)


@dataclass(frozen=True)
class Filter(UnaryNode):
    """Keeps the rows for which the condition is TRUE."""

    condition: Expression

    def __post_init__(self) -> None:
        assert isinstance(self.condition.type, BooleanType)
        _check_references(self.input, (self.condition,))

    @property
    def row(self) -> RowType:
        """Return the type of the input's rows."""
        return self.input.row


@dataclass(frozen=True)
class Watermark(UnaryNode):
    """Makes a column the time attribute, with watermarks that an expression computes of each row."""

    column: int
    expression: Expression
    type: RowType
    """The input's type, with the column's marked as ROWTIME."""

    @property
    def row(self) -> RowType:
        """Return the input's type with the time attribute marked."""
        return self.type


@dataclass(frozen=True)
class Aggregate(UnaryNode):
    """One row for each group: the key columns, then the results of the calls.

    Without keys there is one group, even if the input is empty. `sets` are those of GROUPING SETS, as places in `keys`;
    a key that a set leaves out is NULL, and equal sets have groups each. With `sets`, calls of GROUPING, GROUPING_ID
    and GROUP_ID may be among the calls, whose arguments are then columns of the input that are keys. `time_to_live`
    (milliseconds, 0: for ever) is that of the hint STATE_TTL; None is what the session says.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    type: RowType
    sets: tuple[tuple[int, ...], ...] | None = None
    time_to_live: int | None = None

    def __post_init__(self) -> None:
        assert len(self.type.fields) == len(self.keys) + len(self.calls)

    @property
    def row(self) -> RowType:
        """Return the type of keys and results."""
        return self.type


@dataclass(frozen=True)
class WindowTable(UnaryNode):
    """A window table function: each row once for each of its windows.

    The columns are those of the input, then window_start, window_end (TIMESTAMP(3) NOT NULL) and window_time, the time
    attribute of the result.
    """

    window: Window
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the input's columns and those of the window."""
        return self.type


@dataclass(frozen=True)
class GroupWindowAggregate(UnaryNode):
    """GROUP BY with a window in the list (``TUMBLE(ts, ...)``): keys, results, then the `properties` of the window.

    A property is START, END, ROWTIME or PROCTIME.
    """

    window: Window
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    properties: tuple[str, ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the type of keys, results and properties."""
        return self.type


@dataclass(frozen=True)
class Over(UnaryNode):
    """Appends a column for each call, over one partitioning and order."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    calls: tuple[OverCall, ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the input's columns and the results."""
        return self.type


@dataclass(frozen=True)
class UnionAll(LogicalNode):
    """The rows of all inputs; their columns have the same types, and the names of the first input's."""

    parts: tuple[LogicalNode, ...]
    type: RowType

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return the parts."""
        return self.parts

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> UnionAll:
        """Return the union of other parts."""
        return replace(self, parts=inputs)

    @property
    def row(self) -> RowType:
        """Return the common type."""
        return self.type


@dataclass(frozen=True)
class Replicate(UnaryNode):
    """Each row as often as its first column says, without that column."""

    @property
    def row(self) -> RowType:
        """Return the other columns."""
        return RowType(self.input.row.fields[1:], nullable=False)


@dataclass(frozen=True)
class Sort(UnaryNode):
    """Sorts all rows, and keeps `fetch` of them after `offset` (None: all)."""

    order: tuple[SortKey, ...]
    offset: int = 0
    fetch: int | None = None

    @property
    def row(self) -> RowType:
        """Return the type of the input's rows."""
        return self.input.row


@dataclass(frozen=True)
class TableSink(UnaryNode):
    """Writes rows to a table; the input has the columns of `ResolvedTable.written`, cast to their types.

    `conflict` is what ON CONFLICT says about rows that have one primary key. With `overwrite` the rows take the place
    of those that are there.
    """

    table: ResolvedTable
    overwrite: bool = False
    conflict: Conflict | None = None

    @property
    def row(self) -> RowType:
        """Return the type of what is written."""
        return self.input.row


def transformed(node: LogicalNode, change: Callable[[LogicalNode], LogicalNode]) -> LogicalNode:
    """Return the plan with `change` applied to all of its nodes, inputs first; what it gives has the node's place."""
    inputs = node.inputs
    changed = tuple(transformed(given, change) for given in inputs)
    same = all(new is old for new, old in zip(changed, inputs, strict=True))
    return change(node if same else node.with_inputs(changed)).at(node.place)


def _check_references(given: LogicalNode, expressions: tuple[Expression, ...]) -> None:
    width = len(given.row.fields)
    assert all(0 <= index < width for expression in expressions for index in references(expression))
