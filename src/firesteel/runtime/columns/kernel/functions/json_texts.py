"""Values to JSON (Flink: JsonGenerateUtils; Java: Jackson)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa

from firesteel.common.logical_types import (
    ArrayType,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    TimestampType,
    parse_type,
)
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.text_parts import java_instant_text
from firesteel.common.typeinfo.java_text import double_text
from firesteel.runtime.columns.kernel.forms import converted
from firesteel.runtime.columns.kernel.functions.documents import quoted
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction

_R = LogicalTypeRoot


def _floating(value: float) -> str:
    """Return a floating-point number as Java's BigDecimal writes its digits; what is no number is a text."""
    text = double_text(value or 0.0)
    return str(Decimal(text)) if abs(value) < float("inf") else quoted(text)


_LEAVES: Final[dict[LogicalTypeRoot, Callable[[Any], str]]] = {
    **dict.fromkeys((_R.CHAR, _R.VARCHAR), quoted),
    _R.VARIANT: str,
    **dict.fromkeys((_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT), str),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), lambda data: quoted(b64encode(data).decode())),
    _R.BOOLEAN: lambda value: "true" if value else "false",
    _R.DECIMAL: str,
    **dict.fromkeys((_R.FLOAT, _R.DOUBLE), _floating),
}


def texts(column: pa.Array, data_type: LogicalType) -> list[str]:
    """Return the values of a column as JSON; NULL is ``null``."""
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return _times(column, "Z" if isinstance(data_type, LocalZonedTimestampType) else "")
    if isinstance(data_type, ArrayType):
        parts = texts(column.values, data_type.element)
        return _where_valid(column, (f"[{','.join(part)}]" for part in _slices(column, parts)))
    if isinstance(data_type, RowType | StructuredType):
        given = data_type.fields if isinstance(data_type, RowType) else data_type.attributes
        names = [field.name for field in given]
        fields = [texts(column.field(place), part) for place, part in enumerate(data_type.children)]
        return _where_valid(
            column, (_object(zip(names, row, strict=True)) for row in zip(*fields, strict=True))
        )
    if isinstance(data_type, MapType | MultisetType):
        value = data_type.value if isinstance(data_type, MapType) else IntType()
        entries = list(zip(column.keys.to_pylist(), texts(column.items, value), strict=True))
        return _where_valid(column, (_object(part) for part in _slices(column, entries)))
    leaf = _LEAVES[data_type.root]
    return ["null" if value is None else leaf(value) for value in column.to_pylist()]


def _object(entries: Iterable[tuple[str | None, str]]) -> str:
    last = dict(entries)
    if None in last:
        raise ComputeError("a map with the key NULL has no JSON")
    return f"{{{','.join(f'{quoted(str(key))}:{last[key]}' for key in sorted(last, key=str))}}}"


def _times(column: pa.Array, zone: str) -> list[str]:
    factor = 1 if column.type.unit == "ns" else 1000
    numbers = column.cast(pa.int64()).to_pylist()
    return ["null" if number is None else _time(number * factor, zone) for number in numbers]


def _time(nanos: int, zone: str) -> str:
    """Return a timestamp as ISO 8601 has it, with the digits of the fraction that it needs."""
    text = java_instant_text(nanos)[:-1]
    whole, point, fraction = text.partition(".")
    return quoted(f"{whole}{point}{fraction.rstrip('0')}{zone}")


def _where_valid(column: pa.Array, found: Iterable[str]) -> list[str]:
    return [
        text if valid else "null" for valid, text in zip(column.is_valid().to_pylist(), found, strict=True)
    ]


def _slices(column: pa.Array, parts: list[Any]) -> Iterable[list[Any]]:
    return (parts[start:end] for start, end in pairwise(column.offsets.to_pylist()))


def _json_text(kernel_type: str, type_text: str) -> VectorFunction:
    """Return what writes values of the type of a text; ``null`` for NULL."""
    data_type = parse_type(type_text)
    arrow = to_arrow(data_type)

    def compute(column: pa.ChunkedArray) -> pa.Array:
        found = [text for chunk in column.chunks for text in texts(converted(chunk, arrow), data_type)]
        return pa.array(found, pa.string())

    return VectorFunction(compute, (kernel_type,), "VARCHAR")


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {"json_text": _json_text}
