"""Keys as canonical bytes: equal keys have equal bytes on every machine and in every Python (unlike with pickle).

Format: one tag byte, then the value. The bytes of strings and integers have the order of their values; tags order the
kinds. Flat tuples of plain values are msgpack (one call into C); every other compound is a sequence of length-prefixed
encodings. A value has exactly one encoding, because the form depends on its type and value alone.
"""

from __future__ import annotations

import datetime as dt
import importlib
import math
import struct
import sys
import uuid
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Final

import msgspec

from firesteel.common.errors import KeyEncodingError
from firesteel.common.time import Instant
from firesteel.common.types import Row, RowKind
from firesteel.state.keys.main_classes import main_class, remember_main_class

STR_TAG: Final = b"\x09"
NEGATIVE_TAG: Final = 5
NATURAL_TAG: Final = 6
_BIG_NEGATIVE, _BIG_NATURAL = b"\x04", b"\x07"
_FLOAT, _BYTES, _FLAT, _TUPLE, _LIST, _ROW, _DECIMAL = (
    b"\x08",
    b"\x0a",
    b"\x0b",
    b"\x0c",
    b"\x0d",
    b"\x0e",
    b"\x0f",
)
_DATE, _TIME, _DATETIME, _UTC, _DELTA, _UUID = b"\x10", b"\x11", b"\x12", b"\x13", b"\x14", b"\x15"
_ENUM, _DATACLASS, _NAMED_TUPLE, _INSTANT = b"\x16", b"\x17", b"\x18", b"\x19"
_BYTEARRAY, _FROZEN_SET, _SUBCLASS = b"\x1a", b"\x1b", b"\x1c"
_OF_PARTS: Final = _TUPLE + _LIST + _ROW + _FROZEN_SET
_OF_CLASSES: Final = _ENUM + _DATACLASS + _NAMED_TUPLE + _SUBCLASS

_FLAT_TYPES: Final = frozenset({str, int, bytes, bool, type(None)})
_FLAT_AND_FLOAT: Final = _FLAT_TYPES | {float}
_pack_flat = msgspec.msgpack.Encoder().encode
_unpack_flat = lru_cache(1 << 14)(msgspec.msgpack.Decoder(tuple).decode)
_pack_int: Final = struct.Struct(">BQ").pack
_unpack_int: Final = struct.Struct(">Q").unpack_from
_pack_size: Final = struct.Struct(">I").pack
_unpack_size: Final = struct.Struct(">I").unpack_from
_PLAIN_VALUES: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (bytes, bytes.__bytes__),
)
"""The plain base types of key classes, with functions that return the plain value even if a class overrides `str()`."""
_SCRIPT: Final = "__main__"
_TWO_64: Final = 1 << 64
INT_MIN: Final = -_TWO_64
INT_MAX: Final = _TWO_64 - 1
_EPOCH: Final = dt.datetime(1970, 1, 1)
_UTC_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def encode_key(key: Any) -> bytes:
    """Return the canonical bytes of a key.

    Values of different types are different keys, so 1, 1.0 and True are three keys. -0.0 is the same key as 0.0, and
    all NaN are one key. Accepts None, bool, int, float, str, bytes, tuple, list, Row, Decimal (1.0 and 1.00 differ, as
    in Java), date, time, datetime (with a zone it is restored in UTC), timedelta, Instant, UUID, bytearray, frozenset,
    Enum members, frozen dataclasses, named tuples and subclasses (without attributes) of str, int, float and bytes, all
    of importable modules or of the script itself, and numpy scalars as their Python value. Raises KeyEncodingError for
    anything else.

    >>> encode_key("a"), encode_key(1) == encode_key(True)
    (b'\\ta', False)
    """
    kind = type(key)
    if kind is str:
        try:
            return STR_TAG + key.encode()  # type: ignore[no-any-return]
        except UnicodeEncodeError:
            return STR_TAG + key.encode("utf-8", "surrogatepass")  # type: ignore[no-any-return]
    if kind is int:
        return encode_int(key)
    if kind is tuple:
        try:
            if _FLAT_TYPES.issuperset(map(type, key)):
                return _FLAT + _pack_flat(key)
            if _FLAT_AND_FLOAT.issuperset(map(type, key)):
                return _FLAT + _pack_flat([_one_zero(item) if type(item) is float else item for item in key])
        except (OverflowError, UnicodeEncodeError):
            pass  # msgpack has no form for an integer beyond 64 bits or half a surrogate pair
        return _TUPLE + _sequence(key)
    encoder = _ENCODERS.get(kind)
    return _encode_object(key) if encoder is None else encoder(key)


