"""Rows in columns as stored entries: the inverse of `row_columns`.

The columns have the same names. Of a value and its stored bytes (`value` and `value_raw`) there must be exactly one. An
untyped value that is not given as stored bytes is kept as the Python object of the column: a struct with the fields
f0, f1, ... is a tuple, any other struct a Row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.common.errors import FiresteelError, ProgramError, RecordError, TypeMismatchError
from firesteel.common.typeinfo import from_schema
from firesteel.saved.column_checks import object_from, require_fit
from firesteel.saved.columns import TypeSchema, from_column, is_untyped
from firesteel.saved.entries import value_type
from firesteel.saved.row_columns import RAW
from firesteel.saved.windows import is_window_type, window_of
from firesteel.state.keys.composite import (
    GroupHeads,
    NamespaceCodec,
    WindowedComposer,
    compose_broadcast,
    compose_keyed,
    encode_time,
    key_segment,
    namespace_segments,
)
from firesteel.state.keys.groups import (
    StateKey,
    key_group,
    state_key,
    state_key_bytes,
    state_key_of,
    user_key,
)
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.expiry import StampedCodec
from firesteel.state.values.schemas import Schema

POSITION_SIZE: Final = 8
_MOST: Final = (1 << 63) - 1
_INTEGER: Final = {"type": "LONG"}

Item = dict[str, Any]
"""A row: the value that Arrow gives for each column."""


class Written(NamedTuple):
    """One state to write: its schema, and the type of its keys (None: the type of the column).

    `now` (milliseconds) is the stamp of values with a time to live if no column gives one.
    """

    schema: Schema
    key_type: TypeSchema
    max_parallelism: int
    now: int


class RowWriter:
    """Turns the rows of a table into entries of a state, in no order.

    Entries of lists have the position (8 bytes) after the key's prefix, and hold one element each. Raises ProgramError
    for columns that are missing or of a wrong type.
    """

    def __init__(self, written: Written, columns: pa.Schema, codec: NamespaceCodec, who: str) -> None:
        self._written, self._columns, self._codec = written, columns, codec
        self._schema, self._who = written.schema, who
        self._compose = self._composer()
        keyed = self._schema["scope"] != "broadcast"
        self._key = self._state_key("key", written.key_type) if keyed else lambda _: None
        self._place = self._placer()
        self._value = self._encoder() if self._schema["kind"] != "timers" else lambda _: b""

    def entries(self, batch: pa.RecordBatch) -> Iterator[tuple[bytes, bytes]]:
        """Yield an entry for each row. Raises TypeMismatchError, which names the key of the row."""
        for item in batch.to_pylist():
            key = None
            try:
                key = self._key(item)
                yield self._compose(key, item) + self._place(item), self._value(item)
            except FiresteelError as error:
                raise self._failure(error, key) from error

    def _failure(self, error: FiresteelError, key: StateKey | None) -> FiresteelError:
        if not isinstance(error, RecordError):
            return error
        at = "" if key is None else f" at key {user_key(key)!r}"
        said = error.requirement if error.who is None else f"{error.who} {error.requirement}"
        return TypeMismatchError(f"cannot be written: {said}", who=f"{self._who}{at}", got=error.got)

    def _composer(self) -> Callable[[StateKey | None, Item], bytes]:
        state_id, scope, groups = self._schema["id"], self._schema["scope"], self._written.max_parallelism
        if scope == "broadcast":
            broadcast = compose_broadcast(state_id)
            return lambda _, __: broadcast(None)
        if scope == "keyed":
            keyed = compose_keyed(state_id, groups)
            return lambda key, _: keyed(key)
        if scope == "timers":
            return self._timer_composer(state_id, groups)
        self._require("namespace")
        windowed = WindowedComposer(state_id, groups, self._codec)
        return lambda key, item: windowed((key, self._window(item)))

    def _timer_composer(self, state_id: int, groups: int) -> Callable[[StateKey | None, Item], bytes]:
        self._require("timestamp", _INTEGER)
        heads, segment_of = GroupHeads(state_id), namespace_segments(self._codec)
        windowed = "namespace" in self._columns.names

        def compose(key: StateKey | None, item: Item) -> bytes:
            assert key is not None
            time = item["timestamp"]
            if time is None:
                raise TypeMismatchError("requires a timestamp", got="null")
            composite = heads[key_group(key, groups)] + encode_time(time) + key_segment(key)
            if not windowed or item["namespace"] is None:
                return composite
            return composite + segment_of(self._window(item))

        return compose

    def _window(self, item: Item) -> Any:
        namespace = item["namespace"]
        window = None if namespace is None else window_of(namespace)
        if window is None:
            raise TypeMismatchError("requires a window in column 'namespace'", got=repr(namespace))
        return window

    def _placer(self) -> Callable[[Item], bytes]:
        kind = self._schema["kind"]
        if kind in ("map", "broadcast"):
            map_key = self._state_key("map_key", self._schema["key"])
            return lambda item: state_key_bytes(map_key(item))
        if kind != "list":
            return lambda _: b""
        if "position" not in self._columns.names:
            return lambda _: bytes(POSITION_SIZE)
        self._require("position", _INTEGER)
        return _position

    def _state_key(self, name: str, type_schema: TypeSchema) -> Callable[[Item], StateKey]:
        column = self._one_of(name)
        if column.endswith(RAW):
            return lambda item: state_key_of(_not_null(item[column], column))
        convert = self._python_value(column, type_schema)
        if is_untyped(type_schema):
            return lambda item: state_key(convert(item[column]))
        assert type_schema is not None
        coerce = ValueCodec(from_schema(type_schema), self._who).coerce
        assert coerce is not None

        def typed(item: Item) -> StateKey:
            value = convert(item[column])
            return state_key(None if value is None else coerce(value))

        return typed

    def _encoder(self) -> Callable[[Item], bytes]:
        recorded, column, stamped = value_type(self._schema), self._one_of("value"), self._schema.get("ttl")
        stamp_of = self._stamper() if stamped else None
        if column.endswith(RAW):
            return lambda item: (
                (b"" if stamp_of is None else stamp_of(item).to_bytes(8, "big", signed=True))
                + _not_null(item[column], column)
            )
        type_info = None if recorded is None else from_schema(recorded)
        codec = (StampedCodec if stamped else ValueCodec)(type_info, self._who)
        encode = codec.encode_nullable if self._schema["kind"] in ("map", "broadcast") else codec.encode
        nullable = self._schema["kind"] in ("map", "broadcast", "list")
        convert = self._python_value(column, recorded)

        def encoded(item: Item) -> bytes:
            value = convert(item[column])
            if value is None and not nullable:
                raise TypeMismatchError("requires a value", got="null")
            return encode(value if stamp_of is None else (value, stamp_of(item)))

        return encoded

    def _stamper(self) -> Callable[[Item], int]:
        now = self._written.now
        if "last_access" not in self._columns.names:
            return lambda _: now
        self._require("last_access", _INTEGER)
        return lambda item: now if item["last_access"] is None else item["last_access"]

    def _python_value(self, column: str, type_schema: TypeSchema) -> Callable[[Any], Any]:
        found = self._columns.field(column).type
        if type_schema is None or is_untyped(type_schema):
            convert = object_from(found)
        else:
            require_fit(column, found, type_schema, self._who)
            convert = from_column(type_schema)
        return lambda value: value if value is None or convert is None else convert(value)

    def _one_of(self, name: str) -> str:
        """Return the column that holds a value, or its stored bytes."""
        found = [column for column in (name, name + RAW) if column in self._columns.names]
        if len(found) != 1:
            raise ProgramError(
                f"requires one of the columns '{name}' and '{name + RAW}'",
                who=self._who,
                got="both" if found else f"the columns {', '.join(self._columns.names)}",
                hint="drop the other one" if found else None,
            )
        if found[0].endswith(RAW) and not pa.types.is_binary(self._columns.field(found[0]).type):
            raise ProgramError(
                f"requires bytes in column '{found[0]}'",
                who=self._who,
                got=str(self._columns.field(found[0]).type),
            )
        return found[0]

    def _require(self, name: str, type_schema: dict[str, Any] | None = None) -> None:
        if name not in self._columns.names:
            raise ProgramError(
                f"requires a column '{name}'",
                who=self._who,
                got=f"the columns {', '.join(self._columns.names)}",
            )
        found = self._columns.field(name).type
        if type_schema is not None:
            require_fit(name, found, type_schema, self._who)
        elif not is_window_type(found):
            raise ProgramError(
                f"requires a struct with start and end, or with kind, in column '{name}'",
                who=self._who,
                got=str(found),
            )


def _position(item: Item) -> bytes:
    position = item["position"]
    if position is None or not 0 <= position <= _MOST:
        raise TypeMismatchError("requires a position of at least 0", got=repr(position))
    return int(position).to_bytes(POSITION_SIZE, "big")


def _not_null(value: bytes | None, column: str) -> bytes:
    if value is None:
        raise TypeMismatchError(f"requires bytes in column '{column}'", got="null")
    return value
