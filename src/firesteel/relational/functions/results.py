"""The types of results, as functions of the operands (Flink: ReturnTypes, SpecificTypeStrategies)."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.common.logical_types import (
    ArrayType,
    BinaryType,
    CharType,
    LogicalType,
    MapType,
    MultisetType,
    NullType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.merging import find_common_type
from firesteel.common.logical_types.strings import MAX_LENGTH, LengthType
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.functions.function import Result


def any_nullable(operands: Sequence[Expression]) -> bool:
    """Return whether one of the operands can be NULL."""
    return any(operand.type.nullable for operand in operands)


def fixed(data_type: LogicalType) -> Result:
    """Return a strategy: this type, nullable if an operand is."""
    return lambda operands: data_type.copy(nullable=any_nullable(operands))


def exactly(data_type: LogicalType) -> Result:
    """Return a strategy: this type with its nullability."""
    return lambda _: data_type


def nullable(data_type: LogicalType) -> Result:
    """Return a strategy: this type, nullable whatever the operands are."""
    return exactly(data_type.copy(nullable=True))


def operand(place: int) -> Result:
    """Return a strategy: the type of an operand, nullable if one of them is."""
    return lambda operands: operands[place].type.copy(nullable=any_nullable(operands))


def nullable_operand(place: int) -> Result:
    """Return a strategy: the type of an operand, nullable."""
    return lambda operands: operands[place].type.copy(nullable=True)


def varying(operands: Sequence[Expression]) -> LogicalType:
    """Return the first operand's type of text, which may be shorter now."""
    given = operands[0].type
    may_be_null = any_nullable(operands)
    if isinstance(given, CharType):
        return VarCharType(given.length, nullable=may_be_null)
    if isinstance(given, BinaryType):
        return VarBinaryType(given.length, nullable=may_be_null)
    return given.copy(nullable=may_be_null)


def concatenated(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of texts or bytes one after another."""
    types = [part.type for part in operands]
    assert all(isinstance(data_type, LengthType) for data_type in types)
    length = min(
        sum(data_type.length for data_type in types if isinstance(data_type, LengthType)), MAX_LENGTH
    )
    may_be_null = any_nullable(operands)
    if all(isinstance(data_type, CharType) for data_type in types):
        return CharType(length, nullable=may_be_null)
    if all(isinstance(data_type, BinaryType) for data_type in types):
        return BinaryType(length, nullable=may_be_null)
    kind = VarBinaryType if isinstance(types[0], BinaryType | VarBinaryType) else VarCharType
    return kind(length, nullable=may_be_null)


def element(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of what is at a place of an array or at a key of a map; there may be nothing."""
    given = operands[0].type
    if isinstance(given, MapType):
        return given.value.copy(nullable=True)
    assert isinstance(given, ArrayType | MultisetType)
    return given.element.copy(nullable=True)


def common(operands: Sequence[Expression]) -> LogicalType | None:
    """Return the type that the operands have in common; None if there is none."""
    types = [part.type for part in operands]
    if all(isinstance(data_type, NullType) for data_type in types):
        return NullType()
    return find_common_type(types)


def all_common(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return for each operand the type that all have in common."""
    found = common(operands)
    return None if found is None else [found] * len(operands)


def constant(operand_: Expression) -> object:
    """Return the value of a literal; None if it is another expression."""
    return operand_.value if isinstance(operand_, Literal) else None
