"""The defaults of fields that a writer did not know."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from firesteel.common.logical_types import ArrayType, DecimalType, LogicalType, MapType, MultisetType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.avro.derived import value_of_map
from firesteel.connectors.tables.formats.avro.leaves import in_units
from firesteel.connectors.tables.formats.avro.schema import AvroField, AvroType
from firesteel.connectors.tables.formats.stored import stored_column


def default_column(field: AvroField, kind: LogicalType) -> pa.Array:
    """Return the default of a field as a column with one row.

    >>> from firesteel.common.logical_types import ArrayType, IntType
    >>> ints = AvroType("array", parts=(AvroType("int"),))
    >>> default_column(AvroField("n", ints, [1, 2]), ArrayType(IntType())).to_pylist()
    [[1, 2]]
    """
    return stored_column([_stored(field.default, field.type, kind)], kind)


def _stored(given: Any, avro: AvroType, kind: LogicalType) -> Any:
    """Return what a column stores for a default as the schema has it: bytes as text, each character a byte."""
    avro = avro.without_null()
    if given is None:
        return None
    if isinstance(kind, RowType):
        return tuple(
            _stored(given.get(part.name, part.default), part.type, column.type)
            for part, column in zip(avro.fields, kind.fields, strict=True)
        )
    if isinstance(kind, ArrayType):
        return [_stored(item, avro.parts[0], kind.element) for item in given]
    if isinstance(kind, MapType | MultisetType):
        value = value_of_map(kind)
        return [(key, _stored(item, avro.parts[0], value)) for key, item in given.items()]
    if avro.kind in ("bytes", "fixed"):
        data = given.encode("latin-1")
        if not isinstance(kind, DecimalType):
            return data
        return Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-avro.scale)
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        return in_units(given, avro.logical, to_arrow(kind).unit)
    return given
