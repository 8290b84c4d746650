"""Stored entries as rows: the key, the window, the place in a list or map, and the bytes.

The layout is that of the handles: `keys.composite` has the keys of entries, `values.chunks` the chunks of lists, and
`values.expiry` the stamps of state with a time to live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from firesteel.common.typeinfo import from_schema
from firesteel.state.keys.composite import KEY_START, NamespaceCodec, decode_time, read_key_segment
from firesteel.state.keys.groups import StateKey, state_key_of
from firesteel.state.values.chunks import split_elements
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.expiry import STAMP_SIZE
from firesteel.state.values.schemas import Schema

_TIME_END: Final = 12
_SIZE: Final = 4
_CHUNK_NUMBER: Final = 8

Place = tuple[StateKey | None, Any, int]
"""The key, the namespace, and where they end in a composite key."""


class StoredRow(NamedTuple):
    """One value, list element, map entry or timer.

    `key` is None in broadcast state, `namespace` (a window) where there is none. `place` is an element's position, an
    entry's map key or a timer's time (milliseconds). `value` is encoded, empty for None; `stamp` is its last
    access (milliseconds) in state with a time to live.
    """

    key: StateKey | None
    namespace: Any
    place: Any
    value: bytes
    stamp: int | None


class RowReader:
    """Reads the rows of one state from its entries, by the recorded schema."""

    def __init__(self, schema: Schema, codec: NamespaceCodec) -> None:
        self._codec = codec
        self._locate = _locators[schema["scope"]]
        self._stamped = bool(schema.get("ttl"))
        kind: str = schema["kind"]
        self._rows = {"list": self._elements, "map": self._map_entries, "broadcast": self._map_entries}.get(
            kind, self._timers if kind == "timers" else self._values
        )

    def rows(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[StoredRow]:
        """Yield the rows of entries. The entries are in the order of their keys; those of a list are adjacent."""
        return self._rows(entries)

    def _values(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[StoredRow]:
        locate, codec, split = self._locate, self._codec, self._split
        for composite, data in entries:
            key, namespace, _ = locate(composite, codec)
            yield StoredRow(key, namespace, None, *split(data))

    def _map_entries(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[StoredRow]:
        locate, codec, split = self._locate, self._codec, self._split
        for composite, data in entries:
            key, namespace, end = locate(composite, codec)
            yield StoredRow(key, namespace, state_key_of(composite[end:]), *split(data))

    def _elements(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[StoredRow]:
        for prefix, chunks in groupby(entries, key=lambda entry: entry[0][:-_CHUNK_NUMBER]):
            key, namespace, _ = self._locate(prefix, self._codec)
            newest_first = [data for _, data in chunks]
            elements = (item for data in reversed(newest_first) for item in split_elements(data))
            for position, data in enumerate(elements):
                yield StoredRow(key, namespace, position, *self._split(data))

    def _timers(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[StoredRow]:
        for composite, _ in entries:
            key, namespace, _ = self._locate(composite, self._codec)
            yield StoredRow(key, namespace, decode_time(composite[KEY_START:_TIME_END]), b"", None)

    def _split(self, data: bytes) -> tuple[bytes, int | None]:
        if not self._stamped:
            return data, None
        return data[STAMP_SIZE:], int.from_bytes(data[:STAMP_SIZE], "big", signed=True)


def locate(schema: Schema, composite: bytes, codec: NamespaceCodec) -> Place:
    """Return the key and namespace in the composite key of a state's entry, and where they end."""
    return _locators[schema["scope"]](composite, codec)


def value_decoder(type_schema: dict[str, Any] | None, who: str) -> Callable[[bytes], Any]:
    """Return the decoder for values of a recorded type (None: untyped)."""
    codec = ValueCodec(None if type_schema is None else from_schema(type_schema), who)
    return codec.decode_nullable


def value_type(schema: Schema) -> dict[str, Any] | None:
    """Return the recorded type of a state's values, elements or map values; None if there is none."""
    return schema.get("value" if schema["kind"] in ("map", "broadcast") else "type")


def _locate_broadcast(_: bytes, __: NamespaceCodec) -> Place:
    return None, None, KEY_START


def _locate_keyed(composite: bytes, _: NamespaceCodec) -> Place:
    key, end = read_key_segment(composite, KEY_START)
    return key, None, end


def _locate_windowed(composite: bytes, codec: NamespaceCodec) -> Place:
    key, end = read_key_segment(composite, KEY_START)
    return key, *_namespace(composite, end, codec)


def _locate_timer(composite: bytes, codec: NamespaceCodec) -> Place:
    key, end = read_key_segment(composite, _TIME_END)
    return (key, None, end) if end == len(composite) else (key, *_namespace(composite, end, codec))


def _namespace(composite: bytes, start: int, codec: NamespaceCodec) -> tuple[Any, int]:
    body = start + _SIZE
    end = body + int.from_bytes(composite[start:body], "big")
    return codec.decode(composite[body:end]), end


_locators: Final[dict[str, Callable[[bytes, NamespaceCodec], Place]]] = {
    "broadcast": _locate_broadcast,
    "keyed": _locate_keyed,
    "windowed": _locate_windowed,
    "timers": _locate_timer,
}
