"""JSON to the values of a type, line by line, as Flink's JSON format reads it (JsonParserToRowDataConverters)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from firesteel.common.calendar_days import wall_clock
from firesteel.common.errors import UnsupportedError
from firesteel.common.java_numbers import fitted, floating
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
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.common.typeinfo.java_text import double_text
from firesteel.connectors.tables.formats.java_values import (
    decimal,
    in_range,
    in_unit,
    iso_clock,
    iso_date,
    lenient_date,
    sql_clock,
    whole,
)

_R = LogicalTypeRoot
Convert = Callable[[Any], Any]

_BITS: Final = {_R.TINYINT: 8, _R.SMALLINT: 16, _R.INTEGER: 32, _R.BIGINT: 64}
_UNITS: Final = {"us": 1_000, "ns": 1}
_NANOS: Final = 1_000_000
_DAY: Final = 86_400_000
_BLANK: Final = " \t\r\n\ufeff"


@dataclass(frozen=True)
class JsonRules:
    """How JSON is read: `iso` means timestamps with a T, `strict` that no field may be missing."""

    iso: bool = False
    strict: bool = False
    lenient: bool = False


class _Number(str):
    """The text of a number in JSON."""

    __slots__ = ()

    @property
    def is_whole(self) -> bool:
        return not any(mark in self for mark in ".eE")


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class _Object(list[tuple[str, Any]]):
    """The fields of an object in their order, equal names included."""


_DECODER: Final = json.JSONDecoder(
    parse_float=_Number, parse_int=_Number, parse_constant=_constant, object_pairs_hook=_Object, strict=False
)


def rows_reader(row: RowType, rules: JsonRules) -> Callable[[str], list[tuple[Any, ...]]]:
    """Return a function from a line to the stored values of its rows; it raises ValueError for a line that is damaged.

    A line has an object, or an array of objects. What follows it on the line does not matter, as in Flink. With
    `lenient`, a field that does not fit is NULL.
    """
    convert = _row(row, rules)

    def read(line: str) -> list[tuple[Any, ...]]:
        value, _ = _DECODER.raw_decode(line.lstrip(_BLANK))
        if isinstance(value, _Object) or not isinstance(value, list):
            return [convert(value)]
        return [convert(item) for item in value]

    return read


def row_reader(row: RowType, rules: JsonRules) -> Callable[[str], tuple[Any, ...]]:
    """Return a function as `rows_reader` does, for lines that have one object each."""
    convert = _row(row, rules)
    return lambda line: convert(_DECODER.raw_decode(line.lstrip(_BLANK))[0])


def _nullable(convert: Convert, rules: JsonRules) -> Convert:
    def lenient(value: Any) -> Any:
        try:
            return None if value is None else convert(value)
        except (ValueError, ArithmeticError):
            return None

    if rules.lenient:
        return lenient
    return lambda value: None if value is None else convert(value)


def _converter(data_type: LogicalType, rules: JsonRules) -> Convert:
    return _nullable(_of_value(data_type, rules), rules)


def _of_value(data_type: LogicalType, rules: JsonRules) -> Convert:
    if isinstance(data_type, RowType):
        return _row(data_type, rules)
    if isinstance(data_type, ArrayType):
        element = _converter(data_type.element, rules)
        return lambda value: [element(item) for item in _expect(value, list, "array")]
    if isinstance(data_type, MapType | MultisetType):
        return _map(data_type, rules)
    if isinstance(data_type, DecimalType):
        return partial(_decimal, precision=data_type.precision, scale=data_type.scale)
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return _timestamp(data_type, rules)
    if data_type.root in (_R.TINYINT, _R.SMALLINT):
        return partial(_narrow, bits=_BITS[data_type.root])
    if data_type.root in _LEAVES:
        return _LEAVES[data_type.root]
    raise UnsupportedError("is not supported by the format json", who=f"the type {data_type}")


def _row(row: RowType, rules: JsonRules) -> Convert:
    fields = {field.name: (place, _converter(field.type, rules)) for place, field in enumerate(row.fields)}
    count = len(row.fields)

    def read(value: Any) -> tuple[Any, ...]:
        values: list[Any] = [None] * count
        seen = 0
        for name, item in _expect(value, _Object, "object"):
            if name not in fields or seen == count:  # as Flink: after so many fields no more are looked at
                continue
            place, convert = fields[name]
            seen += 1
            try:
                values[place] = convert(item)
            except (ValueError, ArithmeticError) as error:
                raise ValueError(f"field {name!r}: {error}") from error
        if seen < count and rules.strict:
            found = {name for name, _ in value}
            missing = next((name for name in fields if name not in found), None)
            raise ValueError(f"the field {missing!r} is missing")
        return tuple(values)

    return read


def _map(data_type: MapType | MultisetType, rules: JsonRules) -> Convert:
    key, of_value = data_type.children if isinstance(data_type, MapType) else (data_type.element, IntType())
    if not key.has_family(LogicalTypeFamily.CHARACTER_STRING):
        raise UnsupportedError(
            "is not supported by the format json: keys must be text", who=f"the type {data_type}"
        )
    value = _converter(of_value, rules)
    return lambda found: list({name: value(item) for name, item in _expect(found, _Object, "object")}.items())


def _expect(value: Any, kind: type, what: str) -> Any:
    if type(value) is kind:
        return value
    raise ValueError(f"{_text(value)} is no {what}")


def _text(value: Any) -> str:
    """Return the text of a value as Jackson does: JSON without spaces for objects and arrays."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return _tree(value)


