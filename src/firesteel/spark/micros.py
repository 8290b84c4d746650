"""Rows with the timestamps that Spark has: of microseconds, whatever more digits a type says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from firesteel.common.logical_types import (
    ArrayType,
    LocalZonedTimestampType,
    LogicalType,
    MapType,
    RowType,
    TimestampType,
)
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.endpoints import ColumnWriter, Kinds
from firesteel.functions.forwarding import ForwardingWriter

_MOST_DIGITS: Final = 6


def in_micros(kind: LogicalType) -> Any:
    """Return a type with at most six digits of seconds in its timestamps, those within others included.

    >>> str(in_micros(RowType.of({"a": ArrayType(TimestampType(9)), "b": TimestampType(3)})))
    'ROW<`a` ARRAY<TIMESTAMP(6)>, `b` TIMESTAMP(3)>'
    """
    match kind:
        case TimestampType() | LocalZonedTimestampType() if kind.precision > _MOST_DIGITS:
            return replace(kind, precision=_MOST_DIGITS)
        case ArrayType():
            return replace(kind, element=in_micros(kind.element))
        case MapType():
            return replace(kind, key=in_micros(kind.key), value=in_micros(kind.value))
        case RowType():
            fields = (field._replace(type=in_micros(field.type)) for field in kind.fields)
            return replace(kind, fields=tuple(fields))
    return kind


class MicrosWriter(ForwardingWriter[ColumnWriter], ColumnWriter):
    """Gives another writer rows of a type, which differ from those that come in the digits of timestamps alone."""

    def __init__(self, writer: ColumnWriter, row: RowType) -> None:
        super().__init__(writer)
        self._schema = to_arrow_schema(row)

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        pairs = zip(rows.columns, self._schema.types, strict=True)
        columns = [column.cast(kind, safe=False) for column, kind in pairs]
        self._writer.write_columns(pa.RecordBatch.from_arrays(columns, schema=self._schema), kinds)
