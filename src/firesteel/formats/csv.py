"""What a CSV file looks like, and fields of declared types as text and back (Flink: CsvToRowDataConverters)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from firesteel.common.errors import ConfigurationError, TypeMismatchError, UnsupportedError
from firesteel.common.typeinfo import RowTypeInfo, Types
from firesteel.common.typeinfo.composite import row_names
from firesteel.common.typeinfo.decimals import rounded
from firesteel.common.types import make_row

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


def field_readers(row_type: RowTypeInfo, dialect: CsvDialect, *, lenient: bool = False) -> list[Read]:
    """Return, per column, the function from text to value, which raises ValueError for a text that does not fit.

    An array or a row in a column has its parts between the delimiters of arrays; they are of simple types. With
    `lenient` a part that does not fit is None, and a row that has too few or too many parts is filled up or cut.
    """
    return [
        _reader(field.schema(), dialect.array_delimiter(column), dialect.null_literal, lenient)
        for column, field in enumerate(row_type.get_field_types())
    ]


def _reader(schema: dict[str, Any], delimiter: str, null_literal: str | None, lenient: bool) -> Read:
    def part(schema: dict[str, Any]) -> Read:
        return _or_none(_single(_simple(schema)), null_literal, lenient)

    if _is_array(schema):
        return _array_reader(part(schema["element"]), delimiter)
    if schema["type"] == "ROW":
        parts = [part(field) for field in schema["fields"]]
        return _row_reader(row_names(schema), parts, delimiter, lenient)
    return _or_none(_single(schema), null_literal, lenient=False)


def _is_array(schema: dict[str, Any]) -> bool:
    kind = schema["type"]
    return kind in _ARRAYS and not (kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE")


def _simple(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a part of an array or row. Raises UnsupportedError if parts cannot have its type."""
    if schema["type"] not in _READERS:
        requirement = "cannot be inside an array or a row in CSV: its parts must be of simple types"
        raise UnsupportedError(requirement, who=f"the type {schema['type']}")
    return schema


def _or_none(read: Read, null_literal: str | None, lenient: bool) -> Read:
    def lenient_read(text: str) -> Any:
        try:
            return None if text == null_literal else read(text)
        except ValueError:
            return None

    if lenient:
        return lenient_read
    return read if null_literal is None else lambda text: None if text == null_literal else read(text)


def _parts(text: str, delimiter: str) -> list[str]:
    if not text:
        return []
    return text.split(delimiter) if delimiter else [text]


def _array_reader(read: Read, delimiter: str) -> Read:
    if not delimiter:
        return lambda text: [read(text)]
    return lambda text: [read(part) for part in _parts(text, delimiter)]


def _row_reader(names: list[str], parts: list[Read], delimiter: str, lenient: bool) -> Read:
    """Return the reader of a row in a column; an empty text is None."""

    def read(text: str) -> Any:
        if not text:
            return None
        texts = _parts(text, delimiter)
        if len(texts) != len(parts) and not lenient:
            raise ValueError(f"{len(texts)} fields where a row has {len(parts)}")
        values = [read_part(part) for read_part, part in zip(parts, texts, strict=False)]
        return make_row(names, values + [None] * (len(parts) - len(values)))

    return read


def _single(schema: dict[str, Any]) -> Read:
    kind = schema["type"]
    if kind == "PRIMITIVE_ARRAY":
        return str.encode
    if kind not in _READERS:
        raise UnsupportedError("is not supported in CSV", who=f"the type {kind}")
    if "scale" in schema:
        return _decimal_of(schema["precision"], schema["scale"])
    return _READERS[kind]


def _decimal_of(precision: int, scale: int) -> Read:
    def read(text: str) -> Decimal | None:
        try:
            return rounded(_decimal(text), precision, scale)
        except TypeMismatchError as error:
            raise ValueError(f"{text!r} is no number of DECIMAL({precision}, {scale})") from error

    return read


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
            _writer(field.schema(), dialect.array_delimiter(column), dialect.null_literal or "")
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


def _writer(
    schema: dict[str, Any], array_delimiter: str, null_literal: str
) -> tuple[bool, Callable[[Any], str]]:
    """Return whether values of this type may need quotes, and the function from value to text."""
    if _is_array(schema):
        _, element = _simple_writer(_simple(schema["element"]))
        return True, lambda items: array_delimiter.join(
            [null_literal if item is None else element(item) for item in items]
        )
    if schema["type"] == "ROW":
        writers = [_simple_writer(_simple(field))[1] for field in schema["fields"]]
        return True, lambda row: array_delimiter.join(
            [null_literal if item is None else write(item) for write, item in zip(writers, row, strict=True)]
        )
    return _simple_writer(schema)


def _simple_writer(schema: dict[str, Any]) -> tuple[bool, Callable[[Any], str]]:
    kind = schema["type"]
    if kind == "PRIMITIVE_ARRAY" and schema["element"]["type"] == "BYTE":
        return True, bytes.decode
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
