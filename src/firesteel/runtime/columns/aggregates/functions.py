"""The aggregate functions as data: which parts their accumulators have, and how results are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import DecimalType, LogicalType, LogicalTypeRoot
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.runtime.columns.aggregates.bitmaps import bitmaps_of
from firesteel.runtime.columns.aggregates.chosen import Chosen, decoded
from firesteel.runtime.columns.aggregates.contents import (
    Results,
    array_of,
    end_of,
    joined,
    json_array_of,
    json_object_of,
    multiset_of,
    of_each_once,
    only_value,
    require_one,
)
from firesteel.runtime.columns.aggregates.decimals import decimal_averages, decimal_sums
from firesteel.runtime.columns.aggregates.moments import Variance, net
from firesteel.runtime.columns.aggregates.parts import Columns, Count, DecimalSum, Part, Sum
from firesteel.runtime.columns.aggregates.percentiles import percentiles_of
from firesteel.runtime.columns.aggregates.stores import Bag, Distinct, Log, Store
from firesteel.runtime.columns.aggregates.texts import Joined
from firesteel.runtime.columns.aggregates.user_functions import Accumulated, AggregateBody
from firesteel.state.arrangements.columns import Numbers, numbers

Result = Callable[[Sequence[Columns]], pa.Array]
"""What computes results from the columns of each part."""

_SHORT: Final = 18
"""Digits of the longest decimals whose digits fit into 64 bits."""


@dataclass(frozen=True)
class Function:
    """An aggregate function of certain columns.

    `result` computes its results from the `parts` of its accumulator. `store` has the values that it needs besides;
    with `contents`, the results are made of these alone. `body` is what computes, if it is a function of the user's.
    """

    parts: tuple[Part, ...]
    result: Result
    store: Store | None = None
    contents: Results | None = None
    body: AggregateBody | None = None


def function_of(aggregation: Aggregation, *, retracts: bool) -> Function:
    """Return the function that an aggregation names; `retracts`: the input has other changes than inserts.

    Raises UnsupportedError if there is none of this name.
    """
    name = aggregation.function
    if aggregation.user is not None:
        return _of_user(aggregation, retracts)
    if name == "APPROX_COUNT_DISTINCT":
        return _of_distinct(replace(aggregation, function="COUNT"), retracts)
    if name in _OF_CONTENTS and (retracts or name not in _FUNCTIONS):
        return _of_contents(aggregation)
    make = _FUNCTIONS.get(name)
    if make is None:
        raise UnsupportedError("is no aggregate function that is supported yet", who=aggregation.shown)
    if retracts and name in ("MIN", "MAX"):
        return _of_bag(make(aggregation, retracts), aggregation)
    if aggregation.distinct and name not in _INDIFFERENT:
        return _of_distinct(aggregation, retracts)
    return make(aggregation, retracts)


def _of_distinct(aggregation: Aggregation, retracts: bool) -> Function:
    """Return the function of each value once: its parts are made of the values that come and go."""
    store = Distinct(aggregation.arguments, aggregation.filter)
    places = tuple(range(len(aggregation.arguments)))
    make = _FUNCTIONS[aggregation.function] if aggregation.user is None else _accumulated
    inner = make(replace(aggregation, arguments=places, filter=None), retracts)
    parts = tuple(replace(part, values_of=store) for part in inner.parts)
    return replace(inner, parts=parts, store=store)


def _of_bag(function: Function, aggregation: Aggregation) -> Function:
    """Return the function of values that can be taken back."""
    store = Bag(aggregation.arguments, aggregation.filter)
    return replace(
        function, parts=tuple(replace(part, values_of=store) for part in function.parts), store=store
    )


def _of_contents(aggregation: Aggregation) -> Function:
    """Return a function whose results are made of all values of a group."""
    make, nulls = _OF_CONTENTS[aggregation.function]
    nulls = nulls and not aggregation.ignore_nulls
    kind = Log if aggregation.function in _IN_ORDER else Bag
    contents = make(aggregation)
    if aggregation.distinct and aggregation.function not in _INDIFFERENT:
        contents = of_each_once(contents)
    store = kind(aggregation.arguments, aggregation.filter, nulls)
    return Function((), lambda _: pa.nulls(0), store, contents)


def _of_user(aggregation: Aggregation, retracts: bool) -> Function:
    assert aggregation.user is not None
    if aggregation.user.form == "pandas":
        return of_values(aggregation)
    return (_of_distinct if aggregation.distinct else _accumulated)(aggregation, retracts)


def _accumulated(aggregation: Aggregation, _: bool) -> Function:
    body = AggregateBody(aggregation)
    part = Accumulated(None, aggregation.filter, body=body, arguments=aggregation.arguments)
    return Function((part,), lambda parts: part.result(parts[0]), body=body)


def of_values(aggregation: Aggregation) -> Function:
    """Return a function of the user's whose results are made of all values of a group, or of a frame."""
    body = AggregateBody(aggregation)
    assert aggregation.user is not None
    contents: Results = body.of_series if aggregation.user.form == "pandas" else body.of_frames
    if aggregation.distinct:
        contents = of_each_once(contents)
    store = Log(aggregation.arguments, aggregation.filter, True)
    return Function((), lambda _: pa.nulls(0), store, contents, body)


