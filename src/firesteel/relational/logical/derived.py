"""Logical nodes that no statement says: what rules make of others, and what a program does with a query's rows."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.connectors import TableSink
from firesteel.functions.columns.python_functions import PythonCall
from firesteel.functions.columns.ranks import RankFunction
from firesteel.relational.expressions import SortKey
from firesteel.relational.logical.nodes import GroupWindowAggregate, UnaryNode


@dataclass(frozen=True)
class WindowAggregate(GroupWindowAggregate):
    """Aggregates the rows of a window table function by its windows; like GROUP BY with a window in the list."""


@dataclass(frozen=True)
class Expand(UnaryNode):
    """Each row once for each of the `sets` of GROUPING SETS.

    `keys` are the places of the columns that are grouped by; a set has those of them that stay, the others become NULL.
    A last column has the set's number, of `numbers`.
    """

    keys: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    type: RowType

    def __post_init__(self) -> None:
        assert len(self.type.fields) == len(self.input.row.fields) + 1
        assert len(set(self.numbers)) == len(self.numbers) == len(self.sets)

    @property
    def row(self) -> RowType:
        """Return the input's columns and the number."""
        return self.type


@dataclass(frozen=True)
class Rank(UnaryNode):
    """The rows of each partition whose rank is from `start` to `end`, both included, with the rank if it `shows` it.

    With `end_column`, a column of the partition, `end` is added to what this column has.
    """

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    function: RankFunction
    start: int
    end: int
    type: RowType
    shows: bool = True
    end_column: int | None = None

    @property
    def row(self) -> RowType:
        """Return the input's columns, and the rank."""
        return self.type if self.shows else self.input.row


@dataclass(frozen=True)
class PythonCalc(UnaryNode):
    """Each row with what functions of Python have for it; `calls` may take the results of those before them."""

    calls: tuple[PythonCall, ...]
    type: RowType

    def __post_init__(self) -> None:
        assert len(self.type.fields) == len(self.input.row.fields) + len(self.calls) > 0

    @property
    def row(self) -> RowType:
        """Return the columns of the input, and a column for each call."""
        return self.type


@dataclass(frozen=True)
class Delivery(UnaryNode):
    """Hands the rows to a sink that is in no catalog; `title` is what plans and errors call it."""

    sink: TableSink
    title: str

    @property
    def row(self) -> RowType:
        """Return the type of what is handed over."""
        return self.input.row
