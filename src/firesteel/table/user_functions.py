"""What `udf`, `udtf` and `udaf` make of functions: their types, and the object that computes.

A function without a type for its result has that of its annotation: `-> int` is BIGINT, as for the values of
`from_elements`.
"""

from __future__ import annotations

import copy
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import ArrayType, Field, LogicalType, MapType, RowType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.python_functions import (
    Form,
    PythonAggregate,
    PythonFunction,
    PythonTableAggregate,
    PythonTableFunction,
    UserFunction,
)
from firesteel.functions.user_defined import (
    AggregateFunction,
    AsyncScalarFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from firesteel.table.expressing.operand import tree_of
from firesteel.table.expressing.tree import Call
from firesteel.table.expression import Expression
from firesteel.table.inferring import type_of_class
from firesteel.table.types import DataType, logical_type

Types = DataType | str | Sequence[DataType] | Sequence[str]


class UserDefinedFunctionWrapper:
    """A function with its types, as `udf` and its like make it; `signature` is what queries call."""

    signature: UserFunction
    _func: Any
    """What the program has given: PyFlink's guide tests functions by it."""

    names: tuple[str, ...] = ()
    """What the columns are called that it gives for whole rows; else they have the names of its result."""

    def alias(self, *alias_names: str) -> Self:
        """Return the function with names for the columns that it gives for whole rows: `aggregate(f.alias("a"))`."""
        named = copy.copy(self)
        named.names = alias_names
        return named

    def __call__(self, *args: Any) -> Expression[Any]:
        """Return what the function gives, as an expression of a table."""
        return Expression(Call(self.signature.name, tuple(map(tree_of, args)), self.signature))


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function."""

    def __init__(
        self,
        func: Any,
        input_types: Types | None,
        result_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        self._func, who = func, call_site("udf")
        awaits = isinstance(func, AsyncScalarFunction) or inspect.iscoroutinefunction(func)
        form = _form(func_type, awaited=awaits, who=who)
        kind, plain = (AsyncScalarFunction, _Async) if awaits else (ScalarFunction, _Scalar)
        body = _body(func, kind, plain, who)
        self.signature = PythonFunction(
            _name(func, name),
            body,
            _inputs(input_types, who),
            _result(result_type, body.eval, who, rows=form in ("row", "async")),
            _deterministic(func, deterministic, who),
            form,
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
        self._func, who = func, call_site("udtf")
        if result_types is None:
            raise ProgramError(
                "requires the types of the result's columns",
                who=who,
                got="no result_types",
                hint="e.g. result_types=['INT', 'STRING'], or 'ROW<n INT, name STRING>'",
            )
        body = _body(func, TableFunction, _Table, who)
        self.signature = PythonTableFunction(
            _name(func, name),
            body,
            _inputs(input_types, who),
            _rows(result_types, who),
            _deterministic(func, deterministic, who),
        )


class UserDefinedAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    """An aggregate function."""

    def __init__(
        self,
        func: Any,
        input_types: Types | None,
        result_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        self._func, who = func, call_site("udaf")
        if func_type not in ("general", "pandas"):
            raise ProgramError("requires 'general' or 'pandas' as func_type", who=who, got=repr(func_type))
        pandas = func_type == "pandas"
        body = _body(func, AggregateFunction, _OfSeries if pandas else None, who)
        if result_type is None and isinstance(func, AggregateFunction):
            result_type = func.get_result_type()
        self.signature = PythonAggregate(
            _name(func, name),
            body,
            _inputs(input_types, who),
            logical_type(result_type, who),
            _deterministic(func, deterministic, who),
            "pandas" if pandas else "row",
        )


class UserDefinedTableAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    """A table aggregate function."""

    def __init__(
        self,
        func: Any,
        input_types: Types | None,
        result_type: Any,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        self._func, who = func, call_site("udtaf")
        body = _body(func, TableAggregateFunction, None, who)
        kind = logical_type(body.get_result_type() if result_type is None else result_type, who)
        row = kind if isinstance(kind, RowType) else RowType((Field("f0", kind),))
        self.signature = PythonTableAggregate(
            _name(func, name),
            body,
            _inputs(input_types, who),
            RowType(row.fields, nullable=False),
            _deterministic(func, deterministic, who),
        )


class _Written:
    """What a program has written as a plain function; it is `eval` of the object, so a call costs nothing more."""

    eval: Any = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function


class _Scalar(_Written, ScalarFunction):
    """A scalar function."""


class _Async(_Written, AsyncScalarFunction):
    """A scalar function that is awaited."""


class _Table(_Written, TableFunction):
    """A table function."""


class _OfSeries(AggregateFunction):
    """An aggregate function that a program has written as a plain function of Series."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def create_accumulator(self) -> list[Any]:
        """Return what the result will be put into."""
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        """Compute the result."""
        accumulator.append(self._function(*args))

    def get_value(self, accumulator: list[Any]) -> Any:
        """Return the result."""
        return accumulator[0]


def _form(func_type: str, *, awaited: bool, who: str) -> Form:
    forms: dict[str, Form] = {"general": "async" if awaited else "row", "pandas": "pandas", "arrow": "arrow"}
    if func_type not in forms:
        raise ProgramError(
            "requires 'general', 'pandas' or 'arrow' as func_type", who=who, got=repr(func_type)
        )
    if awaited and func_type != "general":
        raise ProgramError(
            "requires 'general' as func_type of a function that is awaited", who=who, got=repr(func_type)
        )
    return forms[func_type]


def _name(function: Any, name: str | None) -> str:
    return name or getattr(function, "__name__", None) or type(function).__name__


def _body(function: Any, kind: type[Any], plain: Callable[[Any], Any] | None, who: str) -> Any:
    """Return the object that computes: `function` itself if it is one of a kind, or `plain` of it."""
    if isinstance(function, kind):
        return function
    if inspect.iscoroutinefunction(function) and plain is not _Async:
        raise UnsupportedError("requires a function that is not awaited", who=who, got=_name(function, None))
    wrong = inspect.isclass(function) or isinstance(function, UserDefinedFunction) or not callable(function)
    if wrong or plain is None:
        got = function.__name__ if inspect.isclass(function) else type(function).__name__
        wanted = f"an object of a class that extends {kind.__name__}"
        raise ProgramError(
            f"requires {wanted}" if plain is None else f"requires a function, or {wanted}", who=who, got=got
        )
    return plain(function)


def _deterministic(function: Any, stated: bool | None, who: str) -> bool:
    own = function.is_deterministic() if isinstance(function, UserDefinedFunction) else None
    if stated is not None and own not in (None, stated):
        raise ProgramError(
            f"requires the same as is_deterministic() as deterministic, {own}", who=who, got=str(stated)
        )
    return stated if stated is not None else own is not False


def _inputs(given: Types | None, who: str) -> tuple[LogicalType, ...] | None:
    return None if given is None else tuple(field.type for field in _fields(given, who))


def _result(stated: Any, evaluate: Callable[..., Any], who: str, *, rows: bool) -> LogicalType:
    """Return the type of the result: the one that is stated, or that of an annotation of what is called for a row."""
    if stated is None and rows:
        found = (
            inspect.get_annotations(evaluate, eval_str=True).get("return") if _has_code(evaluate) else None
        )
        if found is not None:
            return _annotated(found, who)
    return logical_type(stated, who)


def _has_code(function: Any) -> bool:
    return inspect.isfunction(function) or inspect.ismethod(function)


def _annotated(annotation: Any, who: str) -> LogicalType:
    """Return the type of an annotation's values; they may always be NULL."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        some = [part for part in parts if part is not type(None)]
        if len(some) == 1:
            return _annotated(some[0], who)
    if origin is list and parts:
        return ArrayType(_annotated(parts[0], who))
    if origin is dict and parts:
        return MapType(_annotated(parts[0], who), _annotated(parts[1], who))
    found = type_of_class(annotation) if inspect.isclass(annotation) else None
    if found is None:
        raise ProgramError(
            "requires a type for the result",
            who=who,
            got=f"the annotation {annotation}",
            hint="give result_type",
        )
    return found


def _rows(given: Types, who: str) -> RowType:
    """Return the type of rows with columns of these types; only the text of a ROW has names for them, as in PyFlink."""
    if isinstance(given, str):
        kind = logical_type(given, who)
        if isinstance(kind, RowType):
            return RowType(kind.fields, nullable=False)
    return RowType(tuple(_fields(given, who)), nullable=False)


def _fields(given: Types, who: str) -> Iterator[Field]:
    """Yield columns of types; a ROW stands for those of its fields."""
    if isinstance(given, DataType | str):
        kind = logical_type(given, who)
        is_row = isinstance(kind, RowType) and isinstance(given, DataType)
        kinds = list(kind.children) if is_row else [kind]
    else:
        kinds = [logical_type(one, who) for one in given]
    for place, kind in enumerate(kinds):
        yield Field(f"f{place}", kind)
