"""CSV files with a schema, read as Rows and written as part files."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from firesteel.common.errors import ConnectorError
from firesteel.common.typeinfo import RowTypeInfo
from firesteel.common.types import Row, make_row
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import WAITING, FileFormat, LineFormat, Part
from firesteel.connectors.files.lines import split_lines
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.connectors.files.systems import ByteStream
from firesteel.formats.csv import (
    DEFAULT_DIALECT,
    CsvDialect,
    CsvWriter,
    field_readers,
)
from firesteel.functions.source import END_OF_SPLIT, RecordBatches

_BATCH: Final = 2048
_LONGEST_FIELD: Final = (1 << 31) - 1


def csv_format(
    row_type: RowTypeInfo, dialect: CsvDialect = DEFAULT_DIALECT, newlines_in_fields: bool = True
) -> FileFormat[Row]:
    """The format for CSV in UTF-8 whose records are Rows of `row_type`, in the order of the columns.

    If quoted fields may hold line ends, the start of a record can be found only by reading from the file's beginning: a
    file is one part. With `newlines_in_fields=False`, without quotes and escapes, and without a header, large files are
    read in parallel. Reading raises ConnectorError, which names the record, for a record that does not fit. Source of
    the semantics: Flink's CsvReaderFormat.
    """
    single_line = not newlines_in_fields or (dialect.quote is None and dialect.escape is None)
    if single_line and not dialect.header and not dialect.skip_first_row:
        return _CsvLines(row_type, dialect)
    return _CsvRecords(row_type, dialect)


class _Rows:
    """Turns split records into Rows."""

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self._names = row_type.get_field_names()
        self._readers = field_readers(row_type, dialect)

    def rows(self, records: list[list[str]]) -> list[Row]:
        """Return the Rows of some records. Raises ValueError if one does not fit."""
        if not records:
            return []
        names = self._names
        texts = zip(*records, strict=True)
        columns = [list(map(read, column)) for read, column in zip(self._readers, texts, strict=True)]
        return [make_row(names, list(values)) for values in zip(*columns, strict=True)]

    def first_misfit(self, records: list[list[str]]) -> tuple[int, str]:
        """Return which of the records does not fit, and why."""
        for index, record in enumerate(records):
            if len(record) != len(self._readers):
                return index, f"{len(record)} fields instead of {len(self._readers)}: {record!r}"
            for read, text in zip(self._readers, record, strict=True):
                try:
                    read(text)
                except ValueError as error:
                    return index, f"{text!r} ({error}) in {record!r}"
        raise AssertionError("some record does not fit")


def _reader(lines: Iterable[str], dialect: CsvDialect) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        quoting=csv.QUOTE_NONE if dialect.quote is None else csv.QUOTE_MINIMAL,
        escapechar=dialect.escape,
        doublequote=True,
    )


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if not line.lstrip().startswith("#"))


class _CsvLines(LineFormat[Row]):
    """CSV in which records are lines."""

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self.produced_type = row_type
        self._row_type = row_type
        self._dialect = dialect
        self._rows: _Rows | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None}

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Row]:
        """Return the rows of a block."""
        if self._rows is None:
            self._rows = _Rows(self._row_type, self._dialect)
        lines: Iterable[str] = split_lines(block.decode("utf-8", "replace"))
        if self._dialect.comments:
            lines = _without_comments(lines)
        records = list(_reader(lines, self._dialect))
        try:
            return self._rows.rows(records)
        except ValueError as error:
            index, why = self._rows.first_misfit(records)
            raise _misfit(file, f"record {index + 1} after byte {position}", why) from error


def _misfit(file: SourceFile, where: str, why: str) -> ConnectorError:
    return ConnectorError(f"requires that {where} fits the schema", who=f"file {file.path}", got=why)


class _CsvRecords(FileFormat[Row]):
    """CSV that must be read from its beginning; positions are records."""

    unit: Literal["records", "bytes"] = "records"

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self.produced_type = row_type
        self._row_type = row_type
        self._dialect = dialect

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        del file, size
        return [Part(0, None)]

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[Row]:
        del detail
        key = ("csv", file, repr(self._row_type), self._dialect)
        reader = WAITING.take(key, start)
        if reader is None:
            reader = _RecordReader(file, self._row_type, self._dialect)
            reader.skip(start)
        else:
            file.check()
        with WAITING.keeping(key, end, reader) as kept:
            yield from reader.batches(end - start)
            kept.keep = not reader.at_end
        return END_OF_SPLIT if reader.at_end else None


class _RecordReader:
    """A reader whose position is between two records of a file."""

    def __init__(self, file: SourceFile, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self._file = file
        self._rows = _Rows(row_type, dialect)
        self._stream = file.open()
        raw = io.BufferedReader(_Raw(self._stream), 1 << 18)
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="")
        self._records = _reader(_without_comments(text) if dialect.comments else text, dialect)
        self._position = 0
        self.at_end = False
        if dialect.header:
            self._check_header(row_type.get_field_names(), dialect)
        if dialect.skip_first_row:
            next(self._records, None)

    def _check_header(self, names: list[str], dialect: CsvDialect) -> None:
        found = [name.strip() for name in next(self._records, [])]
        if dialect.strict_header and found and found != names:
            self.close()
            raise ConnectorError(
                f"requires a header with the columns {', '.join(names)} in this order",
                who=f"file {self._file.path}",
                got=", ".join(found),
            )

    def skip(self, count: int) -> None:
        """Skip `count` records."""
        for _ in islice(self._records, count):
            self._position += 1

    def batches(self, count: int) -> Iterator[list[Row]]:
        """Return the next `count` records."""
        while count > 0:
            wanted = min(count, _BATCH)
            records = list(islice(self._records, wanted))
            self.at_end = len(records) < wanted
            try:
                yield self._rows.rows(records)
            except ValueError as error:
                index, why = self._rows.first_misfit(records)
                raise _misfit(self._file, f"record {self._position + index + 1}", why) from error
            self._position += len(records)
            count -= wanted
            if self.at_end:
                return

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class _Raw(io.RawIOBase):
    """A byte stream in the form that the io module requires."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class CsvParts(PartFormat):
    """Rows of a type as CSV part files; each part starts with the header if the dialect has one."""

    def __init__(self, row_type: RowTypeInfo, dialect: CsvDialect = DEFAULT_DIALECT) -> None:
        self._row_type = row_type
        self._dialect = dialect

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return _CsvPartWriter(file, self._row_type, self._dialect)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the records of all segments, and one header."""
        header = _header_of(self._row_type, self._dialect)
        for number, segment in enumerate(segments):
            with segment.open("rb") as source:
                source.seek(len(header) if number else 0)
                shutil.copyfileobj(source, target, 1 << 20)


def _header_of(row_type: RowTypeInfo, dialect: CsvDialect) -> bytes:
    if not dialect.header:
        return b""
    line = CsvWriter(row_type, dialect).header(row_type.get_field_names())
    return f"{line}{dialect.line_end}".encode("utf-8", "replace")


class _CsvPartWriter(PartWriter):
    def __init__(self, file: BinaryIO, row_type: RowTypeInfo, dialect: CsvDialect) -> None:
        self._file = file
        self._writer = CsvWriter(row_type, dialect)
        self._end = dialect.line_end
        file.write(header := _header_of(row_type, dialect))
        self.size = len(header)

    def write(self, values: Sequence[Any], limit: int | None) -> int:
        line, end = self._writer.line, self._end
        if limit is None:
            self._put("".join([line(value) + end for value in values]))
            return len(values)
        for count, value in enumerate(values, 1):
            self._put(line(value) + end)
            if self.size > limit:
                return count
        return len(values)

    def _put(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self._file.write(data)
        self.size += len(data)

    def finish(self) -> None:
        """Do nothing: the writer buffers nothing."""
