"""The schema of CSV files, and their formats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation, Types
from firesteel.connectors.files.csv_files import CsvParts, csv_format
from firesteel.datastream.connectors.file_sinks import PartWriterFactory
from firesteel.datastream.connectors.file_sources import StreamFormat
from firesteel.datastream.formats.row_types import require_type
from firesteel.formats.csv import CsvDialect


class _Column(NamedTuple):
    name: str
    type_info: TypeInformation
    array_delimiter: str | None = None


class CsvSchema:
    """The columns of a CSV file, with their types and separators.

    >>> schema = CsvSchema.builder().add_string_column("name").add_number_column("age").build()
    >>> len(schema), str(schema)
    (2, '[CsvSchema: columns=[name: String, age: Long], header? false]')
    """

    def __init__(self, columns: tuple[_Column, ...], dialect: CsvDialect) -> None:
        self.columns = columns
        self.dialect = replace(
            dialect, array_delimiters=tuple(column.array_delimiter or "" for column in columns)
        )

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Start a schema without columns."""
        return CsvSchemaBuilder()

    @property
    def row_type(self) -> RowTypeInfo:
        """Return the type of the rows."""
        if not self.columns:
            raise ProgramError("requires at least one column", who="CsvSchema", got="none")
        names = [column.name for column in self.columns]
        return Types.ROW_NAMED(names, [column.type_info for column in self.columns])

    def size(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return self.size()

    def __str__(self) -> str:
        columns = ", ".join(f"{column.name}: {column.type_info}" for column in self.columns)
        return f"[CsvSchema: columns=[{columns}], header? {str(self.dialect.header).lower()}]"

    __repr__ = __str__


class CsvSchemaBuilder:
    """Collects columns and separators; every method except `build` and `size` returns the builder.

    A separator, quote or escape that is not one character raises ValueError.
    """

    def __init__(self) -> None:
        self._columns: list[_Column] = []
        self._options: dict[str, Any] = {}
        self._array_separator = ";"

    def build(self) -> CsvSchema:
        """Return the schema."""
        return CsvSchema(tuple(self._columns), CsvDialect(**self._options))

    def add_array_column(self, name: str, separator: str = ";", element_type: Any = None) -> CsvSchemaBuilder:
        """Add a column of arrays; its elements are of a type of streams or of tables, by default texts."""
        who = "CsvSchemaBuilder.add_array_column"
        elements = Types.LIST(Types.STRING() if element_type is None else require_type(element_type, who))
        self._columns.append(_Column(name, elements, separator))
        return self

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of truth values: `true` in any case is true, everything else is false."""
        self._columns.append(_Column(name, Types.BOOLEAN()))
        return self

    def add_number_column(self, name: str, number_type: Any = None) -> CsvSchemaBuilder:
        """Add a column of numbers, of a type such as `Types.INT()` or `DataTypes.INT()`, by default BIGINT."""
        who = "CsvSchemaBuilder.add_number_column"
        number = Types.LONG() if number_type is None else require_type(number_type, who)
        self._columns.append(_Column(name, number))
        return self

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of texts."""
        self._columns.append(_Column(name, Types.STRING()))
        return self

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add the columns of another schema."""
        self._columns.extend(schema.columns)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        self._columns.clear()
        return self

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Leave out lines that start with `#`."""
        return self._set(comments=allow)

    def set_any_property_name(self, name: str) -> NoReturn:
        """Not supported: raises UnsupportedError."""
        raise UnsupportedError(
            "is not supported",
            who="CsvSchemaBuilder.set_any_property_name",
            got=repr(name),
            hint="a Row has no place for columns that the schema does not name",
        )

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Read every array as a single element."""
        return self.set_array_element_separator("")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Read the array of one column as a single element."""
        self._columns[index] = self._columns[index]._replace(array_delimiter="")
        return self

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the separator of the elements of every array."""
        self._columns = [
            column if column.array_delimiter is None else column._replace(array_delimiter=separator)
            for column in self._columns
        ]
        return self

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """Set the separator of columns; the default is a comma."""
        return self._set(delimiter=_one(char, "Column separator"))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """Use no escapes (the default)."""
        return self._set(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """Set the escape character, which makes the next character an ordinary one."""
        return self._set(escape=_one(char, "Escape char"))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the end of written lines; the default is `\\n`. Lines that are read may have any line end."""
        return self._set(line_end=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """Set the text that stands for None."""
        return self._set(null_literal=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """Use no quotes."""
        return self._set(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """Set the quote; the default is `"`."""
        return self._set(quote=_one(char, "Quote char"))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Leave out the first row of data of each file."""
        return self._set(skip_first_row=skip)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Require headers to be the schema's names in its order."""
        return self._set(strict_header=strict)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Use a header line: skipped when read, written at the beginning of each file."""
        return self._set(header=use)

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def __len__(self) -> int:
        return self.size()

    def _set(self, **options: Any) -> CsvSchemaBuilder:
        self._options.update(options)
        return self


def _one(char: str, what: str) -> str:
    if len(char) != 1:
        raise ValueError(f"{what} must be a single char, got {char}")
    return char


class CsvReaderFormat(StreamFormat):
    """Reads CSV files as Rows.

    Source of the semantics: Flink's CsvReaderFormat, whose files are read from their beginning to their end by
    one subtask.
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read files of this schema. Raises ProgramError for one without columns."""
        return CsvReaderFormat(csv_format(schema.row_type, schema.dialect))


class CsvBulkWriters:
    """Writes Rows as CSV files."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> PartWriterFactory:
        """Write files of this schema. Raises ProgramError for one without columns."""
        return PartWriterFactory(CsvParts(schema.row_type, schema.dialect), schema.row_type)