def _tree(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value) if value.is_whole else double_text(float(value))
    if isinstance(value, _Object):
        return f"{{{','.join(f'{_tree(key)}:{_tree(item)}' for key, item in dict(value).items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_tree, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> str:
    """Return the text of a value that is neither an object nor an array."""
    if isinstance(value, list):
        raise ValueError(f"{_text(value)} is no single value")
    return _text(value)


def _narrow(value: Any, bits: int) -> int:
    return whole(_plain(value).strip(), bits)


def _wide(value: Any, bits: int) -> int:
    if isinstance(value, _Number) and not value.is_whole:
        number = decimal(value)
        # As an integer, 1e999999999 would have that many digits.
        if number and number.adjusted() > bits:
            raise ValueError(f"{value} has more than {bits} bits")
        return in_range(int(number), bits)
    return whole(_plain(value).strip(), bits)


def _decimal(value: Any, precision: int, scale: int) -> Any:
    text = _plain(value)
    return fitted(decimal(text if isinstance(value, _Number) else text.strip()), precision, scale)


def _boolean(value: Any) -> bool:
    if value == []:
        return False
    return value if isinstance(value, bool) else _plain(value).strip().lower() == "true"


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str) or isinstance(value, _Number):
        raise ValueError(f"{_text(value)} is no base64 text")
    try:
        return base64.b64decode(value.strip(), validate=True)
    except binascii.Error as error:
        raise ValueError(f"{value!r} is no base64 text") from error


def _timestamp(data_type: TimestampType | LocalZonedTimestampType, rules: JsonRules) -> Convert:
    separator, clock = ("T", iso_clock) if rules.iso else (" ", sql_clock)
    precision = data_type.precision
    unit = _UNITS[to_arrow(data_type).unit]
    zulu = isinstance(data_type, LocalZonedTimestampType)

    def read(value: Any) -> int:
        text = _plain(value)
        if zulu and not text.endswith("Z"):
            raise ValueError(f"{text!r} has no Z at its end")
        date, found, time = (text[:-1] if zulu else text).partition(separator)
        if not found:
            raise ValueError(f"{text!r} is no time")
        return in_unit(wall_clock(lenient_date(date), clock(time)), precision, unit)

    return read


_LEAVES: Final[dict[LogicalTypeRoot, Convert]] = {
    _R.INTEGER: partial(_wide, bits=32),
    _R.INTERVAL_YEAR_MONTH: partial(_wide, bits=32),
    _R.BIGINT: partial(_wide, bits=64),
    _R.INTERVAL_DAY_TIME: partial(_wide, bits=64),
    **dict.fromkeys((_R.FLOAT, _R.DOUBLE), lambda value: floating(_plain(value))),
    **dict.fromkeys((_R.CHAR, _R.VARCHAR), lambda value: _utf8(_text(value))),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), _bytes),
    _R.BOOLEAN: _boolean,
    _R.DATE: lambda value: iso_date(_plain(value)),
    _R.TIME_WITHOUT_TIME_ZONE: lambda value: sql_clock(_plain(value)) // _NANOS % _DAY,
    _R.NULL: lambda _: None,
}


def _utf8(text: str) -> str:
    """Return a text without halves of surrogate pairs, which become `?` as in Java."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
