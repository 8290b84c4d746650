"""The types of Python values, where a program gives none (PyFlink: pyflink.table.types).

Contract: a value of a class in the list has that type; rows, lists and dicts have the types of what is in them. Values
of one column must have the same type, but for None, which has any.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any, Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    Field,
    LocalZonedTimestampType,
    LogicalType,
    MapType,
    NullType,
    RowType,
    TimeType,
)
from firesteel.common.types import Row

_TYPES: Final[dict[type, LogicalType]] = {
    bool: BooleanType(),
    int: BigIntType(),
    float: DoubleType(),
    str: STRING,
    bytes: BYTES,
    bytearray: BYTES,
    Decimal: DecimalType(38, 18),
    dt.date: DateType(),
    dt.datetime: LocalZonedTimestampType(6),
    dt.time: TimeType(0),
    type(None): NullType(),
}


def type_of_class(kind: type) -> LogicalType | None:
    """Return the type of a class's values; None if it is none of the list.

    >>> str(type_of_class(int))
    'BIGINT'
    """
    return _TYPES.get(kind)


def inferred_row(elements: Sequence[Any], names: Sequence[str] = ()) -> RowType:
    """Return the type of rows; fields without a name in a row or in `names` are called _1, _2, ...

    Raises ProgramError for values that have no type, or not the same one.

    >>> str(inferred_row([(1, "Hi"), (2, None)], ["id"]))
    'ROW<`id` BIGINT, `_2` STRING> NOT NULL'
    """
    if not elements:
        raise ProgramError("requires elements, or a schema", got="no elements")
    found = reduce(_merged_rows, (_row_type(element, names) for element in elements))
    for field in found.fields:
        if _has_no_type(field.type):
            raise ProgramError(
                f"requires a value for column {field.name!r} in one of the elements, or a schema",
                got="None only",
            )
    return found.copy(nullable=False)


def named_values(element: Any) -> Iterable[tuple[str | None, Any]] | None:
    """Return the fields of a row, each with its name if it has one; None for what is no row."""
    if isinstance(element, dict):
        return sorted(element.items())
    if isinstance(element, Row | tuple | list):
        fields = getattr(element, "_fields", None) or [None] * len(element)
        return zip(fields, element, strict=True)
    if hasattr(element, "__dict__"):
        return sorted(vars(element).items())
    return None


def _row_type(element: Any, names: Sequence[str] = ()) -> RowType:
    values = named_values(element)
    if values is None:
        raise ProgramError(
            "requires elements that are rows: tuples, lists, dicts or Rows",
            got=f"a value of class {type(element).__name__}: {element!r}",
            hint="give the type of single values: from_elements([1, 2], DataTypes.INT())",
        )
    fields = [
        Field(name or (names[place] if place < len(names) else f"_{place + 1}"), _type(value))
        for place, (name, value) in enumerate(values)
    ]
    return RowType(tuple(fields))


def _type(value: Any) -> LogicalType:
    found = _TYPES.get(type(value))
    if found is not None:
        return found
    if isinstance(value, dict):
        key = _common(value)
        return MapType(
            key if isinstance(key, NullType) else key.copy(nullable=False), _common(value.values())
        )
    if isinstance(value, list):
        return ArrayType(_common(value))
    if named_values(value) is None:
        raise ProgramError(
            "requires values whose class has a type", got=f"{value!r} of class {type(value).__name__}"
        )
    return _row_type(value)


def _common(values: Iterable[Any]) -> LogicalType:
    nothing: LogicalType = NullType()
    return reduce(_merged, map(_type, values), nothing)


def _merged(one: LogicalType, other: LogicalType) -> LogicalType:
    if isinstance(one, NullType):
        return other
    if isinstance(other, NullType) or one == other:
        return one
    if isinstance(one, RowType) and isinstance(other, RowType):
        return _merged_rows(one, other)
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return ArrayType(_merged(one.element, other.element))
    if isinstance(one, MapType) and isinstance(other, MapType):
        return MapType(_merged(one.key, other.key), _merged(one.value, other.value))
    raise ProgramError(
        "requires values of one type in a column",
        got=f"{one} and {other}",
        hint="give a schema with the types",
    )


def _merged_rows(one: RowType, other: RowType) -> RowType:
    """Return the fields of both; the elements need not have all of them."""
    types = {field.name: field.type for field in one.fields}
    for field in other.fields:
        types[field.name] = _merged(types.get(field.name, NullType()), field.type)
    return RowType(tuple(Field(name, kind) for name, kind in types.items()))


def _has_no_type(kind: LogicalType) -> bool:
    return isinstance(kind, NullType) or any(map(_has_no_type, kind.children))
