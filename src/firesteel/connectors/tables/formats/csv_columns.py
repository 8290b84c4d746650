"""CSV records to columns: by Arrow's reader where a block is plain, field by field where it is not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from firesteel.common.logical_types import DecimalType, LogicalType, LogicalTypeRoot, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.temporal import TimestampType
from firesteel.connectors.tables.formats.csv_exact import row_reader
from firesteel.connectors.tables.formats.csv_fields import CsvRules, Record, records
from firesteel.connectors.tables.formats.csv_records import has_plain_quotes
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.numbered import Numbered
from firesteel.connectors.tables.formats.plain_texts import (
    Doubtful,
    plain_dates,
    plain_decimals,
    plain_timestamps,
)
from firesteel.connectors.tables.formats.stored import stored_column

_R = LogicalTypeRoot
_PLAIN: Final = (
    *(_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.FLOAT, _R.DOUBLE),
    *(_R.CHAR, _R.VARCHAR, _R.BOOLEAN),
)
"""Types that Arrow's reader makes itself; dates, timestamps and decimal numbers are made of its texts."""

_BLANK_LINE: Final = re.compile(rb"(?:^|\n|\r)[ \t]*(?:\n|\r\n|\r)")
_REFUSED: Final = (Doubtful, pa.ArrowInvalid, pa.ArrowTypeError, UnicodeDecodeError)


class CsvColumns:
    """Reads blocks of whole records as the columns `wanted` (places) of a row type.

    >>> from firesteel.common.logical_types import parse_type
    >>> columns = CsvColumns(parse_type("ROW<n INT, s STRING>"), (1, 0), CsvRules())
    >>> columns.read(b'1,a\\n+2,"b,c"\\n').to_pylist()
    [{'s': 'a', 'n': 1}, {'s': 'b,c', 'n': 2}]
    """

    def __init__(self, row: RowType, wanted: Sequence[int], rules: CsvRules) -> None:
        self._row = row
        self._rules = rules
        self._exact = row_reader(row, rules)
        self._wanted = [row.fields[place] for place in wanted]
        self._places = list(wanted)
        schema = to_arrow_schema(row)
        self._schema = pa.schema([schema.field(place) for place in wanted])
        self._quick = _is_quick(self._wanted_types, rules)

    @property
    def _wanted_types(self) -> list[LogicalType]:
        return [field.type for field in self._wanted]

    def read(self, block: bytes) -> pa.RecordBatch | Misfit:
        """Return the rows of a block, or its first record that does not fit, unless such values are NULL."""
        rows = self.read_plain(block)
        if rows is not None:
            return rows
        found = self.read_records(records(block.decode("utf-8", "replace"), self._rules))
        return found.rows if isinstance(found, Numbered) else found

    def read_plain(self, block: bytes) -> pa.RecordBatch | None:
        """Return the rows of a block by Arrow's reader; None if something in it is for the exact way."""
        if self._quick and self._is_plain(block):
            try:
                return self._read_quick(block)
            except _REFUSED:
                pass
        return None

    def _is_plain(self, block: bytes) -> bool:
        return not (
            b"0x" in block
            or b"0X" in block
            or _BLANK_LINE.search(block)
            or (self._rules.comments and b"#" in block)
            or not has_plain_quotes(block, self._rules)
        )

    def _read_quick(self, block: bytes) -> pa.RecordBatch:
        rules, row = self._rules, self._row
        names = [str(place) for place in range(len(row.fields))]
        kinds = {name: _read_as(field.type) for name, field in zip(names, row.fields, strict=True)}
        literal = rules.null_literal
        table = pa.csv.read_csv(
            pa.BufferReader(block),
            pa.csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
            pa.csv.ParseOptions(
                delimiter=rules.delimiter,
                quote_char=rules.quote or False,
                newlines_in_values=rules.quote is not None,
                ignore_empty_lines=False,
            ),
            pa.csv.ConvertOptions(
                column_types=kinds,
                include_columns=[str(place) for place in self._places],
                null_values=[] if literal is None else [literal],
                strings_can_be_null=literal is not None,
                true_values=["true", "TRUE", "True"],
                false_values=["false", "FALSE", "False"],
            ),
        )
        columns = [
            self._finished(_whole(column), kind)
            for column, kind in zip(table.columns, self._wanted_types, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _finished(self, column: pa.Array, kind: LogicalType) -> pa.Array:
        if isinstance(kind, TimestampType):
            return plain_timestamps(column, kind.precision, to_arrow(kind), " ", False)
        if kind.root is _R.DATE:
            return plain_dates(column)
        if isinstance(kind, DecimalType):
            return plain_decimals(column, to_arrow(kind))
        if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column), min_count=0).as_py():
            raise Doubtful
        return column

    def read_records(self, given: Iterable[Record]) -> Numbered | Misfit:
        """Return the rows of records, each with its number, or the first record that does not fit."""
        rows = []
        numbers = []
        for number, record in enumerate(given):
            try:
                if record.fields is None:
                    why = "a quote that is closed within a field, or not at all"
                    raise ValueError(why if record.text else "there is no record")
                rows.append(self._exact(record.fields))
                numbers.append(number)
            except ValueError as error:
                if not self._rules.lenient:
                    return Misfit(number, record.text, str(error))
        columns = [
            stored_column([row[place] for row in rows], field.type)
            for place, field in zip(self._places, self._wanted, strict=True)
        ]
        return Numbered(pa.RecordBatch.from_arrays(columns, schema=self._schema), numbers)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_quick(types: Sequence[LogicalType], rules: CsvRules) -> bool:
    single = all(mark is None or mark.isascii() for mark in (rules.delimiter, rules.quote))
    kinds = (_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.DATE, _R.DECIMAL, *_PLAIN)
    return bool(types) and rules.escape is None and single and all(kind.root in kinds for kind in types)


def _read_as(kind: LogicalType) -> pa.DataType:
    return to_arrow(kind) if kind.root in _PLAIN else pa.string()
