"""Records of Avro as rows of Parquet (Java: parquet-avro's AvroSchemaConverter)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import ProgramError, TypeMismatchError, UnsupportedError
from firesteel.connectors.tables.formats.avro.schema import AvroType, parse_schema

Convert = Callable[[Any], Any]

_SINGLE: Final = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_TIMES: Final = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", "UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", "UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
}
_KEY: Final = "parquet.avro.schema"
"""Where Java's library looks for the schema of a file."""


class AvroRows:
    """Records of a schema as rows; picklable. `arrow` is the type of the rows.

    Raises ProgramError for a schema of something else, UnsupportedError for one that refers to itself or has a union of
    several types.
    """

    def __init__(self, schema: str, who: str) -> None:
        found = parse_schema(schema, who)
        if found.kind != "record":
            raise ProgramError("requires a schema of records", who=who, got=found.kind)
        self.arrow = pa.schema(list(_arrow(found, who)), {_KEY: schema})
        self._schema = schema
        self._who = who
        self._cells: Convert | None = None
        self._record: Convert | None = None

    def __reduce__(self) -> tuple[type[AvroRows], tuple[str, str]]:
        return AvroRows, (self._schema, self._who)

    def cells(self, record: Any) -> Sequence[Any]:
        """Return the values of a record's columns. Raises TypeMismatchError for one that is not of the schema."""
        if self._cells is None:
            self._cells = self._new_cells()
        found: Sequence[Any] = self._cells(record)
        return found

    def record(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record of a row."""
        if self._record is None:
            self._record = _from_arrow(parse_schema(self._schema, self._who))
        found: dict[str, Any] = self._record(row)
        return found

    def _new_cells(self) -> Convert:
        from fastavro.schema import parse_schema as parsed
        from fastavro.validation import ValidationError, validate

        schema = parsed(json.loads(self._schema))
        convert = _to_arrow(parse_schema(self._schema, self._who))

        def cells(record: Any) -> Sequence[Any]:
            try:
                validate(record, schema)
            except ValidationError as error:
                raise TypeMismatchError(
                    "requires records that fit its schema", who=self._who, got=f"{record!r} ({error})"
                ) from error
            return [*convert(record).values()]

        return cells


def _arrow(schema: AvroType, who: str) -> pa.DataType:
    inner = schema.without_null()
    if inner.kind == "union" or inner.kind == "null":
        kinds = ", ".join(part.kind for part in schema.parts) or inner.kind
        raise UnsupportedError("is not supported in Parquet", who=f"{who}: the union of {kinds}")
    if inner.kind == "record":
        return pa.struct(
            [pa.field(one.name, _arrow(one.type, who), one.type.may_be_null) for one in inner.fields]
        )
    if inner.kind == "array":
        part = inner.parts[0]
        return pa.list_(pa.field("element", _arrow(part, who), part.may_be_null))
    if inner.kind == "map":
        part = inner.parts[0]
        return pa.map_(pa.string(), pa.field("value", _arrow(part, who), part.may_be_null))
    if inner.logical == "decimal":
        return pa.decimal128(inner.precision, inner.scale)
    if inner.kind == "fixed":
        return pa.binary(inner.size)
    return _TIMES.get((inner.kind, inner.logical or ""), _SINGLE[inner.kind])


def _same(value: Any) -> Any:
    return value


def _or_none(convert: Convert) -> Convert:
    return _same if convert is _same else lambda value: None if value is None else convert(value)


def _to_arrow(schema: AvroType) -> Convert:
    """Return what makes of a value, as fastavro takes it, one that pyarrow takes: pairs for a map."""
    inner = schema.without_null()
    if inner.kind == "record":
        fields = [(one.name, one.default, _to_arrow(one.type)) for one in inner.fields]
        return _or_none(
            lambda value: {name: convert(value.get(name, default)) for name, default, convert in fields}
        )
    if inner.kind == "array":
        item = _to_arrow(inner.parts[0])
        return _or_none(lambda value: [*map(item, value)])
    if inner.kind == "map":
        item = _to_arrow(inner.parts[0])
        return _or_none(lambda value: [(key, item(one)) for key, one in value.items()])
    return _or_none(str) if inner.logical == "uuid" else _same


def _from_arrow(schema: AvroType) -> Convert:
    """Return the inverse of `_to_arrow`: values as fastavro reads them."""
    inner = schema.without_null()
    if inner.kind == "record":
        fields = [(one.name, _from_arrow(one.type)) for one in inner.fields]
        return _or_none(lambda value: {name: convert(value[name]) for name, convert in fields})
    if inner.kind == "array":
        item = _from_arrow(inner.parts[0])
        return _or_none(lambda value: [*map(item, value)])
    if inner.kind == "map":
        item = _from_arrow(inner.parts[0])
        return _or_none(lambda value: {key: item(one) for key, one in value.items()})
    return _or_none(uuid.UUID) if inner.logical == "uuid" else _same
