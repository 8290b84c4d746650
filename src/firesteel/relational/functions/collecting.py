"""Arrays, maps and rows: how they are made, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import (
    STRING,
    ArrayType,
    BooleanType,
    Field,
    IntType,
    LogicalType,
    MapType,
    NullType,
    RowType,
)
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Signature
from firesteel.relational.functions.parameters import ANY, ARRAY, AS_STRING, COLLECTION, MAP, WHOLE
from firesteel.relational.functions.results import (
    all_common,
    any_nullable,
    common,
    element,
    fixed,
    nullable,
    operand,
)


def _array(operands: Sequence[Expression]) -> LogicalType:
    return ArrayType(operands[0].type.copy(nullable=any_nullable(operands)), nullable=False)


def _map_types(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    keys, values = common(operands[0::2]), common(operands[1::2])
    if keys is None or values is None or len(operands) % 2:
        return None
    return [keys, values] * (len(operands) // 2)


def _map(operands: Sequence[Expression]) -> LogicalType:
    key = operands[0].type.copy(nullable=any_nullable(operands[0::2]))
    value = operands[1].type.copy(nullable=any_nullable(operands[1::2]))
    return MapType(key, value, nullable=False)


def _row(operands: Sequence[Expression]) -> LogicalType:
    fields = (Field(f"EXPR${place}", part.type) for place, part in enumerate(operands))
    return RowType(tuple(fields), nullable=False)


def _with_element(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of an array and of a value that is looked for in it."""
    array = operands[0].type
    if not isinstance(array, ArrayType):
        return None
    if isinstance(operands[1].type, NullType):
        return [array, array.element]
    found = common([operands[1]])
    return None if found is None else [array, array.element]


def _keys(operands: Sequence[Expression]) -> LogicalType:
    given = operands[0].type
    assert isinstance(given, MapType)
    return ArrayType(given.key, nullable=given.nullable)


def _values(operands: Sequence[Expression]) -> LogicalType:
    given = operands[0].type
    assert isinstance(given, MapType)
    return ArrayType(given.value, nullable=given.nullable)


COLLECTIONS: Final = (
    Function("ARRAY", (Signature((ANY,), _array, repeated=True, together=all_common),), strict=False),
    Function("MAP", (Signature((ANY, ANY), _map, repeated=True, together=_map_types),), strict=False),
    Function("ROW", (Signature((ANY,), _row, repeated=True),), strict=False),
    Function("ITEM", (Signature((ARRAY, WHOLE), element), Signature((MAP, ANY), element, together=None))),
    Function("CARDINALITY", (Signature((COLLECTION,), fixed(IntType())),)),
    Function("ELEMENT", (Signature((ARRAY,), element),)),
    Function(
        "ARRAY_CONTAINS",
        (Signature((ARRAY, ANY), fixed(BooleanType()), together=_with_element),),
        strict=False,
    ),
    Function(
        "ARRAY_POSITION", (Signature((ARRAY, ANY), fixed(IntType()), together=_with_element),), strict=False
    ),
    Function("ARRAY_DISTINCT", (Signature((ARRAY,), operand(0)),)),
    Function("ARRAY_REVERSE", (Signature((ARRAY,), operand(0)),)),
    Function("ARRAY_JOIN", (Signature((ARRAY, AS_STRING, AS_STRING), nullable(STRING), optional=1),)),
    Function("MAP_KEYS", (Signature((MAP,), _keys),)),
    Function("MAP_VALUES", (Signature((MAP,), _values),)),
)
