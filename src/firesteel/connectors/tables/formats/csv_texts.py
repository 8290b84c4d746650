"""Columns to lines of CSV, as Flink's CSV format writes them (RowDataToCsvConverters); whole columns at a time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    DecimalType,
    LogicalType,
    LogicalTypeRoot,
    RowType,
    TimeType,
)
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.characters import characters, places
from firesteel.connectors.tables.formats.csv_fields import CsvRules
from firesteel.connectors.tables.formats.java_texts import (
    base64_texts,
    clock_texts,
    decimal_texts,
    floating_texts,
    timestamp_texts,
)
from firesteel.connectors.tables.formats.lists import regrouped

_R = LogicalTypeRoot
_PLAIN: Final = (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.BOOLEAN)
_ALWAYS_QUOTED: Final = 24
_LAST_OF_ASCII: Final = 0x7F
_USUAL_QUOTES: Final = ("'", '"')
_WITH_A_SPACE: Final = (TimestampType, LocalZonedTimestampType)


def csv_lines(rows: pa.RecordBatch, row: RowType, rules: CsvRules, end: str = "\n") -> pa.Array:
    """Return the lines of rows, each with its `end`.

    >>> from firesteel.common.logical_types import parse_type
    >>> rows = pa.RecordBatch.from_pydict({"n": [1, None], "s": ["a b", ""]})
    >>> csv_lines(rows, parse_type("ROW<n BIGINT, s STRING>"), CsvRules()).to_pylist()
    ['1,"a b"\\n', ',\\n']
    """
    pieces: list[Any] = []
    for place, (column, field) in enumerate(zip(rows.columns, row.fields, strict=True)):
        if place:
            pieces.append(rules.delimiter)
        pieces.append(_field(column, field.type, rules))
    return pc.binary_join_element_wise(*pieces, end, "")


def _field(column: pa.Array, kind: LogicalType, rules: CsvRules) -> pa.Array:
    if isinstance(kind, ArrayType):
        texts = _quoted(_parts(column, kind, rules), rules)
    elif isinstance(kind, RowType):
        texts = _quoted(_row(column, kind, rules), rules)
    else:
        texts, textual = _single(column, kind)
        texts = _quoted(texts, rules, spaced=isinstance(kind, _WITH_A_SPACE)) if textual else texts
    return texts.fill_null(rules.null_literal or "") if texts.null_count else texts


def _parts(column: pa.Array, kind: ArrayType, rules: CsvRules) -> pa.Array:
    elements, _ = _single(column.flatten(), kind.element)
    filled = elements.fill_null(rules.null_literal or "")
    return pc.binary_join(regrouped(column, filled), rules.array_delimiter)


def _row(column: pa.Array, kind: RowType, rules: CsvRules) -> pa.Array:
    fields = [
        _single(part, field.type)[0].fill_null(rules.null_literal or "")
        for part, field in zip(column.flatten(), kind.fields, strict=True)
    ]
    return pc.if_else(
        column.is_valid(),
        pc.binary_join_element_wise(*fields, rules.array_delimiter),
        pa.scalar(None, pa.string()),
    )


def _single(column: pa.Array, kind: LogicalType) -> tuple[pa.Array, bool]:
    """Return the texts of single values, and whether they may need quotes."""
    if kind.root in _PLAIN:
        return column.cast(pa.string()), False
    if kind.root in (_R.FLOAT, _R.DOUBLE):
        return floating_texts(column), False
    if isinstance(kind, DecimalType):
        return decimal_texts(column, plain=False), False
    if kind.root in (_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME):
        return column.cast(pa.int64()).cast(pa.string()), False
    if kind.root in (_R.CHAR, _R.VARCHAR):
        return column, True
    if kind.root is _R.DATE:
        return column.cast(pa.string()), True
    if isinstance(kind, _WITH_A_SPACE):
        return timestamp_texts(column, " ", "Z" if isinstance(kind, LocalZonedTimestampType) else ""), True
    if isinstance(kind, TimeType):
        return clock_texts(column), True
    if kind.root in (_R.BINARY, _R.VARBINARY):
        return base64_texts(column), True
    raise UnsupportedError("is not supported by the format csv", who=f"the type {kind}")


def _quoted(texts: pa.Array, rules: CsvRules, *, spaced: bool = False) -> pa.Array:
    """Return texts, in quotes where Jackson writes them: long ones, and those with a low character.

    With `spaced`, they are digits and signs with a space.
    """
    quote = rules.quote
    if quote is None:
        return texts
    if spaced and quote in _USUAL_QUOTES and rules.escape in (None, "\\"):
        return pc.binary_join_element_wise(quote, texts, quote, "")
    special = [rules.delimiter, "\r", quote, *([rules.escape] if rules.escape else [])]
    needed = _needing_quotes(texts, max(map(ord, special)))
    if not pc.any(needed, min_count=0).as_py():
        return texts
    inner = texts
    for character in filter(None, (rules.escape, quote)):
        if _has(inner, character):
            inner = pc.replace_substring(inner, character, character * 2)
    within = pc.binary_join_element_wise(quote, inner, quote, "")
    return within if pc.all(needed, min_count=0).as_py() else pc.if_else(needed, within, texts)


def _needing_quotes(texts: pa.Array, highest: int) -> pa.Array:
    """Return which texts are long, or have a backslash or a character up to that code."""
    long = pc.greater(pc.utf8_length(texts), _ALWAYS_QUOTED)
    if pc.all(long, min_count=0).as_py():
        return long
    if highest > _LAST_OF_ASCII:
        return pc.or_(long, pc.match_substring_regex(texts, rf"[\x{{0}}-\x{{{highest:x}}}\\]"))
    data, ends = characters(texts), places(texts)
    low = (data <= highest) | (data == ord("\\"))
    before = np.zeros(len(data) + 1, np.int32)
    np.cumsum(low, out=before[1:])
    return pc.or_(long, pa.array(np.diff(before[ends - ends[0]]) > 0))


def _has(texts: pa.Array, character: str) -> bool:
    """Return whether a character is in one of the texts."""
    if ord(character) > _LAST_OF_ASCII:
        return True
    return bool((characters(texts) == ord(character)).any())
