"""Columns to lines of JSON, as Flink's JSON format writes them (RowDataToJsonConverters); whole columns at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    DecimalType,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
)
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.java_texts import (
    base64_texts,
    clock_texts,
    decimal_texts,
    floating_texts,
    timestamp_texts,
)
from firesteel.connectors.tables.formats.lists import regrouped

_R = LogicalTypeRoot
_WHOLE: Final = (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT)
_ESCAPES: Final = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"'}
_BACKSLASH: Final = 92
_FIRST_PLAIN: Final = 32


@dataclass(frozen=True)
class JsonWriting:
    """How JSON is written: `iso` means timestamps with a T, `without_nulls` that fields that are NULL are left out."""

    iso: bool = False
    without_nulls: bool = False
    plain_decimals: bool = False


def json_lines(rows: pa.RecordBatch, row: RowType, writing: JsonWriting, end: str = "\n") -> pa.Array:
    """Return the lines of rows, each with its `end`.

    >>> from firesteel.common.logical_types import parse_type
    >>> rows = pa.RecordBatch.from_pydict({"n": [1, None], "s": ['a"b', ""]})
    >>> json_lines(rows, parse_type("ROW<n BIGINT, s STRING>"), JsonWriting()).to_pylist()
    ['{"n":1,"s":"a\\\\"b"}\\n', '{"n":null,"s":""}\\n']
    """
    return _object(rows.columns, row, writing, end, rows.num_rows)


def _object(columns: list[pa.Array], row: RowType, writing: JsonWriting, end: str, count: int) -> pa.Array:
    if not row.fields:
        return pa.array([f"{{}}{end}"] * count, pa.string())
    if writing.without_nulls:
        return _object_without_nulls(columns, row, writing, end)
    pieces: list[Any] = []
    for place, (column, field) in enumerate(zip(columns, row.fields, strict=True)):
        name = _quoted(pa.array([field.name]))[0].as_py()
        pieces += [f"{',' if place else '{'}{name}:", _or_null(_texts(column, field.type, writing))]
    return _joined(*pieces, f"}}{end}")


def _object_without_nulls(columns: list[pa.Array], row: RowType, writing: JsonWriting, end: str) -> pa.Array:
    entries = []
    for column, field in zip(columns, row.fields, strict=True):
        name = _quoted(pa.array([field.name]))[0].as_py()
        entries.append(_joined(f",{name}:", _texts(column, field.type, writing)).fill_null(""))
    together = pc.binary_join_element_wise(*entries, "")
    return _joined("{", pc.utf8_slice_codeunits(together, 1), f"}}{end}")


def _or_null(texts: pa.Array) -> pa.Array:
    return texts.fill_null("null") if texts.null_count else texts


def _joined(*pieces: Any) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")


def _texts(column: pa.Array, kind: LogicalType, writing: JsonWriting) -> pa.Array:
    if isinstance(kind, RowType):
        texts = _object(column.flatten(), kind, writing, "", len(column))
        return pc.if_else(column.is_valid(), texts, None)
    if isinstance(kind, ArrayType):
        elements = _or_null(_texts(column.flatten(), kind.element, writing))
        return _listed("[", regrouped(column, elements), "]")
    if isinstance(kind, MapType | MultisetType):
        return _map(column, kind, writing)
    if kind.root in _WHOLE or kind.root is _R.BOOLEAN:
        return column.cast(pa.string())
    if kind.root in (_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME):
        return column.cast(pa.int64()).cast(pa.string())
    if isinstance(kind, DecimalType):
        return decimal_texts(column, plain=writing.plain_decimals)
    if kind.root in (_R.FLOAT, _R.DOUBLE):
        return _floating(column)
    if kind.root in (_R.CHAR, _R.VARCHAR):
        return _quoted(column)
    return _joined('"', _unquoted(column, kind, writing), '"')


def _unquoted(column: pa.Array, kind: LogicalType, writing: JsonWriting) -> pa.Array:
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        zulu = "Z" if isinstance(kind, LocalZonedTimestampType) else ""
        return timestamp_texts(column, "T" if writing.iso else " ", zulu)
    if kind.root is _R.DATE:
        return column.cast(pa.string())
    if kind.root is _R.TIME_WITHOUT_TIME_ZONE:
        return clock_texts(column)
    if kind.root in (_R.BINARY, _R.VARBINARY):
        return base64_texts(column)
    raise UnsupportedError("is not supported by the format json", who=f"the type {kind}")


def _floating(column: pa.Array) -> pa.Array:
    texts = floating_texts(column)
    finite = pc.is_finite(column)
    return (
        texts if pc.all(finite, min_count=0).as_py() else pc.if_else(finite, texts, _joined('"', texts, '"'))
    )


def _map(column: pa.Array, kind: MapType | MultisetType, writing: JsonWriting) -> pa.Array:
    key, value = kind.children if isinstance(kind, MapType) else (kind.element, IntType())
    if not key.has_family(LogicalTypeFamily.CHARACTER_STRING):
        raise UnsupportedError(
            "is not supported by the format json: keys must be text", who=f"the type {kind}"
        )
    start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
    keys, items = column.keys.slice(start, end - start), column.items.slice(start, end - start)
    entries = _joined(_quoted(keys), ":", _or_null(_texts(items, value, writing)))
    return _listed("{", regrouped(column, entries), "}")


def _listed(start: str, lists: pa.Array, end: str) -> pa.Array:
    return _joined(start, pc.binary_join(lists, ","), end)


def _quoted(column: pa.Array) -> pa.Array:
    """Return texts in quotes, escaped as Jackson does: what JSON demands, and nothing else."""
    for code in _special(column):
        column = pc.replace_substring(column, chr(code), _ESCAPES.get(code) or _escape(code))
    return _joined('"', column, '"')


def _escape(code: int) -> str:
    return "\\\\" if code == _BACKSLASH else f"\\u{code:04X}"


def _special(column: pa.Array) -> list[int]:
    """Return the characters of a column that have to be escaped, the backslash first."""
    data = column.buffers()[2]
    if data is None:
        return []
    chars = np.frombuffer(data, np.uint8)
    odd = chars[(chars < _FIRST_PLAIN) | (chars == ord('"')) | (chars == _BACKSLASH)]
    return sorted(np.unique(odd).tolist(), reverse=True) if len(odd) else []
