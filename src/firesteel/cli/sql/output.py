"""The rows of a result for programs: CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, TextIO

import pyarrow as pa

from firesteel.common.logical_types import (
    ArrayType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    RowType,
)
from firesteel.common.logical_types.text import cast_to_string
from firesteel.common.types import RowKind
from firesteel.table.table_result import TableResult

Format = Literal["table", "csv", "json"]

_AS_THEY_ARE: Final = frozenset(
    {
        LogicalTypeRoot.BOOLEAN,
        LogicalTypeRoot.TINYINT,
        LogicalTypeRoot.SMALLINT,
        LogicalTypeRoot.INTEGER,
        LogicalTypeRoot.BIGINT,
        LogicalTypeRoot.DECIMAL,
        LogicalTypeRoot.FLOAT,
        LogicalTypeRoot.DOUBLE,
        LogicalTypeRoot.NULL,
    }
)
_KINDS: Final = [str(kind) for kind in sorted(RowKind, key=lambda kind: kind.value)]


def write(result: TableResult, form: Format, output: TextIO) -> None:
    """Write the rows of a result, each as soon as it is there."""
    if form == "table":
        result.print_on(output)
    elif form == "csv":
        _write_csv(result, output)
    else:
        _write_json(result, output)


def _write_csv(result: TableResult, output: TextIO) -> None:
    """Write a line of names and a line for each row; NULL is an empty field, an empty text is in quotes."""
    names = result.get_resolved_schema().get_column_names()
    output.write(_csv_line(["op", *names] if result.shows_kinds else names))
    for kind, values in _rows(result, _texts):
        output.write(_csv_line([kind, *values] if result.shows_kinds else values))
        output.flush()


def _csv_line(values: Sequence[str | None]) -> str:
    """Return the line of a row.

    >>> _csv_line(["a", 'b"c', None, "", "d,e"])
    'a,"b""c",,"","d,e"\\n'
    """
    return ",".join(map(_csv_field, values)) + "\n"


def _csv_field(value: str | None) -> str:
    if value is None:
        return ""
    quoted = not value or any(mark in value for mark in ',"\n\r')
    return '"' + value.replace('"', '""') + '"' if quoted else value


def _write_json(result: TableResult, output: TextIO) -> None:
    """Write an object for each row, one a line."""
    names = result.get_resolved_schema().get_column_names()
    for kind, values in _rows(result, _jsonable):
        row = dict(zip(names, values, strict=True))
        output.write(f"{_json_text({'op': kind, **row} if result.shows_kinds else row)}\n")
        output.flush()


def _json_text(value: Any) -> str:
    """Return a value as JSON; decimal numbers keep all of their digits.

    >>> _json_text({"a": [Decimal("1.50"), None, "é"]})
    '{"a": [1.50, null, "é"]}'
    """
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)}: {_json_text(part)}' for key, part in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_json_text, value))}]"
    return f"{value:f}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


_Column = Callable[[pa.Array, LogicalType, str], list[Any]]


def _rows(result: TableResult, convert: _Column) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for rows, kinds in result.batches():
        columns = [
            convert(column, field.type, result.zone)
            for column, field in zip(rows.columns, result.row.fields, strict=True)
        ]
        codes = [0] * rows.num_rows if kinds is None else kinds.tolist()
        for code, values in zip(codes, zip(*columns, strict=True), strict=True):
            yield _KINDS[code], values


def _texts(column: pa.Array, data_type: LogicalType, zone: str) -> list[str | None]:
    return list(cast_to_string(column, data_type, zone).to_pylist())


def _jsonable(column: pa.Array, data_type: LogicalType, zone: str) -> list[Any]:
    if data_type.root in _AS_THEY_ARE:
        return list(column.to_pylist())
    if isinstance(data_type, RowType):
        names = [field.name for field in data_type.fields]
        parts = [
            _jsonable(column.field(place), field.type, zone) for place, field in enumerate(data_type.fields)
        ]
        rows = (dict(zip(names, values, strict=True)) for values in zip(*parts, strict=True))
        return [
            row if valid else None for valid, row in zip(column.is_valid().to_pylist(), rows, strict=True)
        ]
    if isinstance(data_type, ArrayType):
        elements = _jsonable(column.values, data_type.element, zone)
        return [None if where is None else elements[where] for where in _slices(column)]
    if isinstance(data_type, MapType):
        keys = _texts(column.keys, data_type.key, zone)
        items = _jsonable(column.items, data_type.value, zone)
        return [
            None if where is None else dict(zip(keys[where], items[where], strict=True))
            for where in _slices(column)
        ]
    return _texts(column, data_type, zone)


def _slices(column: pa.Array) -> Iterator[slice | None]:
    offsets = column.offsets.to_pylist()
    for place, valid in enumerate(column.is_valid().to_pylist()):
        yield slice(offsets[place], offsets[place + 1]) if valid else None
