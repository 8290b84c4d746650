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
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.python_functions import PythonFunction, PythonTableFunction, UserFunction
from firesteel.functions.user_defined import (
    FunctionContext,
    ScalarFunction,
    TableFunction,
    UserDefinedFunction,
)
from firesteel.table.later import later, missing_function
from firesteel.table.types import DataType, logical_type

__all__ = [
    "FunctionContext",
    "ScalarFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udf",
    "udtf",
]

__getattr__ = missing_function

Types = DataType | str | Sequence[DataType] | Sequence[str]


class UserDefinedFunctionWrapper:
    """A function with its types, as `udf` and `udtf` make it; `signature` is what queries call."""

    signature: UserFunction

    def __call__(self, *args: Any) -> NoReturn:
        """Refuse to make an expression of the Table API."""
        raise later("Table.select")


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function."""

    def __init__(
        self,
        func: Any,
        input_types: Types | None,
        result_type: Any,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        who = call_site("udf")
        body = _body(func, ScalarFunction, _Scalar, who)
        self.signature = PythonFunction(
            _name(func, name),
            body,
            _inputs(input_types, who),
            logical_type(result_type, who),
            _deterministic(func, deterministic, who),
        )


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A table function."""

    def __init__(
        self,
        func: Any,
        input_types: Types | None,
        result_types: Any,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        who = call_site("udtf")
        body = _body(func, TableFunction, _Table, who)
        self.signature = PythonTableFunction(
            _name(func, name),
            body,
            _inputs(input_types, who),
            _rows(result_types, who),
            _deterministic(func, deterministic, who),
        )


class _Scalar(ScalarFunction):
    """A scalar function that a program has written as a plain function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function  # type: ignore[method-assign]

    def eval(self, *args: Any) -> Any:
        """Return the value; each object has the function itself here."""
        raise NotImplementedError


class _Table(TableFunction):
    """A table function that a program has written as a plain function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function  # type: ignore[method-assign]

    def eval(self, *args: Any) -> Any:
        """Return the rows; each object has the function itself here."""
        raise NotImplementedError


def udf(
    f: Callable[..., Any] | ScalarFunction | None = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Return a scalar function for queries, or, without `f`, what makes one of a function: a decorator.

    `input_types` are what arguments are cast to; without them the function takes values of any types. A function that
    is not `deterministic` may give another result each time. Raises ProgramError for what is no function and for types
    that are none, UnsupportedError for functions of pandas and coroutines, which are not there yet.

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
    who = call_site("udf")
    if func_type not in ("general", "pandas"):
        raise ProgramError("requires 'general' or 'pandas' as func_type", who=who, got=repr(func_type))
    if func_type == "pandas":
        raise UnsupportedError(
            "is not supported yet with func_type='pandas'", who=who, hint="write a plain function"
        )
    if f is None:
        return functools.partial(
            udf,
            input_types=input_types,
            result_type=result_type,
            deterministic=deterministic,
            name=name,
        )
    return UserDefinedScalarFunctionWrapper(f, input_types, result_type, deterministic, name)


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


def _name(function: Any, name: str | None) -> str:
    return name or getattr(function, "__name__", None) or type(function).__name__


def _body(function: Any, kind: type[Any], plain: Callable[[Any], Any], who: str) -> Any:
    """Return the object that computes: `function` itself if it is one of a kind, or `plain` of it."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "eval", None)):
        raise UnsupportedError("is not supported yet for coroutines", who=who, hint="write a plain function")
    if isinstance(function, kind):
        return function
    if inspect.isclass(function) or isinstance(function, UserDefinedFunction) or not callable(function):
        got = function.__name__ if inspect.isclass(function) else type(function).__name__
        raise ProgramError(
            f"requires a function, or an object of a class that extends {kind.__name__}", who=who, got=got
        )
    return plain(function)


def _deterministic(function: Any, stated: bool | None, who: str) -> bool:
    own = function.is_deterministic() if isinstance(function, UserDefinedFunction) else None
    if stated is not None and own not in (None, stated):
        raise ProgramError(
            f"requires the same as is_deterministic() as deterministic, {own}", who=who, got=str(stated)
        )
    return stated if stated is not None else own is not False


def _inputs(types: Types | None, who: str) -> tuple[LogicalType, ...] | None:
    return None if types is None else tuple(field.type for field in _fields(types, who))


def _rows(types: Types, who: str) -> RowType:
    """Return the type of rows with columns of these types; only the text of a ROW has names for them, as in PyFlink."""
    if isinstance(types, str):
        kind = logical_type(types, who)
        if isinstance(kind, RowType):
            return RowType(kind.fields, nullable=False)
    return RowType(tuple(_fields(types, who)), nullable=False)


def _fields(types: Types, who: str) -> list[Field]:
    """Return columns of types; a ROW stands for those of its fields."""
    if isinstance(types, DataType | str):
        kind = logical_type(types, who)
        is_row = isinstance(kind, RowType) and isinstance(types, DataType)
        kinds = list(kind.children) if is_row else [kind]
    else:
        kinds = [logical_type(one, who) for one in types]
    return [Field(f"f{place}", kind) for place, kind in enumerate(kinds)]
