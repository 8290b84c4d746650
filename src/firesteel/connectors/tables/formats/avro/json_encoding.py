"""Avro's JSON encoding of records: to and from its binary encoding (Java: JsonDecoder, JsonEncoder).

A record is an object with all of its fields, in any order; other fields are passed over. A value of a union that is not
null is an object with its type as the first key. Bytes are a text of Latin-1. Unions are those of a type with null.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any, Final

from firesteel.common.typeinfo.java_text import double_text, float32, float_text
from firesteel.connectors.tables.formats.avro.schema import AvroType

Convert = Callable[[Any], Any]

_BITS: Final = {"int": 32, "long": 64}
_FIRST_OF_PAIRS: Final = 0x10000
_ESCAPED: Final = {
    **{code: f"\\u{code:04X}" for code in range(0x20)},
    **{ord(char): f"\\{name}" for char, name in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)},
}


class _Object(list[tuple[str, Any]]):
    """An object of JSON: its keys, of which one may come twice, and their values."""


class NoRecordError(ValueError):
    """A text that is no record of the schema."""


class JsonTranscoder:
    """Translates single records of a schema; not picklable.

    >>> from firesteel.connectors.tables.formats.avro.schema import parse_schema
    >>> text = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": ["null", "int"]}]}'
    >>> transcoder = JsonTranscoder(text, parse_schema(text, "t"))
    >>> transcoder.to_binary(b'{"n": {"int": 1}}'), transcoder.to_json(bytes([2, 2]))
    (b'\\x02\\x02', b'{"n":{"int":1}}')
    """

    def __init__(self, schema: str, tree: AvroType) -> None:
        from fastavro.schema import parse_schema

        self._schema = parse_schema(_plain(json.loads(schema)))
        self._value = _reader(tree)
        self._text = _writer(tree)
        self._decode = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_Object).raw_decode

    def to_binary(self, message: bytes) -> bytes:
        """Return a record in the binary encoding. Raises NoRecordError; what follows the record is not looked at."""
        from fastavro import schemaless_writer

        try:
            found, _ = self._decode(message.decode().lstrip(" \t\r\n"))
        except ValueError as error:
            raise NoRecordError(f"it is no JSON: {error}") from error
        data = io.BytesIO()
        schemaless_writer(data, self._schema, self._value(found))
        return data.getvalue()

    def to_json(self, data: bytes) -> bytes:
        """Return the text of a record."""
        from fastavro import schemaless_reader

        text: str = self._text(schemaless_reader(io.BytesIO(data), self._schema, None))
        return text.encode("utf-8", "replace")


def _plain(node: Any) -> Any:
    """Return a schema without logical types, so that values are what is stored."""
    if isinstance(node, list):
        return [*map(_plain, node)]
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items() if key != "logicalType"}
    return node


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _label(schema: AvroType) -> str:
    return schema.name or schema.kind


def _reader(schema: AvroType) -> Convert:
    """Return what makes of a value of JSON the one that fastavro writes."""
    if schema.kind == "union":
        return _union_reader(schema.without_null())
    if schema.kind == "record":
        fields = {field.name: _reader(field.type) for field in schema.fields}
        return lambda value: _record(value, fields)
    if schema.kind == "array":
        item = _reader(schema.parts[0])
        return lambda value: [*map(item, _expect(value, list, "an array"))]
    if schema.kind == "map":
        item = _reader(schema.parts[0])
        return lambda value: {key: item(one) for key, one in _expect(value, _Object, "a map")}
    return _SINGLE[schema.kind]


def _union_reader(inner: AvroType) -> Convert:
    label, read = _label(inner), _reader(inner)

    def value_of(value: Any) -> Any:
        if value is None:
            return None
        branch, inside = value[0] if type(value) is _Object and value else (None, None)
        if branch not in (label, "null"):
            raise NoRecordError(f"it has {_shown(value)} where {{{json.dumps(label)}: ...}} or null is read")
        return read(inside) if branch == label else _null(inside)

    return value_of


def _record(value: Any, fields: dict[str, Convert]) -> dict[str, Any]:
    given = dict(
        reversed(_expect(value, _Object, "a record"))
    )  # of two fields with one name the first one counts
    missing = [name for name in fields if name not in given]
    if missing:
        raise NoRecordError(f"it has no field {', '.join(missing)}")
    return {name: read(given[name]) for name, read in fields.items()}


def _expect(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise NoRecordError(f"it has {_shown(value)} where {what} is read")
    return value


def _shown(value: Any) -> str:
    return json.dumps(value if type(value) is not _Object else dict(value))[:100]


def _whole(kind: str) -> Convert:
    limit = 1 << (_BITS[kind] - 1)

    def value_of(value: Any) -> int:
        if type(value) not in (int, float) or not -limit <= value < limit:
            raise NoRecordError(f"it has {_shown(value)} where {kind} is read")
        return int(value)

    return value_of


def _floating(value: Any) -> float:
    if type(value) not in (int, float):
        raise NoRecordError(f"it has {_shown(value)} where a number is read")
    return float(value)


def _bytes(value: Any) -> bytes:
    text: str = _expect(value, str, "a text of bytes")
    return text.encode("latin-1", "replace")


def _null(value: Any) -> None:
    if value is not None:
        raise NoRecordError(f"it has {_shown(value)} where null is read")


_SINGLE: Final[dict[str, Convert]] = {
    "null": _null,
    "boolean": lambda value: _expect(value, bool, "true or false"),
    "int": _whole("int"),
    "long": _whole("long"),
    "float": lambda value: float32(_floating(value)),
    "double": _floating,
    "bytes": _bytes,
    "string": lambda value: _expect(value, str, "a text"),
}


def _writer(schema: AvroType) -> Callable[[Any], str]:
    """Return what makes of a value, as fastavro reads it, a text."""
    if schema.kind == "union":
        inner = schema.without_null()
        label, write = _quoted(_label(inner)), _writer(inner)
        return lambda value: "null" if value is None else f"{{{label}:{write(value)}}}"
    if schema.kind == "record":
        fields = [(field.name, _quoted(field.name), _writer(field.type)) for field in schema.fields]
        return lambda value: f"{{{','.join(f'{key}:{write(value[name])}' for name, key, write in fields)}}}"
    if schema.kind == "array":
        item = _writer(schema.parts[0])
        return lambda value: f"[{','.join(map(item, value))}]"
    if schema.kind == "map":
        item = _writer(schema.parts[0])
        return lambda value: f"{{{','.join(f'{_quoted(key)}:{item(one)}' for key, one in value.items())}}}"
    return _TEXTS[schema.kind]


def _quoted(text: str) -> str:
    """Return a text with its quotes, as Jackson writes it: characters that Java stores as two are escaped."""
    escaped = text.translate(_ESCAPED)
    if escaped.isascii() or max(escaped) < chr(_FIRST_OF_PAIRS):
        return f'"{escaped}"'
    return f'"{"".join(map(_as_pair, escaped))}"'


def _as_pair(char: str) -> str:
    if ord(char) < _FIRST_OF_PAIRS:
        return char
    high, low = divmod(ord(char) - _FIRST_OF_PAIRS, 0x400)
    return f"\\u{0xD800 + high:04X}\\u{0xDC00 + low:04X}"


def _number(text: str) -> str:
    return text if text[-1].isdigit() else f'"{text}"'


_TEXTS: Final[dict[str, Callable[[Any], str]]] = {
    "null": lambda _: "null",
    "boolean": lambda value: "true" if value else "false",
    "int": str,
    "long": str,
    "float": lambda value: _number(float_text(value)),
    "double": lambda value: _number(double_text(value)),
    "bytes": lambda value: _quoted(value.decode("latin-1")),
    "string": _quoted,
}
