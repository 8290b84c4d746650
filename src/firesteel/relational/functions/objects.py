"""Values of structured types: OBJECT_OF and OBJECT_UPDATE (Flink: ObjectOfTypeStrategy, ObjectUpdateTypeStrategy)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import Field, LogicalType, NullType, StructuredType
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Parameter, Signature
from firesteel.relational.functions.parameters import ANY, TEXT
from firesteel.relational.functions.results import constant

_STRUCTURED: Final = Parameter(
    "<STRUCTURED_TYPE>", lambda given: given if isinstance(given, StructuredType) else None, NullType()
)


def attributes(operands: Sequence[Expression]) -> dict[str, Expression] | None:
    """Return names and values, which follow each other; None if a name is no constant or is there twice."""
    names = [constant(part) for part in operands[0::2]]
    texts = [name for name in names if isinstance(name, str)]
    if len(operands) % 2 or len(texts) < len(names) or len(set(texts)) < len(texts):
        return None
    return dict(zip(texts, operands[1::2], strict=True))


def _types(operands: Sequence[Expression]) -> Sequence[LogicalType]:
    return [part.type for part in operands]


def _made(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    known = isinstance(constant(operands[0]), str) and attributes(operands[1:])
    return _types(operands) if known else None


def _object(operands: Sequence[Expression]) -> LogicalType:
    found = attributes(operands[1:])
    assert found is not None
    fields = tuple(Field(name, value.type) for name, value in found.items())
    return StructuredType(fields, str(constant(operands[0])))


def _changed(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    given, found = operands[0].type, attributes(operands[1:])
    if found is None or not isinstance(given, StructuredType):
        return None
    names = {attribute.name for attribute in given.attributes}
    return _types(operands) if set(found) <= names else None


def _update(operands: Sequence[Expression]) -> LogicalType:
    given, found = operands[0].type, attributes(operands[1:])
    assert found is not None
    assert isinstance(given, StructuredType)
    fields = (
        Field(attribute.name, found[attribute.name].type) if attribute.name in found else attribute
        for attribute in given.attributes
    )
    return StructuredType(tuple(fields), given.class_name)


OBJECTS: Final = (
    Function(
        "OBJECT_OF",
        (Signature((TEXT, ANY), _object, optional=1, repeated=True, together=_made),),
        strict=False,
    ),
    Function(
        "OBJECT_UPDATE",
        (Signature((_STRUCTURED, ANY), _update, optional=1, repeated=True, together=_changed),),
    ),
)
