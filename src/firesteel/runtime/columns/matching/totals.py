"""Aggregates over a match that grows, a row at a time: what DEFINE compares with.

A state is never changed, because partial matches share it. NULL does not count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from firesteel.common.logical_types import DecimalType, DoubleType, FloatType, IntegerNumberType, LogicalType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.row_patterns import TotalOf, ValueAt

Row = tuple[Any, ...]
_EXACT: Final = Context(prec=200, rounding=ROUND_HALF_UP)


class Total(ABC):
    """An aggregate: `empty` is its state over no rows."""

    empty: Any = None

    @abstractmethod
    def add(self, state: Any, row: Row) -> Any:
        """Return the state with a row more."""

    @abstractmethod
    def result(self, state: Any) -> Any:
        """Return the value."""


def total_of(value: ValueAt | TotalOf) -> Total:
    """Return what adds up a value; its function is one of `ADDED_UP`."""
    if isinstance(value, ValueAt):
        return _First(value.column, value.offset)
    return _MAKERS[value.aggregation.function](value.aggregation)


class _First(Total):
    """A value of the row `offset` rows after the first one."""

    empty = ()

    def __init__(self, column: int, offset: int) -> None:
        self._column = column
        self._offset = offset

    def add(self, state: Any, row: Row) -> Any:
        return state if len(state) > self._offset else (*state, row[self._column])

    def result(self, state: Any) -> Any:
        return state[self._offset] if len(state) > self._offset else None


class _Count(Total):
    empty = 0

    def __init__(self, columns: tuple[int, ...]) -> None:
        self._columns = columns

    def add(self, state: Any, row: Row) -> Any:
        return state + all(row[column] is not None for column in self._columns)

    def result(self, state: Any) -> Any:
        return state


class _OfColumn(Total):
    def __init__(self, column: int) -> None:
        self._column = column

    def add(self, state: Any, row: Row) -> Any:
        value = row[self._column]
        return state if value is None else self._with(state, value)

    @abstractmethod
    def _with(self, state: Any, value: Any) -> Any:
        """Return the state with a value that is not NULL."""

    def result(self, state: Any) -> Any:
        return state


class _Sum(_OfColumn):
    """A sum; whole numbers wrap around, and a DECIMAL out of range is NULL."""

    def __init__(self, column: int, kind: LogicalType, nothing: Any = None) -> None:
        super().__init__(column)
        self._kind = kind
        self._nothing = nothing

    def _with(self, state: Any, value: Any) -> Any:
        if state is None:
            return value
        return _EXACT.add(state, value) if isinstance(value, Decimal) else state + value

    def result(self, state: Any) -> Any:
        return self._nothing if state is None else fitting(state, self._kind)


class _Average(_OfColumn):
    """An average, of the type of `AVG`: of whole numbers a whole one."""

    empty = (None, 0)

    def __init__(self, column: int, given: LogicalType, kind: LogicalType) -> None:
        super().__init__(column)
        self._floats = isinstance(given, FloatType | DoubleType)
        self._kind = kind

    def _with(self, state: Any, value: Any) -> Any:
        total, count = state
        if total is None:
            return value, 1
        return (_EXACT.add(total, value) if isinstance(value, Decimal) else total + value), count + 1

    def result(self, state: Any) -> Any:
        total, count = state
        if total is None:
            return None
        if isinstance(total, Decimal):
            return fitting(_EXACT.divide(total, Decimal(count)), self._kind)
        if self._floats:
            return total / count
        return fitting(abs(total) // count * (1 if total >= 0 else -1), self._kind)


class _Chosen(_OfColumn):
    """The least or the largest value; NaN is larger than all other numbers."""

    def __init__(self, column: int, *, largest: bool) -> None:
        super().__init__(column)
        self._largest = largest

    def _with(self, state: Any, value: Any) -> Any:
        if state is None:
            return value
        return value if _above(value, state) is self._largest else state


class _Edge(_OfColumn):
    """The first or the last value that is not NULL."""

    def __init__(self, column: int, *, last: bool) -> None:
        super().__init__(column)
        self._last = last

    def _with(self, state: Any, value: Any) -> Any:
        return value if self._last or state is None else state


_MAKERS: Final[dict[str, Callable[[Aggregation], Total]]] = {
    "COUNT": lambda call: _Count(call.arguments),
    "SUM": lambda call: _Sum(call.arguments[0], call.type),
    "$SUM0": lambda call: _Sum(call.arguments[0], call.type, nothing=0),
    "AVG": lambda call: _Average(call.arguments[0], call.types[0], call.type),
    "MIN": lambda call: _Chosen(call.arguments[0], largest=False),
    "MAX": lambda call: _Chosen(call.arguments[0], largest=True),
    "FIRST_VALUE": lambda call: _Edge(call.arguments[0], last=False),
    "LAST_VALUE": lambda call: _Edge(call.arguments[0], last=True),
}
ADDED_UP: Final = frozenset(_MAKERS)
"""The aggregate functions that DEFINE can use."""


def fitting(value: Any, kind: LogicalType) -> Any:
    """Return a sum or an average as a value of its type.

    >>> from firesteel.common.logical_types import IntType
    >>> fitting(2**31, IntType())
    -2147483648
    """
    if isinstance(kind, IntegerNumberType):
        half = 1 << kind.bits - 1
        return (value + half & 2 * half - 1) - half
    if isinstance(kind, DecimalType):
        fixed = _EXACT.quantize(Decimal(value), Decimal(1).scaleb(-kind.scale))
        return fixed if len(fixed.as_tuple().digits) <= kind.precision else None
    return value


def _above(one: Any, two: Any) -> bool:
    """Return whether a value is larger than another one."""
    if one != one or two != two:
        return bool(one != one and two == two)
    return bool(one > two)
