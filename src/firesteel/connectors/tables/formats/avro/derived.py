"""The schema of Avro that a row type has (Flink: AvroSchemaConverter)."""

from __future__ import annotations

import json
from typing import Any, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    DecimalType,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
)
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType, TimeType

_R = LogicalTypeRoot
_NAME: Final = "org.apache.flink.avro.generated.record"
_MILLIS, _MICROS = 3, 6
_PLAIN: Final[dict[LogicalTypeRoot, str]] = {
    _R.NULL: "null",
    _R.BOOLEAN: "boolean",
    **dict.fromkeys((_R.TINYINT, _R.SMALLINT, _R.INTEGER), "int"),
    _R.BIGINT: "long",
    _R.FLOAT: "float",
    _R.DOUBLE: "double",
    **dict.fromkeys((_R.CHAR, _R.VARCHAR), "string"),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), "bytes"),
}


def schema_of_row(row: RowType, legacy: bool) -> str:
    """Return the schema of rows as JSON. Raises UnsupportedError for a type that Avro lacks.

    With `legacy`, a TIMESTAMP is what Avro calls a timestamp, which is a point on the time line; otherwise it is a
    local-timestamp, and a TIMESTAMP_LTZ is a timestamp.

    >>> from firesteel.common.logical_types import parse_type
    >>> schema_of_row(parse_type("ROW<n INT NOT NULL> NOT NULL"), True)
    '{"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":[{"name":"n","type":"int"}]}'
    """
    space, _, name = _NAME.rpartition(".")
    schema = {"type": "record", "name": name, "namespace": space, **_Names(legacy).fields(row, name)}
    return json.dumps(schema if not row.nullable else ["null", schema], separators=(",", ":"))


class _Names:
    """Derives schemas; a record within another has the other's name, and its own after a `_`."""

    def __init__(self, legacy: bool) -> None:
        self._legacy = legacy

    def fields(self, row: RowType, name: str) -> dict[str, Any]:
        return {"fields": [self._field(field.name, field.type, name) for field in row.fields]}

    def _field(self, name: str, kind: LogicalType, row: str) -> dict[str, Any]:
        field = {"name": name, "type": self.of(kind, f"{row}_{name}")}
        return {**field, "default": None} if kind.nullable else field

    def of(self, kind: LogicalType, name: str) -> Any:
        found = self._value(kind, name)
        return ["null", found] if kind.nullable and found != "null" else found

    def _value(self, kind: LogicalType, name: str) -> Any:
        if isinstance(kind, RowType):
            return {"type": "record", "name": name, **self.fields(kind, name)}
        if isinstance(kind, ArrayType):
            return {"type": "array", "items": self.of(kind.element, name)}
        if isinstance(kind, MapType | MultisetType):
            return {"type": "map", "values": self.of(value_of_map(kind), name)}
        if isinstance(kind, DecimalType):
            return {
                "type": "bytes",
                "logicalType": "decimal",
                "precision": kind.precision,
                "scale": kind.scale,
            }
        if kind.root is _R.DATE:
            return {"type": "int", "logicalType": "date"}
        if isinstance(kind, TimeType):
            self._require(kind.precision <= _MILLIS, kind, "TIME(3)")
            return {"type": "int", "logicalType": "time-millis"}
        if isinstance(kind, TimestampType | LocalZonedTimestampType):
            return {"type": "long", "logicalType": self._timestamp(kind)}
        self._require(kind.root in _PLAIN, kind, None)
        return _PLAIN[kind.root]

    def _timestamp(self, kind: TimestampType | LocalZonedTimestampType) -> str:
        zoned = isinstance(kind, LocalZonedTimestampType)
        if self._legacy:
            hint = "the option 'timestamp_mapping.legacy' = 'false' of the format"
            self._require(not zoned and kind.precision <= _MILLIS, kind, f"TIMESTAMP(3), or {hint}")
            return "timestamp-millis"
        self._require(kind.precision <= _MICROS, kind, "a precision of 6")
        units = "millis" if kind.precision <= _MILLIS else "micros"
        return f"{'' if zoned else 'local-'}timestamp-{units}"

    @staticmethod
    def _require(holds: bool, kind: LogicalType, instead: str | None) -> None:
        if not holds:
            hint = f"use {instead}" if instead else None
            raise UnsupportedError("is not supported by the format avro", who=f"the type {kind}", hint=hint)


def value_of_map(kind: MapType | MultisetType) -> LogicalType:
    """Return the type of a map's values. Raises UnsupportedError for keys that are no text."""
    key, value = (kind.key, kind.value) if isinstance(kind, MapType) else (kind.element, IntType())
    if not key.has_family(LogicalTypeFamily.CHARACTER_STRING):
        raise UnsupportedError(
            "is not supported by the format avro: keys must be text", who=f"the type {kind}"
        )
    return value
