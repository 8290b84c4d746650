"""Parsed messages to columns (Flink: PbCodegenRowDeserializer)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import ArrayType, LogicalType, LogicalTypeRoot, MapType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.connectors.tables.formats.protobuf.checking import is_map, kind_of
from firesteel.connectors.tables.formats.stored import list_offsets

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

Values = Sequence[Any]
Build = Callable[[Values], pa.Array]
"""Makes a column of values; None is NULL."""

_UNKNOWN: Final = "UNRECOGNIZED"
"""The name of a value that an enum does not have, in Java."""

_TEXT: Final = (LogicalTypeRoot.CHAR, LogicalTypeRoot.VARCHAR)


class MessageColumns:
    """Makes the columns of a row type from messages. Not picklable.

    With `defaults`, a field that a message lacks has the default of its definition, and NULL otherwise. In proto3 a
    simple field has its default in any case, also one that is optional, as in Flink.
    """

    def __init__(self, message: Descriptor, row: RowType, defaults: bool) -> None:
        self._defaults = defaults
        self._always = _is_proto3(message)
        self._columns = [self._column(message.fields_by_name[field.name], field.type) for field in row.fields]

    def columns(self, messages: Sequence[Message]) -> list[pa.Array]:
        """Return the columns of messages. Raises ValueError for an enum that the definition does not have."""
        return [column(messages) for column in self._columns]

    def _column(self, field: FieldDescriptor, kind: LogicalType) -> Build:
        get, name = attrgetter(field.name), field.name
        if is_map(field):
            build = self._map(field, kind)
        elif field.is_repeated:
            build = self._array(field, kind)
        else:
            build = self._single(field, kind)
        simple = not field.is_repeated and kind_of(field) != "message"
        if self._defaults or (simple and self._always):
            return lambda messages: build([*map(get, messages)])
        if field.is_repeated:
            return lambda messages: build([found or None for found in map(get, messages)])
        return lambda messages: build([get(one) if one.HasField(name) else None for one in messages])

    def _single(self, field: FieldDescriptor, kind: LogicalType) -> Build:
        named, arrow = kind_of(field), to_arrow(kind)
        if isinstance(kind, RowType):
            return self._row(field.message_type, kind)
        if named == "enum":
            return _enum(field, kind)
        if named in ("uint32", "uint64"):
            return lambda values: _wrapped(values, named, arrow)
        return lambda values: pa.array(values, arrow)

    def _row(self, message: Descriptor, row: RowType) -> Build:
        inner = MessageColumns(message, row, self._defaults)
        fields = list(to_arrow(row))
        # What a message that is not there has in its fields does not matter.
        none = _empty(message)

        def build(values: Values) -> pa.Array:
            absent = pa.array([value is None for value in values], pa.bool_())
            columns = inner.columns([none() if value is None else value for value in values])
            if not fields:
                return pa.array([None if value is None else {} for value in values], to_arrow(row))
            return pa.StructArray.from_arrays(columns, fields=fields, mask=absent)

        return build

    def _array(self, field: FieldDescriptor, kind: LogicalType) -> Build:
        assert isinstance(kind, ArrayType)
        element, arrow = self._single(field, kind.element), to_arrow(kind)

        def build(values: Values) -> pa.Array:
            items = element([*chain.from_iterable(value for value in values if value)])
            return pa.ListArray.from_arrays(list_offsets(values), items, type=arrow)

        return build

    def _map(self, field: FieldDescriptor, kind: LogicalType) -> Build:
        assert isinstance(kind, MapType)
        entry, arrow = field.message_type.fields_by_name, to_arrow(kind)
        keys, items = self._single(entry["key"], kind.key), self._single(entry["value"], kind.value)

        def build(values: Values) -> pa.Array:
            pairs = [pair for value in values if value for pair in value.items()]
            both = keys([key for key, _ in pairs]), items([item for _, item in pairs])
            return pa.MapArray.from_arrays(list_offsets(values), *both, type=arrow)

        return build


def _is_proto3(message: Descriptor) -> bool:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto()
    message.file.CopyToProto(file)
    return bool(file.syntax == "proto3")


def _empty(message: Descriptor) -> Callable[[], Message]:
    from google.protobuf.message_factory import GetMessageClass

    found: Callable[[], Message] = GetMessageClass(message)
    return found


def _enum(field: FieldDescriptor, kind: LogicalType) -> Build:
    """Return what makes a column of enums: of their names, or their numbers. An unknown number raises ValueError."""
    names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
    arrow = to_arrow(kind)
    if kind.root in _TEXT:
        known = names | {None: None}
        return lambda values: pa.array([known.get(value, _UNKNOWN) for value in values], arrow)

    def build(values: Values) -> pa.Array:
        unknown = set(values) - {None, *names}
        if unknown:
            raise ValueError(f"{min(unknown)} is no number of the enum {field.enum_type.full_name}")
        return pa.array(values, arrow)

    return build


def _wrapped(values: Values, named: str, arrow: pa.DataType) -> pa.Array:
    """Return unsigned numbers as the signed ones of the same bits, as Java has them."""
    absent = [value is None for value in values]
    bits = np.array([value or 0 for value in values], named)
    return pa.array(bits.view(named.removeprefix("u")), arrow, mask=np.array(absent, np.bool_))
