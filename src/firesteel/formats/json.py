"""Values of declared types as JSON and back (Flink: JsonRowDeserializationSchema, JsonRowSerializationSchema)."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import msgspec

from firesteel.common.errors import TypeMismatchError, UnsupportedError
from firesteel.common.time import Instant
from firesteel.common.typeinfo.composite import row_names
from firesteel.common.typeinfo.java_text import float32
from firesteel.common.types import Row, make_row

Convert = Callable[[Any], Any]
Schema = dict[str, Any]

WHOLE_NUMBERS: Final = {"BYTE": 8, "SHORT": 16, "INT": 32, "LONG": 64}
"""How many bits whole numbers of a type have."""
_ZERO_FRACTION: Final = re.compile(r"\.?0+$")
_ARRAYS: Final = frozenset({"PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "LIST"})


def from_json(schema: Schema, strict: bool = False, lenient: bool = False) -> Convert:
    """Return a function from parsed JSON to a value of the type with this schema; floats are parsed as Decimal.

    `strict` raises TypeMismatchError for a missing field of a row, which is None otherwise. `lenient` turns a field
    that does not fit into None; otherwise TypeMismatchError is raised. As in Flink, texts that contain numbers are
    accepted as numbers.
    """
    convert = _reader(schema, strict, lenient)
    return lambda value: None if value is None else convert(value)


def _reader(schema: Schema, strict: bool, lenient: bool) -> Convert:
    kind = schema["type"]
    if kind == "ROW":
        return _row_reader(schema, strict, lenient)
    if kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE":
        return _checked("base64 text", base64.b64decode)
    if kind in _ARRAYS:
        element = from_json(schema["element"], strict, lenient)
        return lambda value: [element(item) for item in _expect(list, "an array", value)]
    if kind == "MAP":
        of_value = from_json(schema["value"], strict, lenient)
        of_key = from_json(schema["key"], strict, lenient)
        return lambda value: {
            of_key(key): of_value(item) for key, item in _expect(dict, "an object", value).items()
        }
    if kind in WHOLE_NUMBERS:
        return _checked(f"a whole number of {WHOLE_NUMBERS[kind]} bits", _whole_reader(WHOLE_NUMBERS[kind]))
    if kind in _READERS:
        return _checked(*_READERS[kind])
    raise UnsupportedError("is not supported as JSON", who=f"the type {kind}")


def _row_reader(schema: Schema, strict: bool, lenient: bool) -> Convert:
    names = row_names(schema)
    fields = [
        (name, from_json(field, strict, lenient)) for name, field in zip(names, schema["fields"], strict=True)
    ]

    def read(value: Any) -> Row:
        found = _expect(dict, "an object", value)
        values = []
        for name, convert in fields:
            if strict and name not in found:
                raise TypeMismatchError(f"requires a field {name!r}", who="JSON", got=_shown(value))
            try:
                values.append(convert(found.get(name)))
            except TypeMismatchError:
                if not lenient:
                    raise
                values.append(None)
        return make_row(names, values)

    return read


def _expect(kind: type, what: str, value: Any) -> Any:
    if isinstance(value, kind):
        return value
    raise TypeMismatchError(f"requires {what}", who="JSON", got=_shown(value))


def _checked(what: str, convert: Convert) -> Convert:
    def read(value: Any) -> Any:
        try:
            return convert(value)
        except (ValueError, ArithmeticError, TypeError, AttributeError) as error:
            raise TypeMismatchError(f"requires {what}", who="JSON", got=_shown(value)) from error

    return read


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return JSON.encode(value).decode()


def _whole_reader(bits: int) -> Convert:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(value: Any) -> int:
        number = int(value.strip()) if isinstance(value, str) else int(_number(value))
        if not low <= number <= high:
            raise ValueError(number)
        return number

    return read


def _number(value: Any) -> int | Decimal:
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return value
    raise ValueError(value)


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else _text(value).strip().lower() == "true"


def _decimal(value: Any) -> Decimal:
    return Decimal(value.strip() if isinstance(value, str) else _number(value))


def _clock(text: str) -> dt.time:
    time = dt.time.fromisoformat(text)
    if time.utcoffset() not in (None, dt.timedelta(0)):
        raise ValueError(text)
    return time.replace(tzinfo=None)


def _timestamp(text: str) -> dt.datetime:
    time = dt.datetime.fromisoformat(text)
    return time if time.tzinfo is None else time.astimezone(dt.UTC).replace(tzinfo=None)


def _instant(text: str) -> Instant:
    since = _timestamp(text) - dt.datetime(1970, 1, 1)
    return Instant(since.days * 86_400 + since.seconds, since.microseconds * 1000)


_READERS: Final[dict[str, tuple[str, Convert]]] = {
    "STRING": ("a text", _text),
    "CHAR": ("a character", _text),
    "BOOLEAN": ("true or false", _boolean),
    "FLOAT": ("a number", lambda value: float32(float(value))),
    "DOUBLE": ("a number", float),
    "BIG_INT": ("a whole number", lambda value: int(_decimal(value))),
    "BIG_DEC": ("a number", _decimal),
    "SQL_DATE": ("a date such as 2020-01-31", dt.date.fromisoformat),
    "LOCAL_DATE": ("a date such as 2020-01-31", dt.date.fromisoformat),
    "SQL_TIME": ("a time such as 23:59:59Z", _clock),
    "LOCAL_TIME": ("a time such as 23:59:59Z", _clock),
    "SQL_TIMESTAMP": ("a time such as 2020-01-31T23:59:59Z", _timestamp),
    "LOCAL_DATE_TIME": ("a time such as 2020-01-31T23:59:59Z", _timestamp),
    "INSTANT": ("a time such as 2020-01-31T23:59:59Z", _instant),
    "PICKLED_BYTE_ARRAY": ("any value", lambda value: _plain(value)),
}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def to_json(schema: Schema) -> Convert:
    """Return a function from a value of the type with this schema to what `JSON.encode` takes."""
    convert = _writer(schema)
    return lambda value: None if value is None else convert(value)


def _writer(schema: Schema) -> Convert:
    kind = schema["type"]
    if kind == "ROW":
        names = row_names(schema)
        fields = [to_json(field) for field in schema["fields"]]
        return lambda row: {
            name: convert(value) for name, convert, value in zip(names, fields, row, strict=True)
        }
    if kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE":
        return lambda value: base64.b64encode(value).decode()
    if kind in _ARRAYS:
        element = to_json(schema["element"])
        return lambda value: [element(item) for item in value]
    if kind == "MAP":
        of_value = to_json(schema["value"])
        return lambda value: {_text(key): of_value(item) for key, item in value.items()}
    if kind in _WRITERS:
        return _WRITERS[kind]
    if kind in WHOLE_NUMBERS or kind in _READERS:
        return lambda value: value
    raise UnsupportedError("is not supported as JSON", who=f"the type {kind}")


def _clock_text(time: dt.time | dt.datetime) -> str:
    text = f"{time:%H:%M:%S}"
    return f"{text}{_ZERO_FRACTION.sub('', f'.{time.microsecond:06d}')}Z"


def _timestamp_text(time: dt.datetime) -> str:
    return f"{time.year:04d}-{time:%m-%d}T{_clock_text(time)}"


def _instant_text(value: Instant) -> str:
    time = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    return _timestamp_text(time)


_WRITERS: Final[dict[str, Convert]] = {
    "SQL_DATE": dt.date.isoformat,
    "LOCAL_DATE": dt.date.isoformat,
    "SQL_TIME": _clock_text,
    "LOCAL_TIME": _clock_text,
    "SQL_TIMESTAMP": _timestamp_text,
    "LOCAL_DATE_TIME": _timestamp_text,
    "INSTANT": _instant_text,
}

JSON: Final = msgspec.json.Encoder(decimal_format="number")
"""The encoder for the values that `to_json` returns."""
