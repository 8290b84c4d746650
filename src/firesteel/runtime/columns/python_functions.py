"""Functions of Python over columns: arguments as values of Python, and results as columns again.

Values are those of `firesteel.common.logical_types.python_values`; times with a zone are datetimes in that of the
session. Source: PyFlink's operation_utils.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import Field, LogicalType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.types import Row
from firesteel.common.zones import java_zone
from firesteel.functions.columns.python_functions import PythonCalc, PythonFunction, PythonTableFunction
from firesteel.functions.user_defined import FunctionContext
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.runtime.operator import Operator, OperatorContext
from firesteel.state.arrangements.sorting import Positions

_Values = tuple[Any, ...]
Arguments = Sequence[tuple[pa.Array, LogicalType]]
"""Columns with their types."""


class Given(NamedTuple):
    """The rows that a table function gives: row `i` is one for the argument at place `owners[i]`, which ascend."""

    owners: Positions
    columns: list[pa.Array]


class Body:
    """A function in a worker: its life, and its calls, whose errors name the operator and the arguments."""

    def __init__(self, function: PythonFunction | PythonTableFunction, zone: str) -> None:
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

    def called(self, arguments: Arguments, count: int, done: Callable[[Any], Any]) -> list[Any]:
        """Return `done` of what the function returns for each of `count` rows of arguments."""
        values: list[_Values] = [()] * count
        if arguments:
            given = (from_column(column, kind, self._zone) for column, kind in arguments)
            values = list(zip(*given, strict=True))
        evaluate, rows = self._function.body.eval, iter(values)
        try:
            return [done(evaluate(*some)) for some in rows]
        except RAISED as error:
            raise user_failure(error, self._who, values, rows) from error

    def column(self, values: Sequence[Any], field: Field) -> pa.Array:
        """Return results as a column. Raises TypeMismatchError for those that do not fit."""
        try:
            return to_column(values, field.type, field.name, self._zone)
        except TypeMismatchError as error:
            raise TypeMismatchError(
                f"has a result that does not fit: {error.who} {error.requirement}",
                who=self._who,
                got=error.got,
                hint=error.hint,
            ) from error

    def mismatch(self, requirement: str, got: object) -> TypeMismatchError:
        """Return the error for a result that does not fit."""
        return TypeMismatchError(requirement, who=self._who, got=summary(got))


class PythonRows(Body):
    """A table function over columns."""

    def __init__(self, function: PythonTableFunction, zone: str) -> None:
        super().__init__(function, zone)
        self._row = function.result

    def given(self, arguments: Arguments, count: int) -> Given:
        """Return the rows for each of `count` rows of arguments."""
        found = self.called(arguments, count, lambda result: [self._values(row) for row in rows_of(result)])
        owners = np.repeat(np.arange(count), [len(rows) for rows in found])
        every = [values for rows in found for values in rows]
        fields = self._row.fields
        results = zip(*every, strict=True) if every else ([] for _ in fields)
        return Given(
            owners,
            [self.column([*values], field) for values, field in zip(results, fields, strict=True)],
        )

    def _values(self, row: Any) -> _Values:
        values = tuple(row) if isinstance(row, tuple | Row) else (row,)
        if len(values) != len(self._row.fields):
            names = ", ".join(self._row.field_names)
            raise self.mismatch(f"requires rows of {len(self._row.fields)} values ({names})", row)
        return values


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


class PythonCalcOperator(Operator[ColumnBatch]):
    """Emits each row with what the functions have for it."""

    def __init__(self, calc: PythonCalc) -> None:
        self._calc = calc
        self._schema = to_arrow_schema(calc.output)
        self._bodies = {id(call.function): Body(call.function, calc.zone) for call in calc.calls}

    def open(self, context: OperatorContext) -> None:
        """Open the functions, each of them once."""
        super().open(context)
        for body in self._bodies.values():
            body.open(context)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of a batch."""
        columns, fields = list(batch.rows.columns), self._calc.output.fields
        for call in self._calc.calls:
            arguments = [(columns[place], fields[place].type) for place in call.arguments]
            body, field = self._bodies[id(call.function)], fields[len(columns)]
            columns.append(body.column(body.called(arguments, len(batch), _same), field))
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        self.output.emit(ColumnBatch(rows, batch.kinds))

    def close(self) -> None:
        """Close the functions."""
        for body in self._bodies.values():
            body.close()
        super().close()


def _same(result: Any) -> Any:
    return result
