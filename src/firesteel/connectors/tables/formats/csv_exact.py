"""CSV to the values of a type, field by field, as Flink's CSV format reads it (CsvToRowDataConverters)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from firesteel.common.calendar_days import wall_clock
from firesteel.common.errors import UnsupportedError
from firesteel.common.java_numbers import fitted, floating
from firesteel.common.logical_types import (
    ArrayType,
    DecimalType,
    LogicalType,
    LogicalTypeRoot,
    RowType,
    TimeType,
)
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.temporal import TimestampType
from firesteel.connectors.tables.formats.csv_fields import CsvRules
from firesteel.connectors.tables.formats.java_values import (
    decimal,
    in_unit,
    iso_clock,
    lenient_date,
    loose_date,
    sql_clock,
    whole,
)

_R = LogicalTypeRoot
Convert = Callable[[str], Any]

_UNITS: Final = {"us": 1_000, "ns": 1}
_MILLI: Final = 1_000_000
_DAY_NANOS: Final = 86_400_000_000_000
_MOST_PRECISION: Final = 3


def row_reader(row: RowType, rules: CsvRules) -> Callable[[list[str]], tuple[Any, ...]]:
    """Return a function from the fields of a record to stored values; it raises ValueError for a misfit."""
    fields = [(field.name, _converter(field.type, rules)) for field in row.fields]

    def read(texts: list[str]) -> tuple[Any, ...]:
        if len(texts) > len(fields) or (len(texts) < len(fields) and not rules.lenient):
            raise ValueError(f"{len(texts)} fields where the table has {len(fields)}")
        values = []
        for (name, convert), text in zip(fields, texts, strict=False):
            try:
                values.append(convert(text))
            except (ValueError, ArithmeticError) as error:
                raise ValueError(f"field {name!r}: {error}") from error
        return (*values, *[None] * (len(fields) - len(values)))

    return read


def _converter(data_type: LogicalType, rules: CsvRules) -> Convert:
    convert = _of_text(data_type, rules)

    def read(text: str) -> Any:
        try:
            return None if text == rules.null_literal else convert(text)
        except (ValueError, ArithmeticError):
            if not rules.lenient:
                raise
            return None

    return read


def _of_text(data_type: LogicalType, rules: CsvRules) -> Convert:
    if isinstance(data_type, ArrayType):
        element = _part(data_type.element, rules)
        return lambda text: [element(part) for part in _parts(text, rules.array_delimiter)]
    if isinstance(data_type, RowType):
        return _row(data_type, rules)
    return _single(data_type)


def _row(row: RowType, rules: CsvRules) -> Convert:
    fields = [_part(field.type, rules) for field in row.fields]

    def read(text: str) -> Any:
        parts = _parts(text, rules.array_delimiter)
        if not parts:
            return None
        values = [convert(part) for convert, part in zip(fields, parts, strict=False)]
        return (*values, *[None] * (len(fields) - len(values)))

    return read


def _part(data_type: LogicalType, rules: CsvRules) -> Convert:
    if isinstance(data_type, ArrayType | RowType):
        requirement = "cannot be inside an array or a row in the format csv"
        raise UnsupportedError(requirement, who=f"the type {data_type}")
    return _converter(data_type, replace(rules, lenient=True))


def _parts(text: str, delimiter: str) -> list[str]:
    return text.split(delimiter) if text and delimiter else [text] if text else []


def _single(data_type: LogicalType) -> Convert:
    if isinstance(data_type, DecimalType):
        precision, scale = data_type.precision, data_type.scale
        return lambda text: fitted(decimal(text), precision, scale)
    if isinstance(data_type, TimestampType):
        unit = _UNITS[to_arrow(data_type).unit]
        return partial(_timestamp, precision=data_type.precision, unit=unit)
    if isinstance(data_type, TimeType):
        if data_type.precision > _MOST_PRECISION:
            raise UnsupportedError("is not supported by the format csv", who=f"the type {data_type}")
        return partial(_clock, precision=data_type.precision)
    if data_type.root not in _LEAVES:
        raise UnsupportedError("is not supported by the format csv", who=f"the type {data_type}")
    return _LEAVES[data_type.root]


def _timestamp(text: str, precision: int, unit: int) -> int:
    date, found, clock = text.strip().partition(" ")
    if not found:
        raise ValueError(f"{text!r} is no time")
    return in_unit(wall_clock(lenient_date(date), sql_clock(clock)), precision, unit)


def _clock(text: str, precision: int) -> int:
    nanos = iso_clock(text)
    if nanos == _DAY_NANOS:
        raise ValueError(f"{text!r} is no time of the day")
    step = int(10 ** (_MOST_PRECISION - precision))
    return nanos // _MILLI // step * step


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is no base64 text") from error


_LEAVES: Final[dict[LogicalTypeRoot, Convert]] = {
    _R.TINYINT: lambda text: whole(text.strip(), 8),
    _R.SMALLINT: lambda text: whole(text.strip(), 16),
    **dict.fromkeys((_R.INTEGER, _R.INTERVAL_YEAR_MONTH), lambda text: whole(text.strip(), 32)),
    **dict.fromkeys((_R.BIGINT, _R.INTERVAL_DAY_TIME), lambda text: whole(text.strip(), 64)),
    **dict.fromkeys((_R.FLOAT, _R.DOUBLE), floating),
    **dict.fromkeys((_R.CHAR, _R.VARCHAR), str),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), _bytes),
    _R.BOOLEAN: lambda text: text.strip().lower() == "true",
    _R.DATE: loose_date,
    _R.NULL: lambda _: None,
}
