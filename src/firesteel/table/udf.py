"""Functions of your own for queries, with the names of pyflink.table.udf.

>>> from firesteel.table import DataTypes
>>> @udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
... def words(text):
...     for word in text.split():
...         yield word, len(word)
>>> str(words.signature.result)
'ROW<`f0` STRING, `f1` INT> NOT NULL'
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.user_defined import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from firesteel.table.types import DataType
from firesteel.table.user_functions import (
    Types,
    UserDefinedAggregateFunctionWrapper,
    UserDefinedFunctionWrapper,
    UserDefinedScalarFunctionWrapper,
    UserDefinedTableAggregateFunctionWrapper,
    UserDefinedTableFunctionWrapper,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "UserDefinedFunctionWrapper",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]


def udf(
    f: Callable[..., Any] | ScalarFunction | AsyncScalarFunction | None = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return a scalar function for queries, or, without `f`, what makes one of a function: a decorator.

    `input_types` are what arguments are cast to; without them the function takes values of any types. Without a
    `result_type` it is that of the annotation `-> int`. A function that is not `deterministic` may give another result
    each time. With `func_type` 'pandas' the function takes Series for all rows of a batch and returns one, with 'arrow'
    arrays of Arrow. An `async def` is awaited for many rows at once, as 'table.exec.async-scalar.*' say. Raises
    ProgramError for what is no function and for types that are none.

    >>> from firesteel.table import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> environment.create_temporary_function("add_one", udf(lambda n: n + 1, result_type="BIGINT"))
    >>> environment.execute_sql("SELECT add_one(6) AS n").print()
    +----------------------+
    |                    n |
    +----------------------+
    |                    7 |
    +----------------------+
    1 row in set
    """
    if f is None:
        return functools.partial(
            udf,
            input_types=input_types,
            result_type=result_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    return UserDefinedScalarFunctionWrapper(f, input_types, result_type, func_type, deterministic, name)


def udtf(
    f: Callable[..., Any] | TableFunction | None = None,
    input_types: Types | None = None,
    result_types: Types | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Return a table function for queries, or, without `f`, what makes one of a function: a decorator.

    `result_types` are those of the columns, which are named f0, f1 and so on, or the text of a ROW with names. All else
    is as for `udf`.

    >>> from firesteel.table import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> environment.create_temporary_function("count_to", udtf(lambda n: range(n), result_types="INT"))
    >>> environment.execute_sql("SELECT n FROM LATERAL TABLE(count_to(2)) AS t(n)").print()
    +-------------+
    |           n |
    +-------------+
    |           0 |
    |           1 |
    +-------------+
    2 rows in set
    """
    if f is None:
        return functools.partial(
            udtf, input_types=input_types, result_types=result_types, deterministic=deterministic, name=name
        )
    return UserDefinedTableFunctionWrapper(f, input_types, result_types, deterministic, name)


def udaf(
    f: Callable[..., Any] | AggregateFunction | None = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return an aggregate function for queries, or, without `f`, what makes one of a function: a decorator.

    `f` is an object of a class that extends AggregateFunction. With `func_type` 'pandas' it may be a function, too: it
    takes a Series for each argument, with the values of all rows of a group, and returns one value. Without a
    `result_type` the object is asked for it. Accumulators are pickled, so `accumulator_type` changes nothing. All else
    is as for `udf`.

    >>> from firesteel.table import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> span = udaf(lambda values: values.max() - values.min(), result_type="BIGINT", func_type="pandas")
    >>> environment.create_temporary_function("span", span)
    >>> environment.execute_sql("SELECT span(n) AS s FROM (VALUES (3), (9), (4)) AS t(n)").print()
    +----------------------+
    |                    s |
    +----------------------+
    |                    6 |
    +----------------------+
    1 row in set
    """
    if f is None:
        return functools.partial(
            udaf,
            input_types=input_types,
            result_type=result_type,
            accumulator_type=accumulator_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    return UserDefinedAggregateFunctionWrapper(f, input_types, result_type, func_type, deterministic, name)


def udtaf(
    f: TableAggregateFunction | None = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return a table aggregate function for `flat_aggregate`, or, without `f`, what makes one: a decorator.

    `f` is an object of a class that extends TableAggregateFunction. The `result_type` is that of its rows: a ROW, or
    the type of the only column, f0. Without one the object is asked for it. All else is as for `udaf`; `func_type` is
    'general'. `Table.flat_aggregate` has an example.
    """
    if func_type != "general":
        raise ProgramError("requires 'general' as func_type", who=call_site("udtaf"), got=repr(func_type))
    if f is None:
        return functools.partial(
            udtaf,
            input_types=input_types,
            result_type=result_type,
            accumulator_type=accumulator_type,
            deterministic=deterministic,
            name=name,
        )
    return UserDefinedTableAggregateFunctionWrapper(f, input_types, result_type, deterministic, name)
