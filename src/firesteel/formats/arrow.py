"""Declared types as Arrow types, for the formats that pyarrow reads and writes."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation

_SINGLE: Final[dict[str, Any]] = {
    "STRING": pa.string(),
    "CHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "BYTE": pa.int8(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "BIG_INT": pa.decimal128(38, 0),
    "BIG_DEC": pa.decimal128(38, 18),
    "SQL_DATE": pa.date32(),
    "LOCAL_DATE": pa.date32(),
    "SQL_TIME": pa.time32("ms"),
    "LOCAL_TIME": pa.time64("us"),
    "SQL_TIMESTAMP": pa.timestamp("ms"),
    "LOCAL_DATE_TIME": pa.timestamp("us"),
}


def arrow_schema(row_type: RowTypeInfo) -> Any:
    """Return the Arrow schema of a row type. Raises UnsupportedError for a type that has no Arrow form."""
    fields = zip(row_type.get_field_names(), row_type.get_field_types(), strict=True)
    return pa.schema([pa.field(name, arrow_type(type_info)) for name, type_info in fields])


def arrow_type(type_info: TypeInformation) -> Any:
    """Return the Arrow type of a declared type.

    >>> from firesteel.common.typeinfo import Types
    >>> arrow_type(Types.LIST(Types.LONG()))
    ListType(list<item: int64>)
    """
    return _of_schema(type_info.schema())


def _of_schema(schema: dict[str, Any]) -> Any:
    kind = schema["type"]
    if "scale" in schema:
        return pa.decimal128(schema["precision"], schema["scale"])
    if kind in _SINGLE:
        return _SINGLE[kind]
    if kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE":
        return pa.binary()
    if kind in {"PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "LIST"}:
        return pa.list_(_of_schema(schema["element"]))
    if kind == "MAP":
        return pa.map_(_of_schema(schema["key"]), _of_schema(schema["value"]))
    if kind == "ROW":
        fields = zip(schema["names"], schema["fields"], strict=True)
        return pa.struct([pa.field(name, _of_schema(field)) for name, field in fields])
    raise UnsupportedError(
        "is not supported in columnar files",
        who=f"the type {kind}",
        hint="use numbers, texts, times, arrays, maps and rows of them",
    )
