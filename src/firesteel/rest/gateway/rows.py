"""Rows as the gateway's JSON has them, and back, whole columns at a time (Flink: ResultInfoSerializer).

A row has the kind of its change and its fields. In the format JSON a field is as Flink's format `json` writes it, in
PLAIN_TEXT it is the text that a cast to STRING gives; NULL is null in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConnectorError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.text import cells
from firesteel.common.types import RowKind
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_texts import JsonWriting, json_lines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.numbered import Numbered
from firesteel.functions.columns.endpoints import Changes
from firesteel.rest.gateway.type_json import of_type_json, to_type_json

_KINDS: Final = [kind.name for kind in sorted(RowKind, key=lambda kind: kind.value)]
_WRITING: Final = JsonWriting(iso=True)
_RULES: Final = JsonRules(iso=True)


class RowFormat(StrEnum):
    """How fields are written."""

    JSON = "JSON"
    PLAIN_TEXT = "PLAIN_TEXT"


class SentRow(msgspec.Struct, frozen=True):
    """A row: the kind of its change (INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE), and a field for each column."""

    kind: str
    fields: list[Any]


class SentColumn(msgspec.Struct, frozen=True):
    """A column of a result."""

    name: str
    logicalType: dict[str, Any]  # noqa: N815 - Flink's name
    comment: str | None = None


def sent_columns(row: RowType) -> list[SentColumn]:
    """Return the columns of rows of a type."""
    return [SentColumn(field.name, to_type_json(field.type)) for field in row.fields]


def received_row(columns: Sequence[SentColumn]) -> RowType:
    """Return the type of rows with these columns."""
    fields = tuple(Field(column.name, of_type_json(column.logicalType)) for column in columns)
    return RowType(fields, nullable=False)


def sent_rows(changes: Changes, row: RowType, form: RowFormat, zone: str) -> list[SentRow]:
    """Return rows as they are sent; `zone` is the session's time zone, which texts of TIMESTAMP_LTZ are in."""
    rows, kinds = changes
    codes = [0] * rows.num_rows if kinds is None else kinds.tolist()
    columns = [
        _json_texts(column, field.type) if form is RowFormat.JSON else _plain_texts(column, field.type, zone)
        for column, field in zip(rows.columns, row.fields, strict=True)
    ]
    fields = zip(*columns, strict=True) if columns else iter([()] * rows.num_rows)
    return [SentRow(_KINDS[code], list(values)) for code, values in zip(codes, fields, strict=True)]


def _json_texts(column: pa.Array, data_type: LogicalType) -> list[msgspec.Raw]:
    name = "f"
    batch = pa.RecordBatch.from_arrays([column], names=[name])
    lines = json_lines(batch, RowType((Field(name, data_type),)), _WRITING, end="")
    texts = pc.utf8_slice_codeunits(lines, len(f'{{"{name}":'), -1)
    return [msgspec.Raw(text.encode()) for text in texts.to_pylist()]


def _plain_texts(column: pa.Array, data_type: LogicalType, zone: str) -> list[str | None]:
    valid = column.is_valid().to_pylist()
    texts = cells(column, data_type, zone)
    return [text if there else None for text, there in zip(texts, valid, strict=True)]


class RowReader:
    """Makes columns of rows in the format JSON.

    Raises ConnectorError for rows that are not of the type.
    """

    def __init__(self, row: RowType) -> None:
        self._schema = to_arrow_schema(row)
        numbered = RowType(tuple(Field(f"f{place}", part) for place, part in enumerate(row.children)))
        self._columns = JsonColumns(numbered, _RULES)

    def read(self, kinds: Sequence[str], fields: Sequence[Sequence[msgspec.Raw]]) -> Changes:
        """Return the rows with these kinds, a list of fields for each."""
        lines = [
            b"{" + b",".join(b'"f%d":%b' % (place, bytes(raw)) for place, raw in enumerate(values)) + b"}"
            for values in fields
        ]
        found = self._columns.read(b"\n".join([*lines, b""]))
        if isinstance(found, Misfit | Numbered):
            raise ConnectorError("must be of its columns' types", who="a row of the gateway", got=str(found))
        codes = pa.array([_KINDS.index(kind) for kind in kinds], pa.int8()).to_numpy()
        rows = pa.RecordBatch.from_arrays(found.columns, schema=self._schema)
        return rows, codes if codes.any() else None
