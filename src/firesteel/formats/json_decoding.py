"""Texts of JSON to values of declared types.

Most texts have just what their type says: numbers where it has numbers, texts where it has texts. For these a class
with the row's fields is made, of which msgspec fills an object while it parses. A text that does not fit it is parsed
again, as `from_json` reads it, which decides what is accepted and what is an error. So this is faster, and else the
same. A message with six fields of 200 bytes takes 0.7 us instead of 2.5 us.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from firesteel.common.typeinfo.composite import row_names
from firesteel.common.typeinfo.java_text import float32
from firesteel.common.types import Row, make_row
from firesteel.formats.json import WHOLE_NUMBERS, Convert, Schema, from_json

NO_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError)
"""What is raised for a text that is no JSON in UTF-8."""

_SIMPLE: Final[dict[str, Any]] = {"STRING": str, "BOOLEAN": bool, "DOUBLE": float}
_LISTS: Final = frozenset({"BASIC_ARRAY", "OBJECT_ARRAY", "LIST"})


class JsonDecoder:
    """Makes values of texts; `strict` and `lenient` are those of `from_json`.

    Both methods raise an error of `NO_JSON`, or TypeMismatchError for a text that does not fit. Fields that the type
    does not name may hold bytes that are no UTF-8.

    >>> from firesteel.common.typeinfo import Types
    >>> decoder = JsonDecoder(Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()]).schema())
    >>> decoder.decode(b'{"age": "42", "city": "Rome"}'), decoder.decode(b"null")
    (Row(name=None, age=42), None)
    >>> decoder.decode_lines(b'{"age": 1}\\n{"age": 2}\\n')
    [Row(name=None, age=1), Row(name=None, age=2)]
    """

    def __init__(self, schema: Schema, strict: bool = False, lenient: bool = False) -> None:
        self._parser: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=Decimal)
        self._convert = from_json(schema, strict, lenient)
        exact = _exact_row(schema, strict)
        self._has_exact = exact is not None
        if exact is not None:
            self._filler, self._make = msgspec.json.Decoder(exact.filled), exact.convert

    def decode(self, text: bytes | str) -> Any:
        """Return the value of a text."""
        if self._has_exact:
            try:
                return self._make(self._filler.decode(text))
            except NO_JSON:
                pass  # what is wrong, or whether it may be, is decided below
        return self._convert(self._parser.decode(text))

    def decode_lines(self, block: bytes) -> list[Any]:
        """Return the values of lines; blank lines have none."""
        if self._has_exact:
            try:
                return [*map(self._make, self._filler.decode_lines(block))]
            except NO_JSON:
                pass  # as above
        return [*map(self._convert, self._parser.decode_lines(block))]


def is_exact(schema: Schema) -> bool:
    """Return whether the values that a decoder makes are of the type to the letter, so that nothing converts them.

    >>> from firesteel.common.typeinfo import Types
    >>> is_exact(Types.ROW([Types.INT()]).schema()), is_exact(Types.ROW([Types.SQL_DATE()]).schema())
    (True, False)
    """
    return _exact_row(schema, False) is not None


class _Kind(NamedTuple):
    """What msgspec fills, and how a value is made of it; None if it is one."""

    filled: Any
    convert: Convert | None


class _RowKind(NamedTuple):
    filled: type[msgspec.Struct]
    convert: Callable[[Any], Row]


def _exact_row(schema: Schema, strict: bool) -> _RowKind | None:
    """Return how rows are read exactly, None if they cannot be: then a field is of a kind that only texts stand for."""
    if schema["type"] != "ROW":
        return None
    names = row_names(schema)
    kinds = [_exact(field, strict) for field in schema["fields"]]
    fields: list[tuple[str, Any, Any]] = []
    converts: list[tuple[int, Convert]] = []
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind is None:
            return None
        default = {} if strict else {"default": None}
        fields.append((f"f{place}", kind.filled | None, msgspec.field(name=name, **default)))
        if kind.convert is not None:
            converts.append((place, kind.convert))
    filled = msgspec.defstruct("Fields", fields, gc=False)
    values_of = msgspec.structs.astuple

    def simple(found: Any) -> Row:
        return make_row(names, [*values_of(found)])

    def nested(found: Any) -> Row:
        values = [*values_of(found)]
        for place, convert in converts:
            if values[place] is not None:
                values[place] = convert(values[place])
        return make_row(names, values)

    return _RowKind(filled, nested if converts else simple)


def _exact(schema: Schema, strict: bool) -> _Kind | None:
    kind = schema["type"]
    if kind in WHOLE_NUMBERS:
        most = 1 << WHOLE_NUMBERS[kind] - 1
        return _Kind(Annotated[int, msgspec.Meta(ge=-most, le=most - 1)], None)
    if kind in _SIMPLE:
        return _Kind(_SIMPLE[kind], None)
    if kind == "FLOAT":
        return _Kind(float, float32)
    if kind == "ROW":
        row = _exact_row(schema, strict)
        return row and _Kind(row.filled, row.convert)
    if kind in _LISTS:
        element = _exact(schema["element"], strict)
        return element and _Kind(list[element.filled | None], _each(element.convert))  # type: ignore[name-defined]
    return None


def _each(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda items: [None if item is None else convert(item) for item in items]
