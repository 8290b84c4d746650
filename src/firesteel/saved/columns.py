"""Types and values of states as columns: the Arrow type of a declared type, and conversions in both directions.

Only the kind of a row is lost (a row from a column is an INSERT). A value that the column cannot hold raises
TypeMismatchError. FLOAT is a 64 bit column, because state keeps every bit of a value. Parts without a declared type are
shown as text.
"""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import FiresteelError, TypeMismatchError
from firesteel.common.time import Instant
from firesteel.common.typeinfo import TypeInformation, Types, from_schema
from firesteel.common.typeinfo.composite import row_names
from firesteel.common.types import Row, RowKind, field_names
from firesteel.state.keys.groups import StateKey, encode_key, user_key
from firesteel.state.values.codecs import decode_untyped
from firesteel.state.values.schemas import type_text, without_external

Convert = Callable[[Any], Any]
TypeSchema = dict[str, Any] | None

SCALE: Final = 18
"""Digits after the decimal point of a BIG_DEC column, as in Flink's DECIMAL(38, 18)."""

_ATOMS: Final[dict[str, pa.DataType]] = {
    "STRING": pa.string(),
    "CHAR": pa.string(),
    "BYTE": pa.int8(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "FLOAT": pa.float64(),
    "DOUBLE": pa.float64(),
    "BIG_INT": pa.decimal128(38, 0),
    "BIG_DEC": pa.decimal128(38, SCALE),
    "INSTANT": pa.timestamp("us", "UTC"),
    "SQL_DATE": pa.date32(),
    "SQL_TIME": pa.time64("us"),
    "SQL_TIMESTAMP": pa.timestamp("us"),
    "LOCAL_DATE": pa.date32(),
    "LOCAL_TIME": pa.time64("us"),
    "LOCAL_DATE_TIME": pa.timestamp("us"),
}
_STEP: Final = Decimal(1).scaleb(-SCALE)
_EXACT: Final = Context(prec=38, traps=[Inexact, InvalidOperation])
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
UNREADABLE: Final = (
    FiresteelError,
    ImportError,
    AttributeError,
    pickle.UnpicklingError,
    TypeError,
    EOFError,
)


def arrow_type(schema: TypeSchema) -> pa.DataType:
    """Return the type of a column of values of this type.

    >>> print(arrow_type({"type": "LIST", "element": {"type": "TUPLE", "fields": [{"type": "INT"}, None]}}))
    list<item: struct<f0: int32, f1: string>>
    """
    schema = without_external(schema)
    if schema is None:
        return pa.string()
    name = schema["type"]
    if name in _ATOMS:
        return _ATOMS[name]
    if name == "MAP":
        return pa.map_(arrow_type(schema["key"]), arrow_type(schema["value"]))
    if name in ("ROW", "TUPLE"):
        return pa.struct([(field, arrow_type(part)) for field, part in fields_of(schema)])
    return pa.binary() if is_bytes(schema) else pa.list_(arrow_type(schema["element"]))


def fields_of(schema: dict[str, Any]) -> list[tuple[str, TypeSchema]]:
    """Return the names and types of the fields of a ROW, or of a TUPLE, which are f0, f1, ..."""
    names = (
        row_names(schema) if schema["type"] == "ROW" else [f"f{at}" for at in range(len(schema["fields"]))]
    )
    return list(zip(names, schema["fields"], strict=True))


def is_bytes(schema: dict[str, Any]) -> bool:
    """Return whether the values of an array are bytes objects."""
    return schema["type"] in ("PRIMITIVE_ARRAY", "LIST") and schema["element"] == {"type": "BYTE"}


def is_untyped(schema: TypeSchema) -> bool:
    """Return whether values can be any object."""
    return without_external(schema) is None


def to_column(schema: TypeSchema) -> Convert | None:
    """Return a function from a value of this type to one that Arrow takes; None if it is one already."""
    schema = without_external(schema)
    if schema is None:
        return object_text
    name = schema["type"]
    if name in _ATOMS:
        return _TO_COLUMN.get(name)
    if name == "MAP":
        return _map_to_column(schema)
    if name in ("ROW", "TUPLE"):
        parts = [(field, _or_none(to_column(part))) for field, part in fields_of(schema)]
        return lambda value: {
            field: item if convert is None else convert(item)
            for (field, convert), item in zip(parts, value, strict=True)
        }
    item_of = None if is_bytes(schema) else _or_none(to_column(schema["element"]))
    return None if item_of is None else lambda value: list(map(item_of, value))


def from_column(schema: TypeSchema) -> Convert | None:
    """Return a function from a value that Arrow gives to one of this type; None if it is one already."""
    schema = without_external(schema)
    assert schema is not None
    name = schema["type"]
    if name in _ATOMS:
        return _FROM_COLUMN.get(name)
    if name == "MAP":
        key_of, item_of = _or_none(from_column(schema["key"])), _or_none(from_column(schema["value"]))
        return lambda pairs: {
            key if key_of is None else key_of(key): item if item_of is None else item_of(item)
            for key, item in pairs
        }
    if name in ("ROW", "TUPLE"):
        parts = [(field, _or_none(from_column(part))) for field, part in fields_of(schema)]
        return lambda value: tuple(
            value[field] if convert is None else convert(value[field]) for field, convert in parts
        )
    element = None if is_bytes(schema) else _or_none(from_column(schema["element"]))
    return None if element is None else lambda value: list(map(element, value))


def object_text(value: Any) -> str:
    """Return how an object is shown: text unchanged, everything else as Python writes it."""
    text = value if type(value) is str else repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def stored_text(data: bytes) -> str:
    """Return how an untyped object is shown, from its stored form; bytes that cannot be read here are shown as such."""
    try:
        return object_text(decode_untyped(data))
    except UNREADABLE as error:
        return f"<{len(data)} bytes that cannot be read here: {error}>".partition("\n")[0]


class KeyColumn:
    """Keys as values of a column: of a type if all of them are exactly of it, else as text."""

    def __init__(self, type_info: TypeInformation | None) -> None:
        self.schema = None if type_info is None or type_info.is_pickled else type_info.schema()
        self._convert = None if self.schema is None else _or_none(_exactly(self.schema))

    def of(self, key: StateKey | None) -> Any:
        """Return the column's value for a key. Raises TypeMismatchError if the key is not exactly of its type."""
        plain = None if key is None else user_key(key)
        return object_text(plain) if self._convert is None else self._convert(plain)


def _exactly(schema: dict[str, Any]) -> Convert:
    """Return a function from a part of a key (not None) to a value that Arrow takes.

    The function refuses a part that is not exactly of the type: written again, it would be another key.
    """
    schema = without_external(schema) or schema
    if schema["type"] in ("TUPLE", "ROW"):
        return _exact_fields(schema)
    coerce, convert = from_schema(schema).compile_coercer(), to_column(schema)

    def exact(key: Any) -> Any:
        value = coerce(key)
        if type(key) is not type(value) or (value is not key and encode_key(value) != encode_key(key)):
            raise _not_exactly(schema, key)
        return value if convert is None else convert(value)

    return exact


def _exact_fields(schema: dict[str, Any]) -> Convert:
    names = [field for field, _ in fields_of(schema)]
    parts = [(field, None if part is None else _or_none(_exactly(part))) for field, part in fields_of(schema)]
    is_row = schema["type"] == "ROW"

    def exact(key: Any) -> Any:
        fits = type(key) is (Row if is_row else tuple) and len(key) == len(names)
        if fits and isinstance(key, Row):
            fits = field_names(key) == names and key.get_row_kind() is RowKind.INSERT
        if not fits:
            raise _not_exactly(schema, key)
        return {
            field: object_text(item) if convert is None else convert(item)
            for (field, convert), item in zip(parts, key, strict=True)
        }

    return exact


def _not_exactly(schema: dict[str, Any], key: Any) -> TypeMismatchError:
    return TypeMismatchError(f"requires exactly a {type_text(schema)}", got=f"{type(key).__name__}: {key!r}")


def type_of_keys(keys: list[Any]) -> TypeInformation | None:
    """Return the type that all of these keys have; None if there is none, or if its column could not hold them.

    >>> type_of_keys([("a", 1), ("b", None)]), type_of_keys(["a", 1]), type_of_keys([])
    (TupleTypeInfo(String, Long), None, None)
    """
    kinds = {type(key) for key in keys if key is not None}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    known = [key for key in keys if key is not None]
    if kind is int:
        return Types.LONG() if all(-(2**63) <= key < 2**63 for key in known) else None
    if kind is tuple:
        return _type_of_fields(known, Types.TUPLE)
    if kind is Row:
        names = field_names(known[0])
        if any(field_names(row) != names for row in known) or names is None:
            return None
        return _type_of_fields(list(map(tuple, known)), lambda fields: Types.ROW_NAMED(list(names), fields))
    make = _KEY_TYPES.get(kind)
    return None if make is None else make()


def _type_of_fields(
    keys: list[Any], make: Callable[[list[TypeInformation]], TypeInformation]
) -> TypeInformation | None:
    if len({len(key) for key in keys}) != 1:
        return None
    types = [type_of_keys(list(column)) for column in zip(*keys, strict=True)]
    fields = [found for found in types if found is not None]
    return make(fields) if fields and len(fields) == len(types) else None


_KEY_TYPES: Final[dict[type, Callable[[], TypeInformation]]] = {
    str: Types.STRING,
    bool: Types.BOOLEAN,
    float: Types.DOUBLE,
    bytes: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    dt.date: Types.SQL_DATE,
}


def _or_none(convert: Convert | None) -> Convert | None:
    if convert is None or convert is object_text:
        return convert
    return lambda value: None if value is None else convert(value)


def _map_to_column(schema: dict[str, Any]) -> Convert:
    key_of, item_of = _or_none(to_column(schema["key"])), _or_none(to_column(schema["value"]))

    def convert(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
        if None in value and not is_untyped(schema["key"]):
            raise TypeMismatchError("cannot hold a null key", who="a map column", got=repr(value)[:120])
        return [
            (key if key_of is None else key_of(key), item if item_of is None else item_of(item))
            for key, item in value.items()
        ]

    return convert


def _decimal(value: Decimal | None) -> Decimal | None:
    try:
        return None if value is None else value.quantize(_STEP, context=_EXACT)
    except (Inexact, InvalidOperation):
        raise TypeMismatchError(f"requires a DECIMAL(38, {SCALE})", got=str(value)) from None


def _big_integer(value: int | None) -> Decimal | None:
    if value is not None and abs(value) >= 10**38:
        raise TypeMismatchError("requires a DECIMAL(38, 0)", got=str(value))
    return None if value is None else Decimal(value)


def _timestamp(value: Instant | None) -> dt.datetime | None:
    if value is None:
        return None
    if value.nanos % 1000:
        raise TypeMismatchError("requires a time of whole microseconds", got=repr(value))
    try:
        return _EPOCH + dt.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    except OverflowError:
        raise TypeMismatchError("requires a time in the years 1 to 9999", got=repr(value)) from None


def _instant(value: dt.datetime | None) -> Instant | None:
    if value is None:
        return None
    seconds, rest = divmod(value - _EPOCH, dt.timedelta(seconds=1))
    return Instant(seconds, rest.microseconds * 1000)


_TO_COLUMN: Final[dict[str, Convert]] = {
    "BIG_INT": _big_integer,
    "BIG_DEC": _decimal,
    "INSTANT": _timestamp,
}
_FROM_COLUMN: Final[dict[str, Convert]] = {
    "BIG_INT": lambda value: None if value is None else int(value),
    "INSTANT": _instant,
}
