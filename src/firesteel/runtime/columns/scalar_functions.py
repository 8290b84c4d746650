"""Scalar functions of Python over columns: called for each row, for a batch, or for many rows at once.

A function for a batch gets what a batch of the input has; how many rows that are is not promised. Series of pandas are
those of PyFlink: DATE as dates, TIMESTAMP_LTZ in the zone of the session, a ROW as a DataFrame. Source: PyFlink's
fn_execution/table/operations.py and async_function/operations.py.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from operator import length_hint
from typing import Any

import pyarrow as pa

from firesteel.common.errors import FiresteelError, UserFunctionError
from firesteel.common.logical_types import Field
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.pandas_values import from_series, to_series
from firesteel.functions.columns.python_functions import AsyncCalls, PythonCalc, PythonFunction
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.python_functions import Arguments, Body, Values, record_at
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.runtime.operator import Operator, OperatorContext


class Scalars(Body):
    """A scalar function over columns."""

    def __init__(self, function: PythonFunction, zone: str) -> None:
        super().__init__(function, zone)
        self._evaluate = function.body.eval

    @abstractmethod
    def computed(self, arguments: Arguments, count: int, field: Field) -> pa.Array:
        """Return the results for `count` rows of arguments, as a column that `field` describes."""


class PerRow(Scalars):
    """Called for each row.

    Arguments stay in their columns: tuples of them would cost as much as all the rest.
    """

    def computed(self, arguments: Arguments, count: int, field: Field) -> pa.Array:
        """Return what the function returns for each row."""
        columns = self.lists(arguments) or [[()] * count]
        first = iter(columns[0])
        try:
            if arguments:
                results = list(map(self._evaluate, first, *columns[1:]))
            else:
                results = [self._evaluate() for _ in first]
        except RAISED as error:
            place = count - length_hint(first) - 1
            record = record_at(columns, place) if arguments else ()
            raise user_failure(error, self._who, [record], iter(())) from error
        return self.column(results, field, columns if arguments else ())


class Vectorised(Scalars):
    """Called once for all rows of a batch."""

    def computed(self, arguments: Arguments, count: int, field: Field) -> pa.Array:
        """Return what the function returns for the rows. Raises TypeMismatchError for what has not a value for each."""
        given = self._given(arguments)
        try:
            result = self._evaluate(*given)
        except RAISED as error:
            first = [column.slice(0, 1).to_pylist() for column, _ in arguments]
            raise user_failure(error, f"{self._who}, for {count} rows", [first], iter(())) from error
        column = self._taken(result, count, field)
        if not field.type.nullable and column.null_count:
            raise self.mismatch(f"requires a value in each row of {field.name} ({field.type})", None)
        return column

    @abstractmethod
    def _given(self, arguments: Arguments) -> Sequence[Any]:
        """Return the arguments as the function takes them."""

    @abstractmethod
    def _taken(self, result: Any, count: int, field: Field) -> pa.Array:
        """Return the result as a column."""

    def _check_length(self, length: int, count: int) -> None:
        if length != count:
            raise self.mismatch(f"requires one result for each of {count} rows", f"{length} results")


class OfSeries(Vectorised):
    """Takes Series of pandas, and returns one, or a DataFrame for a ROW."""

    def _given(self, arguments: Arguments) -> Sequence[Any]:
        return [to_series(column, kind, self._zone) for column, kind in arguments]

    def _taken(self, result: Any, count: int, field: Field) -> pa.Array:
        import pandas as pd

        if not isinstance(result, pd.Series | pd.DataFrame):
            raise self.mismatch("requires a Series or a DataFrame of pandas as its result", result)
        self._check_length(len(result), count)
        try:
            return from_series(result, field.type, self._zone)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise self.mismatch(f"has a result that does not fit {field.type}: {error}", result) from error


class OfArrays(Vectorised):
    """Takes arrays of Arrow, and returns one."""

    def _given(self, arguments: Arguments) -> Sequence[Any]:
        return [column for column, _ in arguments]

    def _taken(self, result: Any, count: int, field: Field) -> pa.Array:
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        if not isinstance(result, pa.Array):
            raise self.mismatch("requires an array of Arrow as its result", result)
        self._check_length(len(result), count)
        try:
            return result.cast(to_arrow(field.type))
        except pa.ArrowException as error:
            raise self.mismatch(f"has a result that does not fit {field.type}: {error}", result) from error


class Awaited(Scalars):
    """Called for each row, many at once; results are in the order of the rows."""

    def __init__(self, function: PythonFunction, zone: str, calls: AsyncCalls) -> None:
        super().__init__(function, zone)
        self._calls = calls

    def open(self, context: OperatorContext) -> None:
        """Open the function, and make the loop in which it runs."""
        self._runner = asyncio.Runner()
        super().open(context)

    def close(self) -> None:
        """Close the function, and end the loop."""
        super().close()
        self._runner.close()

    def computed(self, arguments: Arguments, count: int, field: Field) -> pa.Array:
        """Return what the function returns for each row."""
        values = self.values(arguments, count)
        return self.column(self._runner.run(self._every(values)), field, [*zip(*values, strict=True)])

    async def _every(self, values: Sequence[Values]) -> list[Any]:
        free = asyncio.Semaphore(self._calls.most)

        async def one(some: Values) -> Any:
            async with free:
                return await self._one(some)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(some)) for some in values]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the first one, which the others have been cancelled for
        return [task.result() for task in tasks]

    async def _one(self, some: Values) -> Any:
        """Return the result for a row. Only the limit of this operator is a timeout; another one is a failure."""
        limit = asyncio.timeout(self._calls.timeout / 1000)
        try:
            async with limit:
                return await self._with_retries(some)
        except TimeoutError as error:
            if limit.expired():
                raise self._late(some) from error
            raise user_failure(error, self._who, [some], iter(())) from error
        except Exception as error:
            raise user_failure(error, self._who, [some], iter(())) from error

    async def _with_retries(self, some: Values) -> Any:
        for _ in range(self._calls.retries):
            try:
                return await self._evaluate(*some)
            except (
                Exception
            ):  # whatever it is, the next attempt may succeed, and the last one says what it is
                await asyncio.sleep(self._calls.delay / 1000)
        return await self._evaluate(*some)

    def _late(self, some: Values) -> FiresteelError:
        return UserFunctionError(
            f"requires an answer within {self._calls.timeout} ms",
            who=self._who,
            got=f"none for the record {summary(some)}",
            hint="raise 'table.exec.async-scalar.timeout'",
        )


def scalars(function: PythonFunction, zone: str, awaited: AsyncCalls) -> Scalars:
    """Return what calls a function, by its form."""
    if function.form == "async":
        return Awaited(function, zone, awaited)
    made: dict[str, type[PerRow | OfSeries | OfArrays]] = {
        "row": PerRow,
        "pandas": OfSeries,
        "arrow": OfArrays,
    }
    return made[function.form](function, zone)


class PythonCalcOperator(Operator[ColumnBatch]):
    """Emits each row with what the functions have for it."""

    def __init__(self, calc: PythonCalc) -> None:
        self._calc = calc
        self._schema = to_arrow_schema(calc.output)
        self._bodies = {
            id(call.function): scalars(call.function, calc.zone, calc.awaited) for call in calc.calls
        }

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
            columns.append(body.computed(arguments, len(batch), field))
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        self.output.emit(ColumnBatch(rows, batch.kinds))

    def close(self) -> None:
        """Close the functions."""
        for body in self._bodies.values():
            body.close()
        super().close()
