"""Functions of Python that a query calls, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.functions.user_defined import ScalarFunction, TableFunction


@dataclass(frozen=True, eq=False)
class PythonFunction:
    """A function of the user's with its types.

    `takes` are the types of its arguments; None means that it takes values of any types, as many as there are. One that
    is not `deterministic` may give another result each time. Every object is a function of its own.
    """

    name: str
    body: ScalarFunction
    takes: tuple[LogicalType, ...] | None
    result: LogicalType
    deterministic: bool = True


@dataclass(frozen=True, eq=False)
class PythonTableFunction:
    """A table function of the user's with its types; `result` is that of its rows. All else is as for others."""

    name: str
    body: TableFunction
    takes: tuple[LogicalType, ...] | None
    result: RowType
    deterministic: bool = True


UserFunction = PythonFunction | PythonTableFunction


@dataclass(frozen=True)
class PythonCall:
    """The call of a function with columns: their places among those of the input and the results of earlier calls."""

    function: PythonFunction
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class PythonCalc:
    """Each row of the input with what functions of Python have for it; `zone` is the session's time zone.

    `output` has the columns of the input, and then a column for each call.
    """

    input: RowType
    output: RowType
    calls: tuple[PythonCall, ...]
    zone: str = "UTC"

    def __post_init__(self) -> None:
        assert len(self.output.fields) == len(self.input.fields) + len(self.calls)
