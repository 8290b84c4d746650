"""Arrays, maps and rows: how they are made, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from firesteel.common.logical_types import (
    STRING,
    ArrayType,
    BooleanType,
    Field,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    MapType,
    NullType,
    RowType,
    VariantType,
)
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Parameter, Result, Signature
from firesteel.relational.functions.parameters import (
    ANY,
    ARRAY,
    AS_BIGINT,
    AS_INT,
    AS_STRING,
    BOOLEAN,
    COLLECTION,
    MAP,
    TEXT,
    VARIANT,
    WHOLE,
)
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
    """Return the types of an array and of a value that is one of its elements or could be."""
    array, value = (part.type for part in operands)
    if not isinstance(array, ArrayType):
        return None
    wanted = array.element.copy(nullable=array.element.nullable or value.nullable)
    fits = isinstance(value, NullType) or supports_implicit_cast(value, wanted)
    return [array, array.element] if fits else None


def _with_one_more(operands: Sequence[Expression]) -> LogicalType:
    array, value = (part.type for part in operands)
    assert isinstance(array, ArrayType)
    wanted = array.element.copy(nullable=array.element.nullable or value.nullable)
    return ArrayType(wanted, nullable=any_nullable(operands))


def _first(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of the first operand, whatever the others are."""
    return operands[0].type


def _alike(kind: type[LogicalType]) -> Callable[[Sequence[Expression]], Sequence[LogicalType] | None]:
    """Return what casts operands that are all of a kind to the type that they have in common."""

    def together(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
        known = [part for part in operands if not isinstance(part.type, NullType)]
        return all_common(operands) if known and all(isinstance(part.type, kind) for part in known) else None

    return together


def _keys(operands: Sequence[Expression]) -> LogicalType:
    given = operands[0].type
    assert isinstance(given, MapType)
    return ArrayType(given.key, nullable=given.nullable)


def _values(operands: Sequence[Expression]) -> LogicalType:
    given = operands[0].type
    assert isinstance(given, MapType)
    return ArrayType(given.value, nullable=given.nullable)


def _entries(operands: Sequence[Expression]) -> LogicalType:
    given = operands[0].type
    assert isinstance(given, MapType)
    pair = RowType((Field("key", given.key), Field("value", given.value)))
    return ArrayType(pair, nullable=given.nullable)


def _of_arrays(operands: Sequence[Expression]) -> LogicalType:
    keys, values = (part.type for part in operands)
    assert isinstance(keys, ArrayType)
    assert isinstance(values, ArrayType)
    return MapType(keys.element, values.element, nullable=any_nullable(operands))


def _ordered(given: LogicalType) -> LogicalType | None:
    """Return an array whose elements have an order, None for other types."""
    if not isinstance(given, ArrayType) or given.element.children:
        return None
    return given


_ORDERED: Final = Parameter("<ARRAY of values with an order>", _ordered, ArrayType(STRING))
_ARRAYS: Final = _alike(ArrayType)
_OF_TEXTS: Final = Parameter(
    "<ARRAY of CHARACTER_STRING>",
    lambda given: (
        given
        if isinstance(given, ArrayType) and given.element.has_family(LogicalTypeFamily.CHARACTER_STRING)
        else None
    ),
    ArrayType(STRING),
)


def _function(name: str, result: Result, *parameters: Parameter, optional: int = 0) -> Function:
    return Function(name, (Signature(parameters, result, optional=optional),))


COLLECTIONS: Final = (
    Function("ARRAY", (Signature((ANY,), _array, repeated=True, together=all_common),), strict=False),
    Function("MAP", (Signature((ANY, ANY), _map, repeated=True, together=_map_types),), strict=False),
    Function("ROW", (Signature((ANY,), _row, repeated=True),), strict=False),
    Function(
        "ITEM",
        (
            Signature((ARRAY, WHOLE), element),
            Signature((MAP, ANY), element, together=None),
            Signature((VARIANT, TEXT), nullable(VariantType())),
            Signature((VARIANT, AS_BIGINT), nullable(VariantType())),
        ),
    ),
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
    _function("ARRAY_JOIN", fixed(STRING), _OF_TEXTS, AS_STRING, AS_STRING, optional=1),
    _function("ARRAY_SORT", operand(0), _ORDERED, BOOLEAN, BOOLEAN, optional=2),
    _function("ARRAY_SLICE", operand(0), ARRAY, AS_INT, AS_INT, optional=1),
    *(_function(name, element, _ORDERED) for name in ("ARRAY_MAX", "ARRAY_MIN")),
    *(
        Function(name, (Signature((ARRAY, ANY), _with_one_more, together=_with_element),), strict=False)
        for name in ("ARRAY_APPEND", "ARRAY_PREPEND")
    ),
    Function("ARRAY_REMOVE", (Signature((ARRAY, ANY), _first, together=_with_element),), strict=False),
    *(
        Function(name, (Signature((ARRAY, ARRAY), operand(0), together=_ARRAYS),))
        for name in ("ARRAY_UNION", "ARRAY_EXCEPT", "ARRAY_INTERSECT")
    ),
    Function("ARRAY_CONCAT", (Signature((ARRAY,), operand(0), repeated=True, together=_ARRAYS),)),
    Function("MAP_KEYS", (Signature((MAP,), _keys),)),
    Function("MAP_VALUES", (Signature((MAP,), _values),)),
    Function("MAP_ENTRIES", (Signature((MAP,), _entries),)),
    Function("MAP_FROM_ARRAYS", (Signature((ARRAY, ARRAY), _of_arrays),)),
    Function("MAP_UNION", (Signature((MAP,), operand(0), repeated=True, together=_alike(MapType)),)),
)
