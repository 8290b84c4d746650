"""The formats of the connector 'filesystem': each reads a file's rows by columns, and writes columns as part files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat, LineFormat
from firesteel.connectors.files.lines import LineReader
from firesteel.connectors.files.parquet_files import ParquetColumns, ParquetRowGroups
from firesteel.connectors.files.parts import PartFormat
from firesteel.connectors.tables.column_parts import TextParts
from firesteel.connectors.tables.formats.csv_columns import CsvColumns
from firesteel.connectors.tables.formats.csv_fields import CsvRules
from firesteel.connectors.tables.formats.csv_records import RecordReader
from firesteel.connectors.tables.formats.csv_texts import csv_lines
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_texts import JsonWriting, json_lines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.options import Options, choice, text, truth
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.endpoints import Changes

BLOCK: Final = 2 << 20
"""About how many bytes of text are decoded at once."""


Rows: TypeAlias = pa.RecordBatch | Changes
"""What formats read: rows, or changes."""


class TableFormat(ABC):
    """A format by the value of the option 'format'."""

    name: ClassVar[str]

    bulk: ClassVar[bool]
    """Whether a part file ends with its epoch, as Flink's do for formats that write whole files."""

    mode: ClassVar[ChangelogMode] = ChangelogMode.inserts()
    """The kinds of changes that files can have."""

    metadata: ClassVar[Mapping[str, LogicalType]] = {}
    """What records can have besides their rows, by name."""
    by_name: ClassVar[bool] = False
    """Whether fields of rows are found by their names, so that others need not be read."""

    @abstractmethod
    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return what reads the columns `wanted` (places) of files whose rows are of type `row`, then `metadata`."""

    @abstractmethod
    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return what writes rows of a type."""


class _Lines(LineFormat[Rows]):
    """Text, a block of which becomes rows."""

    block = BLOCK

    def rows(self, file: SourceFile, position: int, read: pa.RecordBatch | Misfit) -> list[Rows]:
        """Return what was read. Raises ConnectorError for a record that does not fit."""
        if isinstance(read, Misfit):
            raise read.error(file.path, position, self.option)
        return [read] if read.num_rows else []

    option: ClassVar[str]


class JsonFormat(TableFormat):
    """A JSON object on each line."""

    name = "json"
    bulk = False
    by_name = True

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns: others are not looked at, as in Flink."""
        rules = json_rules(options)
        fields = tuple(row.fields[place] for place in wanted)
        return _JsonLines(RowType(fields, nullable=False), rules)

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        return TextParts(row, json_lines, rules_to_write_json(options))


def json_rules(options: Options, form: str = JsonFormat.name) -> JsonRules:
    """Return how the format json, or one that is like it, is read.

    Raises ConfigurationError for options that contradict each other.
    """
    strict, lenient = f"{form}.fail-on-missing-field", f"{form}.ignore-parse-errors"
    rules = JsonRules(
        iso=is_iso(options, form),
        strict=options.get(truth(strict), False),
        lenient=options.get(truth(lenient), False),
    )
    if rules.strict and rules.lenient:
        raise options.wrong(lenient, f"'false' where '{strict}' is 'true'")
    _know_json(options, form)
    return rules


def rules_to_write_json(options: Options, form: str = JsonFormat.name) -> JsonWriting:
    """Return how the format json, or one that is like it, is written."""
    writing = json_writing(options, form)
    _know_json(options, form)
    return writing


def is_iso(options: Options, form: str) -> bool:
    """Return whether timestamps of a format have a T."""
    return options.get(choice(f"{form}.timestamp-format.standard", "SQL", "ISO-8601"), "SQL") == "ISO-8601"


def json_writing(options: Options, form: str) -> JsonWriting:
    """Return how a format that is JSON is written. Raises UnsupportedError for maps with keys that are NULL."""
    mode = options.get(choice(f"{form}.map-null-key.mode", "FAIL", "DROP", "LITERAL"), "FAIL")
    if mode != "FAIL":
        raise UnsupportedError(
            "is not supported yet for a table that is written",
            who=f"option '{form}.map-null-key.mode' = '{mode}'",
        )
    return JsonWriting(
        iso=is_iso(options, form),
        without_nulls=options.get(truth(f"{form}.encode.ignore-null-fields"), False),
        plain_decimals=options.get(truth(f"{form}.encode.decimal-as-plain-number"), False),
    )


def know_json(options: Options, form: str) -> None:
    """Accept the options of a format that is JSON that say how the other direction works."""
    options.get(choice(f"{form}.map-null-key.mode", "FAIL", "DROP", "LITERAL"))
    names = (
        "ignore-parse-errors",
        "encode.ignore-null-fields",
        "encode.decimal-as-plain-number",
        "map-null-key.literal",
    )
    options.know([f"{form}.{name}" for name in names])


def _know_json(options: Options, form: str) -> None:
    # Which of its two parsers Flink takes; both read the same.
    options.get(truth(f"{form}.decode.json-parser.enabled"))
    options.know([f"{form}.fail-on-missing-field"])
    know_json(options, form)


class _JsonLines(_Lines):
    option = "json.ignore-parse-errors"
    feeds_only = True

    def __init__(self, row: RowType, rules: JsonRules) -> None:
        self._row = row
        self._rules = rules
        self._columns: JsonColumns | None = JsonColumns(row, rules)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_columns": None}

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Rows]:
        """Return the rows of a block."""
        if self._columns is None:
            self._columns = JsonColumns(self._row, self._rules)
        return self.rows(file, position, self._columns.read(block))


class CsvFormat(TableFormat):
    """Fields between delimiters."""

    name = "csv"
    bulk = True

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader; the fields of a record are those of the whole row."""
        return _CsvRecords(row, tuple(wanted), csv_rules(options))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        return TextParts(row, csv_lines, csv_rules(options))