def counted(aggregation: Aggregation) -> Count:
    """Return the number of rows that count: those whose filter is TRUE and whose arguments are not NULL."""
    arguments = [
        argument
        for argument, kind in zip(aggregation.arguments, aggregation.types, strict=True)
        if kind.nullable
    ]
    first = arguments[0] if arguments else None
    return Count(first, aggregation.filter, tuple(arguments[1:]))


def _count(aggregation: Aggregation, _: bool) -> Function:
    return Function((counted(aggregation),), lambda parts: parts[0][0])


def _total(aggregation: Aggregation) -> Part:
    argument, kind = aggregation.arguments[0], aggregation.types[0]
    if isinstance(kind, DecimalType):
        return DecimalSum(argument, aggregation.filter, 2 if kind.precision <= _SHORT else 4)
    return Sum(argument, aggregation.filter, _is_floating(kind))


def _sum(aggregation: Aggregation, _: bool) -> Function:
    to, zero = aggregation.type, aggregation.function != "SUM"
    scale = to.scale if isinstance(to, DecimalType) else 0

    def result(parts: Sequence[Columns]) -> pa.Array:
        total, (count,) = parts
        some = numbers(count) > 0
        if zero:
            some = np.ones(len(some), np.bool_)
        if isinstance(to, DecimalType):
            return decimal_sums(total, some, scale)
        return _narrowed(total[0].to_numpy(), some, to)

    return Function((_total(aggregation), counted(aggregation)), result)


def _average(aggregation: Aggregation, _: bool) -> Function:
    given, to = aggregation.types[0], aggregation.type

    def result(parts: Sequence[Columns]) -> pa.Array:
        total, (column,) = parts
        count = numbers(column)
        if isinstance(given, DecimalType) and isinstance(to, DecimalType):
            return decimal_averages(total, count, given.scale, to.scale)
        some = count > 0
        divisor = np.where(some, count, 1)
        sums = total[0].to_numpy()
        if _is_floating(given):
            return _narrowed(sums / divisor, some, to)
        quotient = sums // divisor
        quotient += (quotient < 0) & (quotient * divisor != sums)
        return _narrowed(quotient, some, to)

    return Function((_total(aggregation), counted(aggregation)), result)


def _chosen(which: str) -> Callable[[Aggregation, bool], Function]:
    def make(aggregation: Aggregation, _: bool) -> Function:
        kind = to_arrow(aggregation.types[0])
        part = Chosen(aggregation.arguments[0], aggregation.filter, which, kind)
        code = which in ("min", "max")
        return Function((part,), lambda parts: decoded(parts[0][0], kind) if code else parts[0][0])

    return make


def _variance(less: int, *, root: bool) -> Callable[[Aggregation, bool], Function]:
    def make(aggregation: Aggregation, retracts: bool) -> Function:
        part = Variance(aggregation.arguments[0], aggregation.filter, retracts)

        def result(parts: Sequence[Columns]) -> pa.Array:
            moments = net(parts[0])
            some = moments.number > less
            values = moments.squares / np.where(some, moments.number - less, 1)
            return _narrowed(np.sqrt(values) if root else values, some, aggregation.type)

        return Function((part,), result)

    return make


def _only_value(aggregation: Aggregation, _: bool) -> Function:
    kind = to_arrow(aggregation.types[0])
    value = Chosen(aggregation.arguments[0], aggregation.filter, "first", kind)

    def result(parts: Sequence[Columns]) -> pa.Array:
        (values,), (counts,) = parts
        require_one(aggregation.shown, numbers(counts))
        return values

    return Function((value, Count(None, aggregation.filter)), result)


def _listagg(aggregation: Aggregation, _: bool) -> Function:
    text, *delimiter = aggregation.arguments
    part = Joined(text, aggregation.filter, delimiter[0] if delimiter else None)
    return Function((part,), lambda parts: parts[0][0])


