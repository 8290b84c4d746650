"""State values as bytes: by their declared type if there is one, otherwise as msgpack or pickle."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from firesteel.common import pickles
from firesteel.common.errors import SerializationError
from firesteel.common.sealing import seal
from firesteel.common.typeinfo import TypeInformation, from_schema
from firesteel.state.keys import main_classes
from firesteel.state.keys.main_classes import main_class, remember_main_class

_PICKLING_FAILURES: Final = (pickle.PicklingError, AttributeError, TypeError)
_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_UNPACKABLE: Final = (OverflowError, UnicodeEncodeError)
_PICKLE_MARK: Final = 0x80  # the first byte of pickles; in msgpack it would be a map, which is never packed
_PLAIN: Final = [{"type": name} for name in ("LONG", "INT", "SHORT", "BYTE", "BOOLEAN", "DOUBLE")]
_MUTABLE: Final = frozenset(
    {"ROW", "MAP", "LIST", "PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "EXTERNAL", "PICKLED_BYTE_ARRAY"}
)
_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder().decode
_by_name_types: set[type] = set()


class ValueCodec:
    """Converts the values of one state to bytes and back.

    `coerce` gives a value the form that Flink's serializer would give it; it is None if every value is kept unchanged.
    `own` coerces and makes the stored value independent of the caller's object, `lend` makes the returned value
    independent of the stored one (None: such values are immutable). `schema` is the declared type as JSON, None for
    untyped values. A FLOAT keeps its 64 bits: PyFlink returns the value unchanged while it is in its cache, and the
    result must not depend on when epochs end.
    """

    __slots__ = ("coerce", "decode", "encode", "encode_all", "lend", "own", "schema")

    def __init__(self, type_info: TypeInformation | None, who: str) -> None:
        self.coerce: Callable[[Any], Any] | None = None
        self.own: Callable[[Any], Any] = _owned(who)
        self.lend: Callable[[Any], Any] | None = seal
        self.schema: dict[str, Any] | None = None
        self.encode: Callable[[Any], bytes] = untyped_encoder(who)
        self.encode_all: Callable[[list[Any]], Iterable[bytes]] = self._encode_all_untyped
        self.decode: Callable[[bytes], Any] = decode_untyped
        if type_info is not None and not type_info.is_pickled:
            self.schema = type_info.schema()
            kept = kept_type(type_info)
            self.coerce = self.own = kept.compile_coercer()
            self.lend = seal if _holds_mutable(self.schema) else None
            self.encode = kept.compile_encoder()
            self.encode_all = self._encode_all_plain if self.schema in _PLAIN else self._encode_all_typed
            self.decode = kept.compile_decoder()

    def encode_nullable(self, value: Any) -> bytes:
        """Encode a value or None: the values of maps can be None whatever their type (Flink: MapSerializer)."""
        return b"" if value is None else self.encode(value)

    def decode_nullable(self, data: bytes) -> Any:
        """Return the value, or None, that `encode_nullable` encoded."""
        return self.decode(data) if data else None

    def _encode_all_typed(self, values: list[Any]) -> Iterable[bytes]:
        return map(self.encode, values)

    def _encode_all_plain(self, values: list[Any]) -> Iterable[bytes]:
        """These cannot have changed since they were coerced."""
        return map(_pack, values)

    def _encode_all_untyped(self, values: list[Any]) -> Iterable[bytes]:
        if _ATOMS.issuperset(map(type, values)):
            try:
                return list(map(_pack, values))
            except _UNPACKABLE:
                pass  # one of them has no form in msgpack; below, each is encoded alone
        return map(self.encode, values)


def _holds_mutable(schema: Any) -> bool:
    """Return whether values of a type, or parts of them, are mutable."""
    if isinstance(schema, dict):
        return schema.get("type") in _MUTABLE or any(map(_holds_mutable, schema.values()))
    return isinstance(schema, list) and any(map(_holds_mutable, schema))


def kept_type(type_info: TypeInformation) -> TypeInformation:
    """Return the type in which values are kept: with DOUBLE in place of FLOAT."""
    schema = type_info.schema()
    widened = _widened(schema)
    return type_info if widened == schema else from_schema(widened)


def _widened(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_widened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema["type"] == "FLOAT":
        return {"type": "DOUBLE"}
    return {name: _widened(part) for name, part in schema.items()}


def _owned(who: str) -> Callable[[Any], Any]:
    """Return `seal` for values that `who`, a state, keeps: its error names the state."""

    def own(value: Any) -> Any:
        try:
            return seal(value)
        except SerializationError as error:
            requirement = "keeps a copy of each value, so each must be picklable"
            raise SerializationError(requirement, who=who, got=error.got, hint=error.hint) from error

    return own


def untyped_encoder(who: str) -> Callable[[Any], bytes]:
    """Return a function that encodes an untyped value. It raises SerializationError, which names `who`.

    Plain values, and tuples of them, are msgpack, which is five times as fast as pickle; other values are pickled.
    Classes of the user's script are pickled by name, because the script is not the `__main__` of a worker. Values that
    pickle refuses, such as an object whose class was created in a function, are pickled with cloudpickle.
    """
    dumps, atoms, by_name = pickle.dumps, _ATOMS, _by_name_types

    def encode(value: Any) -> bytes:
        kind = type(value)
        if kind in atoms or (kind is tuple and atoms.issuperset(map(type, value))):
            try:
                return _pack(value)
            except _UNPACKABLE:
                return dumps(value, 5)
        if kind not in by_name:
            try:
                data = dumps(value, 5)
            except Exception:  # a value's __reduce__ can raise anything
                return _encode_slowly(value, who)
            if b"__main__" not in data:
                return data
        return _encode_slowly(value, who)

    return encode


def decode_untyped(data: bytes) -> Any:
    """Return the value that an untyped encoder encoded.

    >>> decode_untyped(untyped_encoder("state 'x'")(("a", 1, None)))
    ('a', 1, None)
    """
    if data[0] == _PICKLE_MARK:
        return pickle.loads(data)
    value = _unpack(data)
    return tuple(value) if type(value) is list else value


def forget_main_classes() -> None:
    """Clear the cache of classes of the user's script: the worker may have received another program."""
    main_classes.forget_main_classes()
    _by_name_types.clear()


class _ByNamePickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type) and obj.__module__ == "__main__" and "<locals>" not in obj.__qualname__:
            return _main_class, (remember_main_class(obj),)
        return NotImplemented


def _encode_slowly(value: Any, who: str) -> bytes:
    buffer = io.BytesIO()
    try:
        _ByNamePickler(buffer, 5).dump(value)
    except Exception:  # a value's __reduce__ can raise anything
        try:
            return pickles.dumps(value)
        except Exception as error:
            raise _refusal(value, who, error) from error
    if type(value).__module__ == "__main__":
        _by_name_types.add(type(value))
    return buffer.getvalue()


def _main_class(qualname: str) -> Any:
    """Return the class of the user's script with this name in this process (called while unpickling)."""
    return main_class(qualname)


def _refusal(value: Any, who: str, error: Exception) -> SerializationError:
    return SerializationError(
        "requires values that can be pickled",
        who=who,
        got=f"a {type(value).__qualname__}: {repr(value)[:120]} ({error})",
        hint="keep plain data in state, and open connections and files in open()",
    )
