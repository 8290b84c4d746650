"""Functions of Python over columns: arguments as values of Python, and results as columns again.

Values are those of `firesteel.common.logical_types.python_values`; times with a zone are datetimes in that of the
session. Source: PyFlink's operation_utils.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.coercion import coerced
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.types import Row
from firesteel.common.zones import java_zone
from firesteel.functions.columns.python_functions import CalledFunction, PythonTableFunction, rows_of
from firesteel.functions.user_defined import FunctionContext
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.sorting import Positions

Values = tuple[Any, ...]
Arguments = Sequence[tuple[pa.Array, LogicalType]]
"""Columns with their types."""


class Given(NamedTuple):
    """The rows that a table function gives: row `i` is one for the argument at place `owners[i]`, which ascend."""

    owners: Positions
    columns: list[pa.Array]


class Body:
    """A function in a worker: its life, and its calls, whose errors name the operator and the arguments."""

    def __init__(self, function: CalledFunction, zone: str) -> None:
        self._function = function
        self._zone = java_zone(zone, function.name)

    def open(self, context: OperatorContext) -> None:
        """Open the function."""
        self._who = f"function {self._function.name} of {context.who}"
        try:
            self._function.body.open(FunctionContext(TaskRuntimeContext(context, keyed=False)))
        except RAISED as error:
            raise user_failure(error, self._who) from error

    def close(self) -> None:
        """Close the function."""
        try:
            self._function.body.close()
        except RAISED as error:
            raise user_failure(error, self._who) from error

    def lists(self, arguments: Arguments) -> list[list[Any]]:
        """Return the columns of arguments as values of Python."""
        return [from_column(column, kind, self._zone) for column, kind in arguments]

    def values(self, arguments: Arguments, count: int) -> list[Values]:
        """Return the arguments of `count` rows as values of Python, row by row."""
        return list(zip(*self.lists(arguments), strict=True)) if arguments else [()] * count

    def column(self, values: Sequence[Any], field: Field, given: Sequence[Sequence[Any]] = ()) -> pa.Array:
        """Return results as a column, numbers as PyFlink has them. Raises TypeMismatchError for those that do not fit.

        `given` are the columns of arguments that the results are for, if they are for a row each.
        """
        # Few results do not fit; to look at each value first would cost as much again.
        with suppress(TypeMismatchError):
            return to_column(values, field.type, field.name, self._zone)
        values = [coerced(value, field.type) for value in values]
        try:
            return to_column(values, field.type, field.name, self._zone)
        except TypeMismatchError as error:
            place = self._misfit(values, field) if given else None
            record = "" if place is None else f" for the record {summary(record_at(given, place))}"
            raise TypeMismatchError(
                f"has a result that does not fit: {error.who} {error.requirement}",
                who=self._who,
                got=f"{error.got}{record}",
                hint=error.hint,
            ) from error

    def _misfit(self, values: Sequence[Any], field: Field) -> int | None:
        """Return the place of the first result that does not fit by itself."""
        for place, value in enumerate(values):
            try:
                to_column([value], field.type, field.name, self._zone)
            except TypeMismatchError:
                return place
        return None

    def rows_of(self, result: Any, kind: RowType) -> list[Values]:
        """Return the rows that a result of a table function stands for. Raises TypeMismatchError for other widths."""
        return [self._fields_of(row, kind) for row in rows_of(result)]

    def _fields_of(self, row: Any, kind: RowType) -> Values:
        values = tuple(row) if isinstance(row, tuple | Row) else (row,)
        if len(values) != len(kind.fields):
            names = ", ".join(kind.field_names)
            raise self.mismatch(f"requires rows of {len(kind.fields)} values ({names})", row)
        return values

    def mismatch(self, requirement: str, got: object) -> TypeMismatchError:
        """Return the error for a result that does not fit."""
        return TypeMismatchError(requirement, who=self._who, got=summary(got))


def record_at(columns: Sequence[Sequence[Any]], place: int) -> Values:
    """Return a row of columns."""
    return tuple(column[place] for column in columns)


class PythonRows(Body):
    """A table function over columns."""

    def __init__(self, function: PythonTableFunction, zone: str) -> None:
        super().__init__(function, zone)
        self._evaluate = function.body.eval
        self._row = function.result

    def given(self, arguments: Arguments, count: int) -> Given:
        """Return the rows for each of `count` rows of arguments."""
        values = self.values(arguments, count)
        evaluate, rows = self._evaluate, iter(values)
        try:
            found = [self.rows_of(evaluate(*some), self._row) for some in rows]
        except RAISED as error:
            raise user_failure(error, self._who, values, rows) from error
        owners = np.repeat(np.arange(count), [len(rows) for rows in found])
        every = [values for rows in found for values in rows]
        fields = self._row.fields
        results = zip(*every, strict=True) if every else ([] for _ in fields)
        return Given(
            owners,
            [self.column([*values], field) for values, field in zip(results, fields, strict=True)],
        )
