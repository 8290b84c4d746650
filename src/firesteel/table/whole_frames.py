"""Functions of pandas that get whole rows: a DataFrame of all columns (PyFlink: takes_row_as_input).

A column of type ROW stands for its fields there, as in PyFlink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.functions.columns.python_functions import PythonAggregate, PythonFunction, UserFunction
from firesteel.functions.user_defined import (
    AggregateFunction,
    FunctionContext,
    ScalarFunction,
    UserDefinedFunction,
)

if TYPE_CHECKING:
    import pandas as pd


def of_whole_frames(function: UserFunction, names: Sequence[str]) -> UserFunction:
    """Return a function of pandas that takes the columns of these names, and gives them on as one DataFrame."""
    if isinstance(function, PythonAggregate):
        return replace(function, body=_AggregateOfFrame(function.body, names))
    assert isinstance(function, PythonFunction)
    return replace(function, body=_ScalarOfFrame(function.body, names))


def _frame(names: Sequence[str], columns: Sequence[pd.Series[Any] | pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    named = [
        column if isinstance(column, pd.DataFrame) else column.rename(name)
        for name, column in zip(names, columns, strict=True)
    ]
    return pd.concat(named, axis=1)


class _OfFrame(UserDefinedFunction):
    """What both have: the function that is given frames, and the names of their columns."""

    def __init__(self, body: Any, names: Sequence[str]) -> None:
        self._body = body
        self._names = names

    def open(self, function_context: FunctionContext) -> None:
        self._body.open(function_context)

    def close(self) -> None:
        self._body.close()

    def is_deterministic(self) -> bool:
        return bool(self._body.is_deterministic())


class _ScalarOfFrame(_OfFrame, ScalarFunction):
    def eval(self, *columns: Any) -> Any:
        return self._body.eval(_frame(self._names, columns))


class _AggregateOfFrame(_OfFrame, AggregateFunction):
    def create_accumulator(self) -> Any:
        return self._body.create_accumulator()

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        self._body.accumulate(accumulator, _frame(self._names, args))

    def get_value(self, accumulator: Any) -> Any:
        return self._body.get_value(accumulator)
