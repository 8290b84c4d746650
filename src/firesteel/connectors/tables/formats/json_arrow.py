"""Lines of JSON to columns by Arrow's reader, which takes each value only if it has the JSON kind of its column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.json

from firesteel.common.logical_types import ArrayType, DecimalType, LogicalType, LogicalTypeRoot, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_rows import FormLines, Found
from firesteel.connectors.tables.formats.json_scalars import require_numbers, truth_texts
from firesteel.connectors.tables.formats.lists import regrouped
from firesteel.connectors.tables.formats.plain_texts import (
    Doubtful,
    plain_dates,
    plain_decimals,
    plain_timestamps,
)

_R = LogicalTypeRoot
_LF: Final = ord("\n")
_BRACE: Final = ord("{")
_DIRECT: Final = (
    *(_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.FLOAT, _R.DOUBLE),
    *(_R.CHAR, _R.VARCHAR, _R.BOOLEAN, _R.DECIMAL),
)
_AS_TEXT: Final = (_R.DATE, _R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE)


def arrow_reads(row: RowType, rules: JsonRules) -> bool:
    """Return whether Arrow's reader serves for rows of a type."""
    return not rules.strict and _is_plain(row)


def _is_plain(kind: LogicalType) -> bool:
    if isinstance(kind, RowType):
        names = [field.name for field in kind.fields]
        return (
            bool(names)
            and len(set(names)) == len(names)
            and all(_is_plain(field.type) for field in kind.fields)
        )
    if isinstance(kind, ArrayType):
        return _is_plain(kind.element)
    return kind.root in (*_DIRECT, *_AS_TEXT)


class ArrowLines:
    """Reads blocks of lines; raises Doubtful or ArrowInvalid for what is not plain.

    Lines of a few forms need no parser. With `quoted`, numbers and truth values are taken in quotes, and only so.
    """

    def __init__(self, row: RowType, rules: JsonRules, *, quoted: bool = False) -> None:
        self._row = row
        self._iso = rules.iso
        self._quoted = quoted
        self._schema = to_arrow_schema(row)
        self._read = pa.schema([(field.name, self._read_as(field.type)) for field in row.fields])
        self._forms = FormLines(row, self._read_as, self._finished)
        self._options = pa.json.ParseOptions(explicit_schema=self._read, unexpected_field_behavior="ignore")

    def read(self, block: bytes) -> pa.RecordBatch:
        """Return the rows of a block."""
        return self._forms.read(block, self.parse)

    def read_or(self, block: bytes, others: Callable[[bytes], Found]) -> pa.RecordBatch | Found:
        """Return the rows of a block, of which `others` reads what needs a parser: lines, or the block."""
        return self._forms.read(block, others)

    def parse(self, block: bytes) -> pa.RecordBatch:
        """Return the rows of a block by Arrow's parser."""
        _check(block)
        table = pa.json.read_json(
            pa.BufferReader(block),
            parse_options=self._options,
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
        )
        if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
            raise Doubtful
        columns = [
            self._finished(table.column(field.name).combine_chunks(), field.type)
            for field in self._row.fields
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _finished(self, column: pa.Array, kind: LogicalType) -> pa.Array:
        if isinstance(kind, RowType):
            parts = [
                self._finished(part, field.type)
                for part, field in zip(column.flatten(), kind.fields, strict=True)
            ]
            return pa.StructArray.from_arrays(parts, fields=list(to_arrow(kind)), mask=column.is_null())
        if isinstance(kind, ArrayType):
            return regrouped(column, self._finished(column.flatten(), kind.element)).cast(to_arrow(kind))
        if isinstance(kind, TimestampType | LocalZonedTimestampType):
            zulu = isinstance(kind, LocalZonedTimestampType)
            return plain_timestamps(column, kind.precision, to_arrow(kind), "T" if self._iso else " ", zulu)
        if kind.root is _R.DATE:
            return plain_dates(column)
        return self._unquoted(column, kind) if self._quoted else column

    def _unquoted(self, column: pa.Array, kind: LogicalType) -> pa.Array:
        if kind.root in (_R.CHAR, _R.VARCHAR):
            return column
        if kind.root is _R.BOOLEAN:
            return truth_texts(column)
        require_numbers(column)
        return (
            plain_decimals(column, to_arrow(kind))
            if isinstance(kind, DecimalType)
            else column.cast(to_arrow(kind))
        )

    def _read_as(self, kind: LogicalType) -> pa.DataType:
        if isinstance(kind, RowType):
            return pa.struct([(field.name, self._read_as(field.type)) for field in kind.fields])
        if isinstance(kind, ArrayType):
            return pa.list_(self._read_as(kind.element))
        return pa.string() if self._quoted or kind.root in _AS_TEXT else to_arrow(kind)


def _check(block: bytes) -> None:
    """Raise Doubtful for what Arrow's reader takes and Jackson does not; it even crashes on a line that is null."""
    chars = np.frombuffer(block, np.uint8)
    starts = np.flatnonzero(chars == _LF)[: -1 if block.endswith(b"\n") else None] + 1
    if not block.startswith(b"{") or not (chars[starts] == _BRACE).all():
        raise Doubtful
    if (b"N" in block and b"NaN" in block) or (b"I" in block and b"Inf" in block):
        raise Doubtful
    if not block.isascii():
        block.decode()
