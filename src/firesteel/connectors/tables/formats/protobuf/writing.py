"""Columns to messages (Flink: PbCodegenRowSerializer)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import ArrayType, LogicalType, LogicalTypeRoot, MapType, RowType
from firesteel.connectors.tables.formats.protobuf.checking import is_map, kind_of

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

Convert = Callable[[Any], Any]

_TEXT: Final = (LogicalTypeRoot.CHAR, LogicalTypeRoot.VARCHAR)
_UNSIGNED: Final = {"uint32": 0xFFFF_FFFF, "uint64": 0xFFFF_FFFF_FFFF_FFFF}


class MessageWriter:
    """Writes rows as messages. What is NULL is not set; within an array or a map it becomes a default. Not picklable.

    The default of text there is `null_text`.
    """

    def __init__(self, message: type[Message], row: RowType, null_text: str) -> None:
        self._message = message
        self._names = row.field_names
        self._columns = [
            _converter(message.DESCRIPTOR.fields_by_name[field.name], field.type, null_text)
            for field in row.fields
        ]

    def write(self, rows: pa.RecordBatch) -> pa.Array:
        """Return the message (binary) of each row. Raises TypeMismatchError if one lacks a field that it must have."""
        from google.protobuf.message import EncodeError

        columns = [
            [None if value is None else convert(value) for value in column.to_pylist(maps_as_pydicts="lossy")]
            for convert, column in zip(self._columns, rows.columns, strict=True)
        ]
        if not columns:
            return pa.array([b""] * rows.num_rows, pa.binary())
        message, names = self._message, self._names
        try:
            found = [
                message(**dict(zip(names, values, strict=True))).SerializeToString(deterministic=True)
                for values in zip(*columns, strict=True)
            ]
        except EncodeError as error:
            raise TypeMismatchError(
                "requires its fields", who="a message of Protocol Buffers", got=str(error)
            ) from error
        return pa.array(found, pa.binary())


def _converter(field: FieldDescriptor, kind: LogicalType, null_text: str) -> Convert:
    if is_map(field):
        assert isinstance(kind, MapType)
        entry = field.message_type.fields_by_name
        key = _or_default(entry["key"], kind.key, null_text)
        value = _or_default(entry["value"], kind.value, null_text)
        return lambda found: {key(one): value(item) for one, item in found.items()}
    if field.is_repeated:
        assert isinstance(kind, ArrayType)
        item = _or_default(field, kind.element, null_text)
        return lambda found: [item(one) for one in found]
    return _single(field, kind, null_text)


def _single(field: FieldDescriptor, kind: LogicalType, null_text: str) -> Convert:
    named = kind_of(field)
    if isinstance(kind, RowType):
        return _row(field.message_type, kind, null_text)
    if named == "enum":
        return _enum(field, kind)
    if named in _UNSIGNED:
        mask = _UNSIGNED[named]
        return lambda value: value & mask
    return lambda value: value


def _row(message: Descriptor, row: RowType, null_text: str) -> Convert:
    fields = [
        (field.name, _converter(message.fields_by_name[field.name], field.type, null_text))
        for field in row.fields
    ]
    return lambda found: {name: convert(found[name]) for name, convert in fields if found[name] is not None}


def _or_default(field: FieldDescriptor, kind: LogicalType, null_text: str) -> Convert:
    """Return the converter of what is in an array or a map, where no value can be missing."""
    convert = _single(field, kind, null_text)
    named = kind_of(field)
    if named == "message":
        return lambda value: {} if value is None else convert(value)
    default: Any = (
        null_text if named == "string" else b"" if named == "bytes" else False if named == "bool" else 0
    )
    if named == "enum":
        default = field.enum_type.values[0].number
    return lambda value: default if value is None else convert(value)


def _enum(field: FieldDescriptor, kind: LogicalType) -> Convert:
    """Return the converter of enums; what the enum does not have becomes its first value."""
    values = field.enum_type.values
    first = values[0].number
    known = {value.name: value.number for value in values}
    if kind.root not in _TEXT:
        known = {value.number: value.number for value in values}
    return lambda value: known.get(value, first)
