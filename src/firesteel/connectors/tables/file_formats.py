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
from firesteel.connectors.tables.options import Listed, Options, choice, text, truth
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

    options: ClassVar[Listed] = ()
    """The options."""

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


class JsonOptions:
    """The options of the format json, or of one that is like it, whose name they begin with."""

    def __init__(self, form: str) -> None:
        self.strict = truth(
            f"{form}.fail-on-missing-field", "Whether a field that is missing is an error; else it is NULL."
        ).by_default("false")
        self.lenient = truth(
            f"{form}.ignore-parse-errors",
            "Whether what cannot be read is left out: a whole record that is no JSON; of others, fields become NULL.",
        ).by_default("false")
        self.standard = choice(
            f"{form}.timestamp-format.standard",
            *("SQL", "ISO-8601"),
            about="How times are written: `2024-05-01 12:30:00`, or `2024-05-01T12:30:00`.",
        ).by_default("SQL")
        self.null_keys = choice(
            f"{form}.map-null-key.mode",
            *("FAIL", "DROP", "LITERAL"),
            about="What becomes of keys of maps that are NULL. A table that is written can only have FAIL.",
        ).by_default("FAIL")
        self.null_key = text(f"{form}.map-null-key.literal", "The key for LITERAL.").by_default("null")
        self.without_nulls = truth(
            f"{form}.encode.ignore-null-fields", "Whether fields that are NULL are not written."
        ).by_default("false")
        self.plain_decimals = truth(
            f"{form}.encode.decimal-as-plain-number", "Whether DECIMAL is written without an exponent."
        ).by_default("false")
        self.parser = truth(
            f"{form}.decode.json-parser.enabled", "Changes nothing: which of its two parsers Flink takes."
        )

    @property
    def of_both_ways(self) -> Listed:
        """Those of every format that is JSON."""
        written = (self.null_keys, self.null_key, self.without_nulls, self.plain_decimals)
        return (self.lenient, self.standard, *written)

    @property
    def all(self) -> Listed:
        """Those of the format json."""
        return (self.strict, *self.of_both_ways, self.parser)


class JsonFormat(TableFormat):
    """A JSON object on each line."""

    name = "json"
    bulk = False
    by_name = True
    options = JsonOptions("json").all

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
    known = JsonOptions(form)
    rules = JsonRules(
        iso=is_iso(options, known), strict=options.get(known.strict), lenient=options.get(known.lenient)
    )
    if rules.strict and rules.lenient:
        raise options.wrong(known.lenient.key, f"'false' where '{known.strict.key}' is 'true'")
    options.get(known.parser)
    know_json(options, known)
    return rules


def rules_to_write_json(options: Options, form: str = JsonFormat.name) -> JsonWriting:
    """Return how the format json, or one that is like it, is written."""
    known = JsonOptions(form)
    writing = json_writing(options, known)
    options.get(known.parser)
    options.know((known.strict,))
    return writing


def is_iso(options: Options, known: JsonOptions) -> bool:
    """Return whether timestamps of a format have a T."""
    return options.get(known.standard) == "ISO-8601"


def json_writing(options: Options, known: JsonOptions) -> JsonWriting:
    """Return how a format that is JSON is written. Raises UnsupportedError for maps with keys that are NULL."""
    mode = options.get(known.null_keys)
    if mode != "FAIL":
        raise UnsupportedError(
            "is not supported yet for a table that is written",
            who=f"option '{known.null_keys.key}' = '{mode}'",
        )
    know_json(options, known)
    return JsonWriting(
        iso=is_iso(options, known),
        without_nulls=options.get(known.without_nulls),
        plain_decimals=options.get(known.plain_decimals),
    )


def know_json(options: Options, known: JsonOptions) -> None:
    """Accept the options of a format that is JSON that say how the other direction works."""
    options.get(known.null_keys)
    options.know(known.of_both_ways)


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


_DELIMITER: Final = text(
    "csv.field-delimiter", "What is between fields; `\\t` is a tab.", "one character"
).by_default(",")
_QUOTE: Final = text(
    "csv.quote-character", "What is around fields with delimiters, quotes or ends of lines.", "one character"
).by_default('"')
_NO_QUOTE: Final = truth("csv.disable-quote-character", "Whether nothing is quoted.").by_default("false")
_ESCAPE: Final = text("csv.escape-character", "Before a character that is meant as it is.", "one character")
_NULL: Final = text("csv.null-literal", "The field that is NULL.")
_COMMENTS: Final = truth(
    "csv.allow-comments", "Whether lines that begin with `#` are passed over."
).by_default("false")
_ELEMENTS: Final = text(
    "csv.array-element-delimiter", "What is between the elements of an array, and the fields of a row."
).by_default(";")
_LENIENT: Final = truth(
    "csv.ignore-parse-errors",
    "Whether fields that do not fit are NULL, and records that cannot be read left out.",
).by_default("false")
_SCIENTIFIC: Final = truth(
    "csv.write-bigdecimal-in-scientific-notation",
    "Changes nothing: whatever it is, Flink 2.3 writes decimal numbers with an exponent.",
)


class CsvFormat(TableFormat):
    """Fields between delimiters."""

    name = "csv"
    bulk = True
    options = (
        *(_DELIMITER, _QUOTE, _NO_QUOTE, _ESCAPE, _NULL, _COMMENTS, _ELEMENTS, _LENIENT),
        _SCIENTIFIC,
    )

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
    delimiter, array_delimiter = (_unescaped(options.get(option)) for option in (_DELIMITER, _ELEMENTS))
    quote, escape = options.get(_QUOTE), options.get(_ESCAPE)
    for option, mark in ((_DELIMITER, delimiter), (_QUOTE, quote), (_ESCAPE, escape)):
        if mark is not None and len(mark) != 1:
            raise options.wrong(option.key, option.what)
    options.get(_SCIENTIFIC)
    return CsvRules(
        delimiter=delimiter,
        quote=None if options.get(_NO_QUOTE) else quote,
        escape=escape,
        null_literal=options.get(_NULL),
        comments=options.get(_COMMENTS),
        array_delimiter=array_delimiter,
        lenient=options.get(_LENIENT),
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


_COMPRESSION: Final = choice(
    "parquet.compression",
    *("SNAPPY", "GZIP", "ZSTD", "LZ4", "UNCOMPRESSED"),
    about="How files that are written are compressed. Files of all these kinds are read.",
).by_default("SNAPPY")


class ParquetFormat(TableFormat):
    """Parquet files; columns are found by their names."""

    name = "parquet"
    bulk = True
    by_name = True
    options = (_COMPRESSION,)

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns."""
        options.know(self.options)
        fields: list[Field] = [row.fields[place] for place in wanted]
        return ParquetColumns(to_arrow_schema(RowType(tuple(fields), nullable=False)))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        compression = options.get(_COMPRESSION)
        kind = "none" if compression == "UNCOMPRESSED" else compression.lower()
        return ParquetRowGroups(to_arrow_schema(row), kind)