def csv_rules(options: Options) -> CsvRules:
    """Return how the format csv is read and written."""
    delimiter = _unescaped(options.get(text("csv.field-delimiter"), ","))
    quote = options.get(text("csv.quote-character"), '"')
    escape = options.get(text("csv.escape-character"))
    for key, mark in (
        ("csv.field-delimiter", delimiter),
        ("csv.quote-character", quote),
        ("csv.escape-character", escape),
    ):
        if mark is not None and len(mark) != 1:
            raise options.wrong(key, "one character")
    # Whatever it is, Flink 2.3 writes decimal numbers with an exponent.
    options.get(truth("csv.write-bigdecimal-in-scientific-notation"))
    return CsvRules(
        delimiter=delimiter,
        quote=None if options.get(truth("csv.disable-quote-character"), False) else quote,
        escape=escape,
        null_literal=options.get(text("csv.null-literal")),
        comments=options.get(truth("csv.allow-comments"), False),
        array_delimiter=_unescaped(options.get(text("csv.array-element-delimiter"), ";")),
        lenient=options.get(truth("csv.ignore-parse-errors"), False),
    )


def _unescaped(mark: str) -> str:
    """Return a delimiter that is written as Java writes it: `\\t`."""
    return {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}.get(mark, mark)


class _CsvRecords(_Lines):
    option = "csv.ignore-parse-errors"

    def __init__(self, row: RowType, wanted: tuple[int, ...], rules: CsvRules) -> None:
        self._row = row
        self._wanted = wanted
        self._rules = rules
        self._columns: CsvColumns | None = CsvColumns(row, wanted, rules)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_columns": None}

    def reading(self) -> tuple[Hashable, ...]:
        """Return what decides where records end."""
        return (type(self), self._rules.quote, self._rules.escape, self._rules.delimiter)

    def seekable(self, file: SourceFile) -> bool:
        """Return whether records are lines, so that they are found from any position."""
        return self._rules.quote is None and self._rules.escape is None and not file.compressed

    def open(self, file: SourceFile) -> LineReader:
        """Return a reader of whole records."""
        return RecordReader(file.open(), self._rules, self.block)

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Rows]:
        """Return the rows of a block."""
        if self._columns is None:
            self._columns = CsvColumns(self._row, self._wanted, self._rules)
        return self.rows(file, position, self._columns.read(block))


class ParquetFormat(TableFormat):
    """Parquet files; columns are found by their names."""

    name = "parquet"
    bulk = True
    by_name = True

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns."""
        fields: list[Field] = [row.fields[place] for place in wanted]
        return ParquetColumns(to_arrow_schema(RowType(tuple(fields), nullable=False)))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        compression = options.get(
            choice("parquet.compression", "SNAPPY", "GZIP", "ZSTD", "LZ4", "UNCOMPRESSED"), "SNAPPY"
        )
        kind = "none" if compression == "UNCOMPRESSED" else compression.lower()
        return ParquetRowGroups(to_arrow_schema(row), kind)
