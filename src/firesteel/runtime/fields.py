"""sum, min, max, min_by and max_by as reduce functions over a field (PyFlink: KeyedStream.sum and the like).

A field is an index of a tuple, list or Row, the name of a Row's field, or 0 for a record that is itself the value. sum,
min and max keep the other fields of the first record; min_by and max_by keep the whole record, and the earlier of two
equal ones.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from firesteel.common.errors import RecordError
from firesteel.common.types import Row, copy_row
from firesteel.functions.elements import ReduceFunction

_COMBINE: Final[dict[str, Callable[[Any, Any], Any]]] = {"sum": operator.add, "min": min, "max": max}


class FieldReducer(ReduceFunction):
    """Reduces two records by one field.

    >>> FieldReducer("sum", 1).reduce(("a", 1), ("b", 2))
    ('a', 3)
    >>> FieldReducer("max_by", 1).reduce(("a", 1), ("b", 2))
    ('b', 2)
    """

    def __init__(self, method: str, position: int | str) -> None:
        self._method = method
        self._position = position
        if method in _COMBINE:
            self._combine = _COMBINE[method]

    def reduce(self, value1: Any, value2: Any) -> Any:
        if self._method == "min_by":
            return value2 if self._field(value2) < self._field(value1) else value1
        if self._method == "max_by":
            return value2 if self._field(value2) > self._field(value1) else value1
        return self._with_field(value1, self._combine(self._field(value1), self._field(value2)))

    def _field(self, value: Any) -> Any:
        if isinstance(value, tuple | list | Row):
            return value[self._position]  # type: ignore[index]
        self._require_whole(value)
        return value

    def _with_field(self, value: Any, field: Any) -> Any:
        if isinstance(value, tuple):
            position = self._position
            assert isinstance(position, int)
            changed = list(value)
            changed[position] = field
            return tuple(changed)
        if isinstance(value, list):
            changed = list(value)
            changed[self._position] = field  # type: ignore[index]
            return changed
        if isinstance(value, Row):
            row = copy_row(value, value)
            row[self._position] = field
            return row
        return field

    def _require_whole(self, value: Any) -> None:
        if self._position != 0:
            raise RecordError(
                f"requires records with a field {self._position!r} (tuples, lists or rows)",
                got=f"a {type(value).__name__}: {value!r:.80}",
                hint=f"use {self._method}(0) for plain values",
            )
