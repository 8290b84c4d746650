"""Types as Arrow types, and back without loss.

Contract: `from_arrow_field(to_arrow_field(name, t))` equals `t`, with its kind of time attribute. What Arrow has no
word for (the length of CHAR, a precision, MULTISET) is in the field's metadata, under `NOTES`. A field without such
metadata, or whose Arrow type is another by now, gets the type that holds its values.

The choices, each so that numpy, pyarrow and DuckDB can compute on the column:

==================== =========================== =====================================================================
type                 Arrow                       why
==================== =========================== =====================================================================
CHAR, VARCHAR        string                      lengths are enforced where values enter
DECIMAL(p, s)        decimal128(p, s)            the same 38 digits
TIME(p)              time32[ms]                  Flink stores milliseconds, whatever the precision
TIMESTAMP(0..6)      timestamp[us]               one unit, so that columns compare without a cast; all of year 1 to 9999
TIMESTAMP(7..9)      timestamp[ns]               the digits are kept; years 1677 to 2262
TIMESTAMP_LTZ        the same, with zone UTC     the value is a point on the time line
INTERVAL YEAR, MONTH int32                       months, as Flink stores them
INTERVAL DAY, ...    duration[ms]                milliseconds, as Flink stores them
MULTISET<T>          map<T, int32>               from value to count, as Flink has it
ROW, STRUCTURED      struct
RAW                  binary                      the pickled object
VARIANT              string                      JSON, one text for equal values
BITMAP               binary                      as in `firesteel.common.bitmaps`
==================== =========================== =====================================================================
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.constructed import ArrayType, Field, MapType, MultisetType, RowType
from firesteel.common.logical_types.intervals import DayTimeIntervalType, IntervalField
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import (
    BigIntType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    SmallIntType,
    TinyIntType,
)
from firesteel.common.logical_types.parsing import parse_type
from firesteel.common.logical_types.roots import LogicalTypeRoot
from firesteel.common.logical_types.special import (
    DistinctType,
    NullType,
    ObjectIdentifier,
    StructuredType,
)
from firesteel.common.logical_types.strings import (
    BYTES,
    STRING,
    BinaryType,
    BooleanType,
    CharType,
    LengthType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.temporal import (
    AnyTimestampType,
    DateType,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    TimeType,
)

NOTES: Final = b"firesteel.type"
"""The key of a field's metadata under which is, as JSON, what Arrow cannot say of the type."""

_R = LogicalTypeRoot
_OF_LENGTH: Final[dict[str, type[LengthType]]] = {
    kind.root.name: kind for kind in (CharType, VarCharType, BinaryType, VarBinaryType)
}
_PLAIN: Final[dict[LogicalTypeRoot, pa.DataType]] = {
    **dict.fromkeys((_R.CHAR, _R.VARCHAR, _R.VARIANT), pa.string()),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY, _R.RAW, _R.BITMAP), pa.binary()),
    _R.BOOLEAN: pa.bool_(),
    _R.TINYINT: pa.int8(),
    _R.SMALLINT: pa.int16(),
    _R.INTEGER: pa.int32(),
    _R.BIGINT: pa.int64(),
    _R.FLOAT: pa.float32(),
    _R.DOUBLE: pa.float64(),
    _R.DATE: pa.date32(),
    _R.TIME_WITHOUT_TIME_ZONE: pa.time32("ms"),
    _R.INTERVAL_YEAR_MONTH: pa.int32(),
    _R.INTERVAL_DAY_TIME: pa.duration("ms"),
    _R.NULL: pa.null(),
}
_MILLISECONDS: Final = DayTimeIntervalType(IntervalField.DAY, IntervalField.SECOND, 6, 3)
_UNITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_OF_ARROW: Final[dict[int, LogicalType]] = {
    pa.null().id: NullType(),
    pa.bool_().id: BooleanType(),
    pa.int8().id: TinyIntType(),
    pa.int16().id: SmallIntType(),
    pa.int32().id: IntType(),
    pa.int64().id: BigIntType(),
    pa.uint8().id: SmallIntType(),
    pa.uint16().id: IntType(),
    pa.uint32().id: BigIntType(),
    pa.uint64().id: DecimalType(20, 0),
    pa.float16().id: FloatType(),
    pa.float32().id: FloatType(),
    pa.float64().id: DoubleType(),
    pa.string().id: STRING,
    pa.large_string().id: STRING,
    pa.string_view().id: STRING,
    pa.binary().id: BYTES,
    pa.large_binary().id: BYTES,
    pa.binary_view().id: BYTES,
    pa.date32().id: DateType(),
    pa.date64().id: DateType(),
    pa.duration("ms").id: _MILLISECONDS,
}


