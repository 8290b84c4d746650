"""The JSON Schema of a row type (draft 7)."""

from __future__ import annotations

import json
from typing import Any, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    IntType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
)

_R = LogicalTypeRoot
_INTEGERS: Final = (
    *(_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT),
    *(_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME),
)
_TEXTS: Final = (
    *(_R.CHAR, _R.VARCHAR),
    *(_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE),
)
_SINGLE: Final[dict[LogicalTypeRoot, dict[str, str]]] = {
    **{root: {"type": "integer"} for root in _INTEGERS},
    **{root: {"type": "number"} for root in (_R.FLOAT, _R.DOUBLE, _R.DECIMAL)},
    **{root: {"type": "string"} for root in _TEXTS},
    **{root: {"type": "string", "contentEncoding": "base64"} for root in (_R.BINARY, _R.VARBINARY)},
    _R.DATE: {"type": "string", "format": "date"},
    _R.TIME_WITHOUT_TIME_ZONE: {"type": "string", "format": "time"},
    _R.BOOLEAN: {"type": "boolean"},
    _R.NULL: {"type": "null"},
}


def json_schema_of(row: RowType) -> str:
    """Return the schema of the objects that rows are written as. Raises UnsupportedError for a type that JSON lacks.

    >>> from firesteel.common.logical_types import parse_type
    >>> json_schema_of(parse_type("ROW<n INT NOT NULL> NOT NULL"))
    '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
    """
    return json.dumps(
        {"$schema": "http://json-schema.org/draft-07/schema#", **_row(row)}, separators=(",", ":")
    )


def _of(kind: LogicalType) -> dict[str, Any]:
    found = _value(kind)
    return {"oneOf": [{"type": "null"}, found]} if kind.nullable and kind.root is not _R.NULL else found


def _value(kind: LogicalType) -> dict[str, Any]:
    if isinstance(kind, RowType):
        return _row(kind)
    if isinstance(kind, ArrayType):
        return {"type": "array", "items": _of(kind.element)}
    if isinstance(kind, MapType | MultisetType):
        value = kind.value if isinstance(kind, MapType) else IntType(nullable=False)
        return {"type": "object", "additionalProperties": _of(value)}
    if kind.root not in _SINGLE:
        raise UnsupportedError("is not supported by the format json", who=f"the type {kind}")
    return _SINGLE[kind.root]


def _row(row: RowType) -> dict[str, Any]:
    required = [field.name for field in row.fields if not field.type.nullable]
    found = {"type": "object", "properties": {field.name: _of(field.type) for field in row.fields}}
    return {**found, "required": required} if required else found
