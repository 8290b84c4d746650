"""Formats of messages as tests use them: by their names and options, with rows as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from firesteel.common.logical_types import Field, RowType, parse_type
from firesteel.common.types import RowKind
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_texts import JsonWriting, json_lines
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
)
from firesteel.connectors.tables.options import Options

KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
_SHOWN = {kind.value: shown for shown, kind in KINDS.items()}


def row_type(columns: str) -> RowType:
    """The type of rows with columns as SQL writes them."""
    found = parse_type(f"ROW<{columns}> NOT NULL")
    assert isinstance(found, RowType)
    return found


def given(form: str, options: dict[str, str]) -> Options:
    return Options({f"{form}.{key}": value for key, value in options.items()}, "table 't'", "test")


def decoder(form: str, columns: str, metadata: Sequence[str] = (), **options: str) -> MessageDecoder:
    options_of_table = given(form, options)
    found = MESSAGE_FORMATS[form].decoder(options_of_table, row_type(columns), metadata)
    options_of_table.finish()
    return found


def encoder(form: str, columns: str, **options: str) -> MessageEncoder:
    options_of_table = given(form, options)
    found = MESSAGE_FORMATS[form].encoder(options_of_table, row_type(columns))
    options_of_table.finish()
    return found


def messages(values: Sequence[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary())


def read(form: str, columns: str, values: Sequence[bytes | None], **options: str) -> list[Any] | BadMessage:
    """The rows of messages as tuples of Python, or the first that is bad."""
    found = decoder(form, columns, **options).decode(messages(values))
    return found if isinstance(found, BadMessage) else [tuple(row.values()) for row in found.rows.to_pylist()]


def written(form: str, columns: str, rows: Sequence[str], **options: str) -> list[bytes | None]:
    """The messages of rows that are given as JSON."""
    return encoder(form, columns, **options).encode(rows_of(columns, rows)).to_pylist()


def rows_of(columns: str, rows: Sequence[str]) -> pa.RecordBatch:
    """Rows that are given as JSON."""
    found = JsonColumns(row_type(columns), JsonRules()).read("".join(f"{row}\n" for row in rows).encode())
    assert isinstance(found, pa.RecordBatch)
    return found


def shown(decoded: Decoded, columns: str, metadata: dict[str, Any]) -> list[list[str]]:
    """The rows as JSON, each after its kind."""
    fields = [*row_type(columns).fields, *(Field(name, kind) for name, kind in metadata.items())]
    texts = json_lines(decoded.rows, RowType(tuple(fields), nullable=False), JsonWriting(), "").to_pylist()
    kinds = decoded.kinds.tolist() if decoded.kinds is not None else [0] * len(texts)
    return [[_SHOWN[kind], text] for kind, text in zip(kinds, texts, strict=True)]
