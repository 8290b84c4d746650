"""Rows as single CSV records."""

from __future__ import annotations

import csv
import io
from typing import Any

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.common.types import Row, make_row
from firesteel.datastream.formats.row_types import require_row_type
from firesteel.formats.csv import CsvDialect, CsvWriter, Read, field_readers


class _Builder:
    """Collects a row type and separators; every method except `build` returns the builder."""

    def __init__(self, type_info: TypeInformation) -> None:
        if type_info is None:
            raise TypeError("Type information must not be None")
        self._row_type = require_row_type(type_info, "CSV")
        self._options: dict[str, Any] = {}
        self._array_delimiter = ";"

    def _dialect(self) -> CsvDialect:
        columns = len(self._row_type.get_field_types())
        return CsvDialect(array_delimiters=(self._array_delimiter,) * columns, **self._options)


class CsvRowDeserializationSchema(DeserializationSchema):
    """Reads a Row from a message that is one CSV record in UTF-8.

    A message that does not fit raises TypeMismatchError. With `set_ignore_parse_errors(True)` a field that does not fit
    is None, and so is a missing one; a message that has more fields, or none, is left out (None).

    >>> from firesteel.common import Types
    >>> row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    >>> CsvRowDeserializationSchema.Builder(row_type).build().deserialize(b'"Smith, A.",42')
    Row(name='Smith, A.', age=42)
    """

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect, ignore_errors: bool) -> None:
        self._row_type = row_type
        self._dialect = dialect
        self._ignore_errors = ignore_errors
        self._readers: list[Read] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_readers": None}

    def get_produced_type(self) -> TypeInformation:
        """Return the row type."""
        return self._row_type

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row of a message."""
        if self._readers is None:
            self._readers = field_readers(self._row_type, self._dialect, lenient=self._ignore_errors)
        fields = self._fields(message.decode("utf-8", "replace"))
        if fields is None or len(fields) > len(self._readers):
            if self._ignore_errors:
                return None
            raise self._misfit(message)
        if len(fields) < len(self._readers) and not self._ignore_errors:
            raise self._misfit(message)
        missing = [None] * (len(self._readers) - len(fields))
        values = [
            self._value(read, text) for read, text in zip(self._readers, [*fields, *missing], strict=True)
        ]
        return make_row(self._row_type.get_field_names(), values)

    def _misfit(self, message: bytes) -> TypeMismatchError:
        fields = len(self._row_type.get_field_types())
        return TypeMismatchError(f"requires a record of {fields} fields", who="CSV", got=repr(message))

    def _fields(self, text: str) -> list[str] | None:
        dialect = self._dialect
        if dialect.comments and text.lstrip().startswith("#"):
            return None
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=dialect.delimiter,
            quotechar=dialect.quote,
            escapechar=dialect.escape,
        )
        return next(reader, None)

    def _value(self, read: Read, text: str | None) -> Any:
        if text is None:
            return None
        try:
            return read(text)
        except ValueError as error:
            if self._ignore_errors:
                return None
            raise TypeMismatchError(
                "requires fields that fit", who="CSV", got=f"{text!r} ({error})"
            ) from error

    class Builder(_Builder):
        """Collects the settings of the schema; every method except `build` returns the builder."""

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__(type_info)
            self._ignore_errors = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the separator of fields; the default is a comma."""
            self._options["delimiter"] = delimiter
            return self

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Leave out messages that start with `#`; takes effect together with ignored errors."""
            self._options["comments"] = allow_comments
            return self

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the separator of the parts of arrays and of rows within a row; the default is `;`."""
            self._array_delimiter = delimiter
            return self

        def set_quote_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the quote; the default is `"`."""
            self._options["quote"] = c
            return self

        def set_escape_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the escape character, which makes the next character an ordinary one."""
            self._options["escape"] = c
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """Set the text that stands for None."""
            self._options["null_literal"] = null_literal
            return self

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Replace fields that do not fit by None."""
            self._ignore_errors = ignore_parse_errors
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """Return the schema. Raises ConfigurationError for a separator that is not one character."""
            return CsvRowDeserializationSchema(self._row_type, self._dialect(), self._ignore_errors)


class CsvRowSerializationSchema(SerializationSchema):
    """Writes a Row as one CSV record in UTF-8, with a line end.

    >>> from firesteel.common import Types
    >>> row_type = Types.ROW([Types.STRING(), Types.INT()])
    >>> CsvRowSerializationSchema.Builder(row_type).build().serialize(Row("Smith, A.", 42))
    b'"Smith, A.",42\\n'
    """

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self._row_type = row_type
        self._dialect = dialect
        self._writer: CsvWriter | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_writer": None}

    def serialize(self, value: Any) -> bytes:
        """Return the record of a row. Raises TypeMismatchError for a value that is not of the row type."""
        if self._writer is None:
            self._writer = CsvWriter(self._row_type, self._dialect)
        return (self._writer.line(value) + self._dialect.line_end).encode("utf-8", "replace")

    class Builder(_Builder):
        """Collects the settings of the schema; every method except `build` returns the builder."""

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the separator of fields; the default is a comma."""
            self._options["delimiter"] = c
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set the line end: `\\n` (the default), `\\r`, `\\r\\n` or nothing. Raises ProgramError for others."""
            if delimiter not in ("\n", "\r", "\r\n", ""):
                raise ProgramError(
                    r"requires a line delimiter of \n, \r, \r\n or nothing", who="CSV", got=repr(delimiter)
                )
            self._options["line_end"] = delimiter
            return self

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set the separator of the parts of arrays and of rows within a row; the default is `;`."""
            self._array_delimiter = delimiter
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Write no quotes."""
            self._options["quote"] = None
            return self

        def set_quote_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the quote; the default is `"`."""
            self._options["quote"] = c
            return self

        def set_escape_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the escape character, which precedes a character to make it an ordinary one."""
            self._options["escape"] = c
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """Set the text that stands for None; the default is no text."""
            self._options["null_literal"] = s
            return self

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema. Raises ConfigurationError for a separator that is not one character."""
            return CsvRowSerializationSchema(self._row_type, self._dialect())
