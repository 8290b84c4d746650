"""CAST and TRY_CAST in the kernel's SQL (Flink: CastRule and its implementations).

Texts in the usual form are read by DuckDB, all others by functions that read as Flink does.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeFamily,
    MapType,
    MultisetType,
    NullType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.strings import MAX_LENGTH, LengthType
from firesteel.relational.expressions import Call
from firesteel.relational.translation.arithmetic import wrapped
from firesteel.relational.translation.moments import DAY, epoch_day, floored, millis
from firesteel.relational.translation.readings import read
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import identifier, kernel_type, quoted
from firesteel.relational.translation.zones import instant_text, local_text

_TEXTS: Final = (CharType, VarCharType)
_BYTES: Final = (BinaryType, VarBinaryType)
_CLOCKS: Final = (TimestampType, LocalZonedTimestampType)
_DATE_LENGTH: Final = len("2020-01-01")
"""Flink shows the last four digits of a year."""


def _cast(tried: str) -> Translation:
    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        (operand,) = call.operands
        return converted(translator, texts[0], operand.type, call.type, tried)

    return translate


def converted(translator: Translator, text: str, given: LogicalType, to: LogicalType, tried: str = "") -> str:
    """Return a text of the type `given` as one of the type `to`; NULL where that fails if `tried` is not empty."""
    if isinstance(given, NullType):
        return f"CAST(NULL AS {kernel_type(to)})"
    if given.copy(nullable=True) == to.copy(nullable=True):
        return text
    if isinstance(to, _TEXTS):
        return _limited(to_text(translator, text, given), to, given)
    if isinstance(to, _BYTES):
        return _bytes(text, given, to)
    if isinstance(given, _TEXTS):
        return read(translator, text, to, tried)
    if isinstance(to, ArrayType | MapType | RowType | MultisetType):
        return _of_parts(translator, text, given, to, tried)
    if to.has_family(LogicalTypeFamily.INTERVAL) or given.has_family(LogicalTypeFamily.INTERVAL):
        return _interval(text, given, to)
    if to.has_family(LogicalTypeFamily.DATETIME):
        return _time(translator, text, given, to)
    if isinstance(to, BooleanType):
        return f"({text} <> 0)"
    return _number(translator, text, given, to, tried)


def _limited(text: str, to: LogicalType, given: LogicalType) -> str:
    """Return a text of at most as many characters as the type has; CHAR is filled up with blanks."""
    assert isinstance(to, CharType | VarCharType)
    short = isinstance(given, LengthType) and given.length <= to.length
    if isinstance(to, CharType):
        filled = isinstance(given, CharType) and given.length == to.length
        return text if filled else f"rpad({text}, {to.length}, ' ')"
    return text if to.length == MAX_LENGTH or short else f"left({text}, {to.length})"


def to_text(translator: Translator, text: str, given: LogicalType) -> str:
    """Return CAST(... AS STRING)."""
    if isinstance(given, _TEXTS):
        return text
    if isinstance(given, IntegerNumberType | DecimalType):
        return f"CAST({text} AS VARCHAR)"
    if isinstance(given, DateType):
        written = f"CAST({text} AS VARCHAR)"
        return (
            f"CASE WHEN {text} < DATE '10000-01-01' THEN {written} ELSE right({written}, {_DATE_LENGTH}) END"
        )
    if isinstance(given, BooleanType):
        return f"CASE {text} WHEN TRUE THEN 'TRUE' WHEN FALSE THEN 'FALSE' END"
    if isinstance(given, FloatType | DoubleType):
        return translator.call(f"floating_text|{kernel_type(given)}", text)
    if isinstance(given, _BYTES):
        return translator.call("bytes_text", text)
    if isinstance(given, LocalZonedTimestampType):
        return to_text(translator, local_text(translator, text, given), TimestampType(given.precision))
    if isinstance(given, TimestampType) and given.precision in (0, 3, 6):
        return _clock_text(text, given.precision)
    type_text = given.copy(nullable=True)
    try:
        name = f"value_text|{kernel_type(given)}|{type_text.as_serializable_string()}|{translator.zone}"
    except ValueError as error:
        raise UnsupportedError("cannot be cast to text", who=f"type {given}") from error
    return translator.call(name, text)


def _clock_text(text: str, precision: int) -> str:
    digits = {0: "", 3: ".%g", 6: ".%f"}[precision]
    return f"strftime({text}, {quoted(f'%Y-%m-%d %H:%M:%S{digits}')})"


def _bytes(text: str, given: LogicalType, to: LogicalType) -> str:
    """Return bytes of at most as many as the type has; BINARY is filled up with zeros."""
    assert isinstance(to, BinaryType | VarBinaryType)
    data = f"encode({text})" if isinstance(given, _TEXTS) else text
    fixed = isinstance(to, BinaryType)
    if to.length == MAX_LENGTH or (not fixed and isinstance(given, _BYTES) and given.length <= to.length):
        return data
    cut = f"({data})[1:{to.length}]"
    if not fixed:
        return cut
    missing = f"repeat('\\x00'::BLOB, {to.length} - octet_length({data}))"
    return f"CASE WHEN octet_length({data}) < {to.length} THEN {data} || {missing} ELSE {cut} END"


def _number(translator: Translator, text: str, given: LogicalType, to: LogicalType, tried: str) -> str:
    kind = kernel_type(to)
    if isinstance(given, BooleanType):
        return f"CAST({text} AS {kind})"
    if isinstance(given, _CLOCKS):
        raise UnsupportedError("is not supported", who=f"CAST of {given} to {to}")
    if isinstance(to, DecimalType):
        if not isinstance(given, FloatType | DoubleType):
            return f"TRY_CAST({text} AS {kind})"
        found = (
            f"TRY_CAST(CAST(CAST({text} AS DOUBLE) AS VARCHAR) AS {kind})"  # the digits that it is shown with
        )
        if tried:
            return found
        no_number = failing(f"NaN and infinity are no {to.copy(nullable=True)}")
        return f"CASE WHEN NOT isfinite({text}) THEN {no_number} ELSE {found} END"
    if isinstance(to, FloatType) and isinstance(given, DoubleType):
        huge = f"isfinite({text}) AND abs({text}) >= 3.4028235677973366e38::DOUBLE"
        return f"CASE WHEN {huge} THEN sign({text}) * 'Infinity'::FLOAT ELSE CAST({text} AS FLOAT) END"
    if isinstance(to, FloatType | DoubleType):
        return f"CAST({text} AS {kind})"
    assert isinstance(to, IntegerNumberType)
    if isinstance(given, IntegerNumberType):
        return f"CAST({text} AS {kind})" if given.bits <= to.bits else _dropped(translator, text, to)
    if isinstance(given, DecimalType):
        whole = f"CAST(trunc({text}) AS HUGEINT)"
        return wrapped(whole, to) if given.precision - given.scale >= to.precision else cast_text(whole, to)
    return _of_floating(text, to)


def _dropped(translator: Translator, text: str, to: IntegerNumberType) -> str:
    return (
        wrapped(f"CAST({text} AS HUGEINT)", to)
        if translator.careful
        else f"CAST({text} AS {kernel_type(to)})"
    )


def _of_floating(text: str, to: IntegerNumberType) -> str:
    """Return a floating-point number as Java makes a whole one of it: cut off, at most the type's largest, NaN is 0.

    TINYINT and SMALLINT are made of the INT.
    """
    through = to if to.bits >= IntType.bits else IntType()
    low, high = -(1 << (through.bits - 1)), (1 << (through.bits - 1)) - 1
    kind = kernel_type(through)
    whole = (
        f"CASE WHEN isnan({text}) THEN 0::{kind} WHEN {text} >= {high}::DOUBLE THEN {high}::{kind} "
        f"WHEN {text} <= {low}::DOUBLE THEN ({low})::{kind} ELSE CAST(trunc({text}) AS {kind}) END"
    )
    return whole if through is to else wrapped(f"CAST({whole} AS HUGEINT)", to)


def _time(translator: Translator, text: str, given: LogicalType, to: LogicalType) -> str:
    zoned = isinstance(given, LocalZonedTimestampType)
    if isinstance(given, LocalZonedTimestampType) and not isinstance(to, LocalZonedTimestampType):
        text, given = local_text(translator, text, given), TimestampType(given.precision)
    if isinstance(to, LocalZonedTimestampType) and not isinstance(given, LocalZonedTimestampType):
        local = _time(translator, text, given, TimestampType(to.precision))
        return instant_text(translator, local, to)
    if isinstance(to, DateType):
        if not isinstance(given, _CLOCKS):
            raise UnsupportedError("is not supported", who=f"CAST of {given} to {to}")
        return epoch_day(text, given, zoned)
    if isinstance(to, TimeType):
        return _time_of_day(text, given, to, zoned)
    assert isinstance(to, TimestampType | LocalZonedTimestampType)
    if isinstance(given, DateType):
        return f"CAST({text} AS {kernel_type(to)})"
    if isinstance(given, TimeType):
        return f"make_timestamp(CAST({text} AS BIGINT) * 1000)"
    if isinstance(given, _CLOCKS):
        return _with_precision(text, given.precision, to.precision)
    raise UnsupportedError("is not supported yet", who=f"CAST of {given} to {to}")


def _time_of_day(text: str, given: LogicalType, to: TimeType, zoned: bool) -> str:
    """Return the milliseconds since midnight, cut off after the digits of the type.

    Those of a TIMESTAMP before 1970 are negative in Flink, and are cut off as such.
    """
    unit = 10 ** max(3 - to.precision, 0)
    if isinstance(given, TimeType):
        return text if given.precision <= to.precision else f"({text} // {unit} * {unit})"
    if not isinstance(given, _CLOCKS):
        raise UnsupportedError("is not supported yet", who=f"CAST of {given} to TIME")
    time = f"({millis(text, given)} % {DAY})"
    if zoned:
        time = f"(({time} + {DAY}) % {DAY})"
    return f"CAST(({time} // {unit} * {unit} + {DAY}) % {DAY} AS INTEGER)"


def _with_precision(text: str, given: int, to: int) -> str:
    """Return a timestamp with the digits of another precision; of less than three, they are cut off towards 1970."""
    if to >= given:
        return f"CAST({text} AS TIMESTAMP_NS)" if given <= 6 < to else text
    if to < 3:
        unit = 10 ** (3 - to)
        return f"make_timestamp({millis(text, TimestampType(given))} // {unit} * {unit * 1000})"
    if given > 6 and to > 6:
        return f"make_timestamp_ns({floored(f'epoch_ns({text})', 10 ** (9 - to))})"
    if given > 6:
        return f"make_timestamp({floored(f'epoch_ns({text})', 10 ** (9 - to))} // 1000)"
    return f"make_timestamp({floored(f'epoch_us({text})', 10 ** (6 - to))})"


def _interval(text: str, given: LogicalType, to: LogicalType) -> str:
    """Return an interval of the months or milliseconds that a number is, whatever its unit; other intervals stay."""
    if given.has_family(LogicalTypeFamily.DATETIME) or to.has_family(LogicalTypeFamily.DATETIME):
        raise UnsupportedError("is not supported", who=f"CAST of {given} to {to}")
    return text if given.has_family(LogicalTypeFamily.INTERVAL) else cast_text(text, to)


def _of_parts(translator: Translator, text: str, given: LogicalType, to: LogicalType, tried: str) -> str:
    """Return arrays, maps and rows part by part; NULL if it is tried and fails for a part."""
    if isinstance(given, ArrayType) and isinstance(to, ArrayType):
        part = converted(translator, "x", given.element, to.element, tried)
        if part == "x":
            return text
        return _unless(_fails_within(text, part, tried), f"list_transform({text}, lambda x: {part})")
    if isinstance(given, MapType) and isinstance(to, MapType):
        key = converted(translator, "x", given.key, to.key, tried)
        value = converted(translator, "x", given.value, to.value, tried)
        if key == value == "x":
            return text
        sides = [(f"map_keys({text})", key), (f"map_values({text})", value)]
        keys, values = (f"list_transform({side}, lambda x: {part})" for side, part in sides)
        failed = [failed for side, part in sides for failed in _fails_within(side, part, tried)]
        return _unless([f"{text} IS NULL", *failed], f"map({keys}, {values})")
    if isinstance(given, RowType) and isinstance(to, RowType):
        fields = [field_text(text, place) for place in range(len(given.fields))]
        parts = [
            converted(translator, field, old.type, new.type, tried)
            for field, old, new in zip(fields, given.fields, to.fields, strict=True)
        ]
        failed = [_fails(*pair) for pair in zip(fields, parts, strict=True) if tried]
        named = (f"{identifier(new.name)} := {part}" for new, part in zip(to.fields, parts, strict=True))
        return _unless([f"{text} IS NULL", *failed], f"struct_pack({', '.join(named)})")
    raise UnsupportedError("is not supported yet", who=f"CAST of {given} to {to}")


def _fails(text: str, result: str) -> str:
    return f"({text} IS NOT NULL AND {result} IS NULL)"


def _fails_within(array: str, part: str, tried: str) -> list[str]:
    """Return what says that a part of an array is nothing of the other type, if that is tried."""
    return [f"len(list_filter({array}, lambda x: {_fails('x', part)})) > 0"] if tried and part != "x" else []


def _unless(conditions: list[str], text: str) -> str:
    return f"CASE WHEN {' OR '.join(conditions)} THEN NULL ELSE {text} END" if conditions else text


def field_text(text: str, place: int) -> str:
    """Return the field at a place of a struct."""
    return f"struct_extract_at({text}, {place + 1})"


TRANSLATIONS: Final[dict[str, Translation]] = {"CAST": _cast(""), "TRY_CAST": _cast("try")}