def to_arrow(data_type: LogicalType) -> pa.DataType:
    """Return the Arrow type of a column's values. Raises UnsupportedError for types that no column can have.

    >>> from firesteel.common.logical_types import TimestampType
    >>> to_arrow(TimestampType(3))
    TimestampType(timestamp[us])
    """
    if data_type.root in _PLAIN:
        return _PLAIN[data_type.root]
    if isinstance(data_type, DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        zone = "UTC" if isinstance(data_type, LocalZonedTimestampType) else None
        return pa.timestamp("us" if data_type.precision <= _UNITS["us"] else "ns", zone)
    if isinstance(data_type, ArrayType):
        return pa.list_(to_arrow_field("element", data_type.element))
    if isinstance(data_type, MultisetType):
        return pa.map_(_key_field(data_type.element), pa.field("value", pa.int32(), nullable=False))
    if isinstance(data_type, MapType):
        return pa.map_(_key_field(data_type.key), to_arrow_field("value", data_type.value))
    if isinstance(data_type, RowType | StructuredType):
        fields = data_type.fields if isinstance(data_type, RowType) else data_type.attributes
        return pa.struct([to_arrow_field(*field) for field in fields])
    if isinstance(data_type, DistinctType):
        return to_arrow(data_type.source)
    raise UnsupportedError("cannot be the type of a column", who=f"type {data_type}")


def to_arrow_field(name: str, data_type: LogicalType, description: str | None = None) -> pa.Field:
    """Return a field of that type, with metadata for what Arrow cannot say. Raises UnsupportedError as `to_arrow`."""
    arrow = to_arrow(data_type)
    notes = _notes(data_type, arrow)
    if description is not None:
        notes["description"] = description
    metadata = {NOTES: json.dumps(notes).encode()} if notes else None
    return pa.field(name, arrow, nullable=data_type.nullable, metadata=metadata)


def to_arrow_schema(row: RowType) -> pa.Schema:
    """Return the schema of a table with the row's fields as columns."""
    return pa.schema([to_arrow_field(*field) for field in row.fields])


def from_arrow_schema(schema: pa.Schema) -> RowType:
    """Return the row (NOT NULL) whose fields are the schema's columns.

    >>> str(from_arrow_schema(pa.schema([("n", pa.int64()), ("at", pa.timestamp("ms"))])))
    'ROW<`n` BIGINT, `at` TIMESTAMP(3)> NOT NULL'
    """
    return RowType(tuple(map(_named, schema)), nullable=False)


def from_arrow_field(field: pa.Field) -> LogicalType:
    """Return the type of a field. Raises UnsupportedError if no type can hold its values."""
    notes = _notes_of(field)
    data_type = _of_arrow(field.type)
    if "text" in notes and to_arrow(parse_type(notes["text"])) == field.type:
        data_type = parse_type(notes["text"])
    if "empty" in notes:
        data_type = _OF_LENGTH[notes["empty"]](0)
    if notes.get("multiset") and isinstance(data_type, MapType):
        data_type = MultisetType(data_type.key)
    if "structured" in notes and isinstance(data_type, RowType):
        data_type = _structured(data_type, notes["structured"])
    if "kind" in notes and isinstance(data_type, AnyTimestampType):
        data_type = replace(data_type, kind=TimestampKind[notes["kind"]])
    nullable = notes.get("nullable", field.nullable) or isinstance(data_type, NullType)
    for names, description in reversed(notes.get("distinct", [])):
        data_type = DistinctType(ObjectIdentifier(*names), data_type.copy(nullable=True), description)
    return data_type.copy(nullable=nullable)


def _notes_of(field: pa.Field) -> dict[str, Any]:
    text = (field.metadata or {}).get(NOTES)
    return {} if text is None else dict(json.loads(text))


def _named(field: pa.Field) -> Field:
    return Field(field.name, from_arrow_field(field), _notes_of(field).get("description"))


def _key_field(data_type: LogicalType) -> pa.Field:
    """Return the field of a map's keys: Arrow has them NOT NULL, whatever the type says."""
    field = to_arrow_field("key", data_type)
    if not data_type.nullable:
        return field
    notes = {**_notes_of(field), "nullable": True}
    return field.with_nullable(False).with_metadata({NOTES: json.dumps(notes)})


def _notes(data_type: LogicalType, arrow: pa.DataType) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    while isinstance(data_type, DistinctType):
        name = data_type.identifier
        notes.setdefault("distinct", []).append(
            [[name.catalog, name.database, name.name], data_type.description]
        )
        data_type = data_type.source
    if isinstance(data_type, MultisetType):
        notes["multiset"] = True
    elif isinstance(data_type, StructuredType):
        name_parts = data_type.identifier and [*vars(data_type.identifier).values()]
        notes["structured"] = [data_type.class_name, name_parts, data_type.description]
    elif isinstance(data_type, LengthType) and not data_type.length:
        notes["empty"] = data_type.root.name
    elif not data_type.children and not isinstance(data_type, RowType):
        if _of_arrow(arrow) != data_type.copy(nullable=True):
            notes["text"] = _text(data_type)
        if isinstance(data_type, AnyTimestampType) and data_type.kind is not TimestampKind.REGULAR:
            notes["kind"] = data_type.kind.name
    return notes


def _text(data_type: LogicalType) -> str:
    return data_type.copy(nullable=True).as_serializable_string()


def _structured(row: RowType, notes: list[Any]) -> StructuredType:
    class_name, names, description = notes
    return StructuredType(row.fields, class_name, names and ObjectIdentifier(*names), description)


def _of_arrow(arrow: pa.DataType) -> LogicalType:
    """Return the type that holds the values of an Arrow type."""
    if arrow.id in _OF_ARROW:
        return _OF_ARROW[arrow.id]
    if pa.types.is_decimal(arrow) and arrow.precision <= 38 and 0 <= arrow.scale <= arrow.precision:
        return DecimalType(arrow.precision, arrow.scale)
    if pa.types.is_time(arrow):
        return TimeType(_UNITS[arrow.unit])
    if pa.types.is_timestamp(arrow):
        kind = TimestampType if arrow.tz is None else LocalZonedTimestampType
        return kind(_UNITS[arrow.unit])
    if pa.types.is_fixed_size_binary(arrow) and arrow.byte_width:
        return BinaryType(arrow.byte_width)
    if pa.types.is_dictionary(arrow):
        return _of_arrow(arrow.value_type)
    if pa.types.is_map(arrow):
        return MapType(from_arrow_field(arrow.key_field), from_arrow_field(arrow.item_field))
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow):
        return ArrayType(from_arrow_field(arrow.value_field))
    if pa.types.is_struct(arrow):
        return RowType(tuple(map(_named, arrow)))
    raise UnsupportedError("has no counterpart among the types of SQL", who=f"Arrow's type {arrow}")