def decode_key(data: bytes) -> Any:
    """Return the key of an encoding, of the same type and value.

    >>> decode_key(encode_key(("a", 1, None)))
    ('a', 1, None)
    """
    return _DECODERS[data[0]](data[1:])


def encode_int(key: int) -> bytes:
    """Encode an int so that the bytes have the order of the numbers."""
    if 0 <= key < _TWO_64:
        return _pack_int(NATURAL_TAG, key)
    if -_TWO_64 <= key < 0:
        return _pack_int(NEGATIVE_TAG, key + _TWO_64)
    size = (abs(key).bit_length() + 7) // 8
    if key > 0:
        return _BIG_NATURAL + _pack_size(size) + key.to_bytes(size, "big")
    return _BIG_NEGATIVE + _pack_size(0xFFFFFFFF - size) + (key + (1 << 8 * size)).to_bytes(size, "big")


def _decode_big_negative(data: bytes) -> int:
    return int.from_bytes(data[4:], "big") - (1 << 8 * (len(data) - 4))


def _decode_str(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogatepass")


def _sequence(items: Iterable[Any]) -> bytes:
    return _sequence_of(map(encode_key, items))


def _sequence_of(encoded: Iterable[bytes]) -> bytes:
    parts = []
    for part in encoded:
        parts.append(_pack_size(len(part)))
        parts.append(part)
    return b"".join(parts)


def decoding_imports(data: bytes) -> bool:
    """Return whether `decode_key` of an encoding needs a class of a program's, which it imports.

    >>> decoding_imports(encode_key(("a", [dt.date(2024, 2, 29)])))
    False
    """
    if data[0] in _OF_PARTS:
        return any(map(decoding_imports, _parts(data[1:])))
    return data[0] in _OF_CLASSES


def _items(data: bytes) -> list[Any]:
    return list(map(decode_key, _parts(data)))


def _parts(data: bytes) -> list[bytes]:
    parts, position = [], 0
    while position < len(data):
        start = position + 4
        position = start + _unpack_size(data, position)[0]
        parts.append(data[start:position])
    return parts


def _one_zero(key: float) -> float:
    """Return the float that represents all floats of the same key."""
    return math.nan if key != key else key + 0.0


def _encode_float(key: float) -> bytes:
    return _FLOAT + struct.pack(">d", _one_zero(key))


def _encode_decimal(key: Decimal) -> bytes:
    return _DECIMAL + str(abs(key) if key.is_zero() else key).encode()


def _encode_time(key: dt.time) -> bytes:
    if key.tzinfo is not None:
        raise _refusal(key, "a time of day with a zone is not a point in time: use a datetime")
    return _TIME + key.replace(fold=0).isoformat().encode()


def _encode_datetime(key: dt.datetime) -> bytes:
    if key.utcoffset() is None:
        return _DATETIME + encode_int((key.replace(tzinfo=None) - _EPOCH) // _MICROSECOND)
    return _UTC + encode_int((key - _UTC_EPOCH) // _MICROSECOND)


def _encode_row(key: Row) -> bytes:
    names = key._fields
    return _ROW + _sequence((key.get_row_kind().value, None if names is None else tuple(names), *key))


def _decode_row(data: bytes) -> Row:
    kind, names, *values = _items(data)
    row = Row.of_kind(RowKind(kind), *values)
    if names is not None:
        row.set_field_names(list(names))
    return row


def _encode_object(key: Any) -> bytes:
    kind = type(key)
    if isinstance(key, Enum):
        name = key.name if kind.__members__.get(key.name) is key else None
        return _ENUM + _sequence((_path(key), name, None if name is not None else key.value))
    if isinstance(key, tuple) and hasattr(kind, "_make"):
        return _NAMED_TUPLE + _sequence((_path(key), *key))
    if is_dataclass(key) and kind.__dataclass_params__.frozen:
        return _DATACLASS + _sequence((_path(key), *(getattr(key, field.name) for field in fields(key))))
    plain_value = next((value for plain, value in _PLAIN_VALUES if isinstance(key, plain)), None)
    if plain_value is not None and kind.__module__ != "numpy" and not getattr(key, "__dict__", None):
        return _SUBCLASS + _sequence((_path(key), plain_value(key)))
    if kind.__module__ == "numpy" and hasattr(key, "item"):
        plain = key.item() if getattr(key, "ndim", 0) == 0 else key
        if type(plain).__module__ != "numpy":
            return encode_key(plain)
    raise _refusal(key, "return a string, a number or a tuple of them")


def _path(key: Any) -> str:
    kind = type(key)
    path = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__ == _SCRIPT and "<locals>" not in kind.__qualname__:
        remember_main_class(kind)
        return path
    if kind.__module__ == _SCRIPT or _resolve(path) is not kind:
        raise _refusal(
            key, f"move {kind.__qualname__} into a module that the workers can import, or use a tuple"
        )
    return path


def _class_of(path: str) -> Any:
    module, _, name = path.partition(":")
    return main_class(name) if module == _SCRIPT else _resolve(path)


@lru_cache(1 << 10)
def _resolve(path: str) -> Any:
    module, _, name = path.partition(":")
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _decode_enum(data: bytes) -> Any:
    path, name, value = _items(data)
    return _class_of(path)(value) if name is None else _class_of(path)[name]


def _decode_dataclass(data: bytes) -> Any:
    path, *values = _items(data)
    kind = _class_of(path)
    key = kind.__new__(kind)
    for field, value in zip(fields(kind), values, strict=True):
        object.__setattr__(key, field.name, value)
    return key


def _decode_named_tuple(data: bytes) -> Any:
    path, *values = _items(data)
    return _class_of(path)._make(values)


def _decode_subclass(data: bytes) -> Any:
    path, value = _items(data)
    return type(value).__new__(_class_of(path), value)


def _refusal(key: Any, hint: str) -> KeyEncodingError:
    kind = type(key)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return KeyEncodingError(
        "requires a key of plain values, which have a unique encoding",
        who="a key",
        got=f"a {name}: {repr(key)[:120]}",
        hint=hint,
    )


_ENCODERS: Final[dict[type, Callable[[Any], bytes]]] = {
    type(None): lambda _: b"\x01",
    bool: lambda key: b"\x03" if key else b"\x02",
    float: _encode_float,
    bytes: lambda key: _BYTES + key,
    bytearray: lambda key: _BYTEARRAY + bytes(key),
    frozenset: lambda key: _FROZEN_SET + _sequence_of(sorted(map(encode_key, key))),
    list: lambda key: _LIST + _sequence(key),
    Row: _encode_row,
    Decimal: _encode_decimal,
    dt.date: lambda key: _DATE + encode_int(key.toordinal()),
    dt.time: _encode_time,
    dt.datetime: _encode_datetime,
    dt.timedelta: lambda key: _DELTA + encode_int(key // _MICROSECOND),
    Instant: lambda key: _INSTANT + _sequence((key.seconds, key.nanos)),
    uuid.UUID: lambda key: _UUID + key.bytes,
}

_DECODERS: Final[dict[int, Callable[[bytes], Any]]] = {
    1: lambda _: None,
    2: lambda _: False,
    3: lambda _: True,
    4: _decode_big_negative,
    NEGATIVE_TAG: lambda data: _unpack_int(data)[0] - _TWO_64,
    NATURAL_TAG: lambda data: _unpack_int(data)[0],
    7: lambda data: int.from_bytes(data[4:], "big"),
    8: lambda data: struct.unpack(">d", data)[0],
    9: _decode_str,
    10: lambda data: data,
    11: _unpack_flat,
    12: lambda data: tuple(_items(data)),
    13: _items,
    14: _decode_row,
    15: lambda data: Decimal(data.decode()),
    16: lambda data: dt.date.fromordinal(decode_key(data)),
    17: lambda data: dt.time.fromisoformat(data.decode()),
    18: lambda data: _EPOCH + decode_key(data) * _MICROSECOND,
    19: lambda data: _UTC_EPOCH + decode_key(data) * _MICROSECOND,
    20: lambda data: decode_key(data) * _MICROSECOND,
    21: lambda data: uuid.UUID(bytes=data),
    22: _decode_enum,
    23: _decode_dataclass,
    24: _decode_named_tuple,
    25: lambda data: Instant(*_items(data)),
    26: bytearray,
    27: lambda data: frozenset(_items(data)),
    28: _decode_subclass,
}
