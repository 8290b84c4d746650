"""What a CSV file looks like, and fields of declared types as text and back (Flink: CsvToRowDataConverters)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from firesteel.common.errors import ConfigurationError, TypeMismatchError, UnsupportedError
from firesteel.common.typeinfo import RowTypeInfo, Types

_ARRAYS: Final = frozenset({"PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY", "LIST"})
_ALWAYS_QUOTED: Final = 24


@dataclass(frozen=True)
class CsvDialect:
    """How fields and records are separated; each delimiter is one character, or None for none.

    With `header` the first line of a file holds the names of the columns. It is skipped; with `strict_header` it must
    be the names of the schema in their order. `skip_first_row` skips the first line of data. `array_delimiters` are by
    column. Raises ConfigurationError for a delimiter that is not one character.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null_literal: str | None = None
    comments: bool = False
    array_delimiters: tuple[str, ...] = ()
    line_end: str = "\n"
    header: bool = False
    strict_header: bool = False
    skip_first_row: bool = False

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "escape"):
            value = getattr(self, name)
            if value is not None and len(value) != 1:
                raise ConfigurationError(f"requires a {name} of one character", who="CSV", got=repr(value))

    def array_delimiter(self, column: int) -> str:
        """Return the separator of array elements in this column."""
        return self.array_delimiters[column] if column < len(self.array_delimiters) else ";"


DEFAULT_DIALECT: Final = CsvDialect()
"""Commas, double quotes, no header."""

Read = Callable[[str], Any]


def field_readers(row_type: RowTypeInfo, dialect: CsvDialect) -> list[Read]:
    """Return, per column, the function from text to value, which raises ValueError for a text that does not fit."""
    return [
        _reader(field.schema(), dialect.array_delimiter(column), dialect.null_literal)
        for column, field in enumerate(row_type.get_field_types())
    ]


def _reader(schema: dict[str, Any], array_delimiter: str, null_literal: str | None) -> Read:
    kind = schema["type"]
    if kind in _ARRAYS and not (kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE"):
        read = _array_reader(_single(schema["element"]), array_delimiter)
    else:
        read = _single(schema)
    if null_literal is None:
        return read
    return lambda text: None if text == null_literal else read(text)


def _array_reader(read: Read, delimiter: str) -> Read:
    if not delimiter:
        return lambda text: [read(text)]
    return lambda text: [read(item) for item in text.split(delimiter)] if text else []


def _single(schema: dict[str, Any]) -> Read:
    kind = schema["type"]
    if kind == "PRIMITIVE_ARRAY":
        return str.encode
    if kind not in _READERS:
        raise UnsupportedError("is not supported in CSV", who=f"the type {kind}")
    return _READERS[kind]


def _whole(bits: int) -> Read:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(text: str) -> int:
        number = _integer(text)
        if not low <= number <= high:
            raise ValueError(f"{number} has more than {bits} bits")
        return number

    return read


def _integer(text: str) -> int:
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return int(text)


def _float(text: str) -> float:
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.strip())
    except ArithmeticError as error:
        raise ValueError(f"{text!r} is no number") from error


_READERS: Final[dict[str, Read]] = {
    "STRING": str,
    "CHAR": str,
    "PICKLED_BYTE_ARRAY": str,
    "BOOLEAN": lambda text: text.strip().lower() == "true",
    "BYTE": _whole(8),
    "SHORT": _whole(16),
    "INT": _whole(32),
    "LONG": _whole(64),
    "FLOAT": _float,
    "DOUBLE": _float,
    "BIG_INT": _integer,
    "BIG_DEC": _decimal,
    "SQL_DATE": dt.date.fromisoformat,
    "LOCAL_DATE": dt.date.fromisoformat,
    "SQL_TIME": dt.time.fromisoformat,
    "LOCAL_TIME": dt.time.fromisoformat,
    "SQL_TIMESTAMP": dt.datetime.fromisoformat,
    "LOCAL_DATE_TIME": dt.datetime.fromisoformat,
}


class CsvWriter:
    """Turns rows into lines as Jackson does: a field that may need quotes gets them.

    That is one longer than 24 characters, or one with a character up to the greatest of the delimiter, the
    quote and the escape in the order of their codes. Raises TypeMismatchError for a value that is not of the
    row type.

    >>> CsvWriter(Types.ROW([Types.STRING(), Types.INT()]), CsvDialect()).line(("a,b", 1))
    '"a,b",1'
    """

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self._coerce = row_type.compile_coercer()
        self._dialect = dialect
        self._writers = [
            _writer(field.schema(), dialect.array_delimiter(column))
            for column, field in enumerate(row_type.get_field_types())
        ]
        special = [dialect.delimiter, "\r", dialect.quote, dialect.escape]
        self._unsafe = max(char for char in special if char is not None)

    def line(self, row: Any) -> str:
        """Return one row, without a line end."""
        try:
            fields = zip(self._writers, self._coerce(row), strict=True)
            return self._dialect.delimiter.join([self._field(write, value) for write, value in fields])
        except TypeError as error:
            raise TypeMismatchError(
                "requires rows that fit its row type", who="CSV", got=repr(row)
            ) from error

    def header(self, names: Sequence[str]) -> str:
        """Return the names of the columns as a line."""
        return self._dialect.delimiter.join(map(self._quoted, names))

    def _field(self, write: tuple[bool, Callable[[Any], str]], value: Any) -> str:
        if value is None:
            return self._dialect.null_literal or ""
        textual, to_text = write
        return self._quoted(to_text(value)) if textual else to_text(value)

    def _quoted(self, text: str) -> str:
        quote = self._dialect.quote
        if not text or quote is None:
            return text
        if len(text) <= _ALWAYS_QUOTED and min(text) > self._unsafe:
            return text
        escape = self._dialect.escape
        if escape is not None:
            text = text.replace(escape, escape * 2)
        return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def _writer(schema: dict[str, Any], array_delimiter: str) -> tuple[bool, Callable[[Any], str]]:
    """Return whether values of this type may need quotes, and the function from value to text."""
    kind = schema["type"]
    if kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE":
        return True, bytes.decode
    if kind in _ARRAYS:
        _, element = _writer(schema["element"], array_delimiter)
        return True, lambda items: array_delimiter.join(
            "" if item is None else element(item) for item in items
        )
    if kind not in _READERS:
        raise UnsupportedError("is not supported in CSV", who=f"the type {kind}")
    if kind in _TEXTS:
        return _TEXTS[kind]
    return kind in {"STRING", "CHAR", "PICKLED_BYTE_ARRAY"}, str


_TEXTS: Final[dict[str, tuple[bool, Callable[[Any], str]]]] = {
    "BOOLEAN": (False, lambda value: "true" if value else "false"),
    "DOUBLE": (False, Types.DOUBLE().to_string),
    "FLOAT": (False, Types.FLOAT().to_string),
    "BIG_DEC": (False, str),
    "SQL_DATE": (True, dt.date.isoformat),
    "LOCAL_DATE": (True, dt.date.isoformat),
    "SQL_TIME": (True, Types.SQL_TIME().to_string),
    "LOCAL_TIME": (True, dt.time.isoformat),
    "SQL_TIMESTAMP": (True, Types.SQL_TIMESTAMP().to_string),
    "LOCAL_DATE_TIME": (True, lambda value: value.isoformat(" ")),
}
