"""Functions of Python that a query calls, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from firesteel.common.logical_types import ArrayType, LogicalType, MapType, RowType
from firesteel.functions.process_tables import ArgumentTrait, ChangelogFunction, ProcessTableFunction
from firesteel.functions.user_defined import (
    AggregateFunction,
    AsyncScalarFunction,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

Form = Literal["row", "pandas", "arrow", "async"]
"""What one call of a scalar function is for: a row, or all rows of a batch as Series of pandas or as arrays of Arrow;
with "async" it is for a row, and awaited."""


@dataclass(frozen=True, eq=False)
class PythonFunction:
    """A function of the user's with its types.

    `takes` are the types of its arguments; None means that it takes values of any types, as many as there are. One that
    is not `deterministic` may give another result each time. One that is for `inserts_only` is never asked about rows
    that go or change. `imported` is the 'module.name' by which a statement has named it (empty: only its program has
    it). Every object is a function of its own.
    """

    name: str
    body: ScalarFunction | AsyncScalarFunction
    takes: tuple[LogicalType, ...] | None
    result: LogicalType
    deterministic: bool = True
    form: Form = "row"
    inserts_only: bool = False
    imported: str = ""


@dataclass(frozen=True, eq=False)
class PythonTableFunction:
    """A table function of the user's with its types; `result` is that of its rows. All else is as for others."""

    name: str
    body: TableFunction
    takes: tuple[LogicalType, ...] | None
    result: RowType
    deterministic: bool = True
    imported: str = ""


@dataclass(frozen=True, eq=False)
class PythonAggregate:
    """An aggregate function of the user's with its types; one of pandas takes all values of a group as Series.

    The result of a table aggregate function is the ARRAY of its rows.
    """

    name: str
    body: AggregateFunction | TableAggregateFunction
    takes: tuple[LogicalType, ...] | None
    result: LogicalType
    deterministic: bool = True
    form: Literal["row", "pandas"] = "row"
    imported: str = ""

    @property
    def retracts(self) -> bool:
        """Whether rows can be taken back."""
        return self.form == "pandas" or type(self.body).retract is not ImperativeAggregateFunction.retract


@dataclass(frozen=True, eq=False)
class PythonTableAggregate:
    """A table aggregate function of the user's with its types; `result` is that of its rows."""

    name: str
    body: TableAggregateFunction
    takes: tuple[LogicalType, ...] | None
    result: RowType
    deterministic: bool = True
    imported: str = ""

    @property
    def listed(self) -> PythonAggregate:
        """Return the aggregate function whose value is the list of the rows."""
        return PythonAggregate(
            self.name,
            self.body,
            self.takes,
            ArrayType(self.result, nullable=False),
            self.deterministic,
        )


@dataclass(frozen=True, eq=False)
class PythonProcessTable:
    """A process table function of the user's: its arguments (traits of tables, types of values) and its state.

    Values that are `optional` are NULL in calls without them. `lives` says how long entries of the state live
    (milliseconds, 0: for ever), by name; others live as long as the session's state.
    """

    name: str
    body: ProcessTableFunction
    arguments: Mapping[str, frozenset[ArgumentTrait] | LogicalType]
    state: Mapping[str, RowType | ArrayType | MapType]
    result: RowType
    deterministic: bool = True
    imported: str = ""
    optional: frozenset[str] = frozenset()
    lives: Mapping[str, int] = field(default_factory=dict)

    @property
    def changes(self) -> ChangelogFunction | None:
        """Return what says which changes the function gives; None if it gives inserts."""
        return self.body if isinstance(self.body, ChangelogFunction) else None


CalledFunction = PythonFunction | PythonTableFunction | PythonAggregate
"""A function of values."""

UserFunction = CalledFunction | PythonTableAggregate | PythonProcessTable


@dataclass(frozen=True)
class PythonCall:
    """The call of a function with columns: their places among those of the input and the results of earlier calls."""

    function: PythonFunction
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class AsyncCalls:
    """How functions are awaited: `most` calls at once, each of which, with all attempts, may take `timeout` (ms).

    A call that raises is made again after `delay` milliseconds, at most `retries` times.
    """

    most: int = 10
    timeout: int = 180_000
    retries: int = 3
    delay: int = 100


@dataclass(frozen=True)
class PythonCalc:
    """Each row of the input with what functions of Python have for it; `zone` is the session's time zone.

    `output` has the columns of the input, and then a column for each call. `awaited` is about those that are awaited.
    """

    input: RowType
    output: RowType
    calls: tuple[PythonCall, ...]
    zone: str = "UTC"
    awaited: AsyncCalls = AsyncCalls()

    def __post_init__(self) -> None:
        assert len(self.output.fields) == len(self.input.fields) + len(self.calls)


def rows_of(result: Any) -> Iterator[Any]:
    """Yield the rows that a result of a table function stands for, as PyFlink takes it.

    >>> [list(rows_of(result)) for result in (None, (1, "a"), [1, 2], range(2))]
    [[], [(1, 'a')], [1, 2], [0, 1]]
    """
    if result is None:
        return
    if isinstance(result, list | range | Iterator):
        yield from result
    else:
        yield result