def _is_floating(kind: LogicalType) -> bool:
    return kind.root in (LogicalTypeRoot.FLOAT, LogicalTypeRoot.DOUBLE)


def _narrowed(
    values: Numbers | npt.NDArray[np.float64], some: npt.NDArray[np.bool_], to: LogicalType
) -> pa.Array:
    """Return numbers in the type of the result, as Java narrows them; NULL where not `some`."""
    mask = None if some.all() else ~some
    if isinstance(to, DecimalType):
        fits = some & (np.abs(values) < 10.0 ** (to.precision - to.scale))
        return pc.cast(pa.array(np.where(fits, values, 0.0), mask=~fits), to_arrow(to))
    if not _is_floating(to) and values.dtype == np.float64:
        values = _whole(values, 32 if to.root is not LogicalTypeRoot.BIGINT else 64)
    return pa.array(values.astype(to_arrow(to).to_pandas_dtype()), mask=mask)


def _whole(values: Numbers | npt.NDArray[np.float64], bits: int) -> Numbers:
    """Return floating point numbers as whole numbers of so many bits, as Java does: cut off, at most the largest."""
    most = (1 << bits - 1) - 1
    inside = np.abs(values) < float(most)
    edges = np.where(values > 0, most, -most - 1)
    return np.where(
        inside, np.where(inside, values, 0.0).astype(np.int64), np.where(np.isnan(values), 0, edges)
    )


_INDIFFERENT: Final = frozenset({"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "SINGLE_VALUE"})
"""The functions that give the same with DISTINCT."""


def _json_array(aggregation: Aggregation) -> Results:
    return json_array_of(aggregation.types[0])


def _json_object(aggregation: Aggregation) -> Results:
    return json_object_of(aggregation.types[1])


def _bitmaps(name: str) -> dict[str, tuple[Callable[[Aggregation], Results], bool]]:
    """Return the function that gives a bitmap, and the one that gives the number of its members."""
    return {
        f"BITMAP_{name}_AGG": (lambda _: bitmaps_of(name, counts=False), False),
        f"BITMAP_{name}_CARDINALITY_AGG": (lambda _: bitmaps_of(name, counts=True), False),
    }


_IN_ORDER: Final = frozenset(
    {
        *("FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG"),
        *("JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL"),
        *("JSON_OBJECTAGG_NULL_ON_NULL", "JSON_OBJECTAGG_ABSENT_ON_NULL"),
    }
)
"""Functions of all values whose results depend on the order in which they came."""

_OF_CONTENTS: Final[dict[str, tuple[Callable[[Aggregation], Results], bool]]] = {
    "FIRST_VALUE": (lambda _: end_of(last=False), False),
    "LAST_VALUE": (lambda _: end_of(last=True), False),
    "SINGLE_VALUE": (lambda aggregation: only_value(aggregation.shown), True),
    "LISTAGG": (lambda _: joined, False),
    "COLLECT": (lambda aggregation: multiset_of(to_arrow(aggregation.type)), False),
    "PERCENTILE": (lambda aggregation: percentiles_of(aggregation.shown), False),
    **{name: make for kind in ("BUILD", "AND", "OR", "XOR") for name, make in _bitmaps(kind).items()},
    "ARRAY_AGG": (lambda aggregation: array_of(to_arrow(aggregation.type)), True),
    "JSON_ARRAYAGG_NULL_ON_NULL": (_json_array, True),
    "JSON_ARRAYAGG_ABSENT_ON_NULL": (_json_array, False),
    "JSON_OBJECTAGG_NULL_ON_NULL": (_json_object, True),
    "JSON_OBJECTAGG_ABSENT_ON_NULL": (_json_object, False),
}
"""Functions of all values of a group, and whether NULL is one; those that are among `_FUNCTIONS`, too, are of inserts
only there."""

_FUNCTIONS: Final[dict[str, Callable[[Aggregation, bool], Function]]] = {
    "COUNT": _count,
    "SUM": _sum,
    "$SUM0": _sum,
    "AVG": _average,
    "MIN": _chosen("min"),
    "MAX": _chosen("max"),
    "FIRST_VALUE": _chosen("first"),
    "LAST_VALUE": _chosen("last"),
    "SINGLE_VALUE": _only_value,
    "VAR_POP": _variance(0, root=False),
    "VAR_SAMP": _variance(1, root=False),
    "STDDEV_POP": _variance(0, root=True),
    "STDDEV_SAMP": _variance(1, root=True),
    "LISTAGG": _listagg,
}
