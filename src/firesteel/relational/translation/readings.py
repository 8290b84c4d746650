"""Texts as values of other types in the kernel's SQL.

Texts in the usual form are read by DuckDB, all others by functions that read as Flink does.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    LocalZonedTimestampType,
    LogicalType,
    TimestampType,
    TimeType,
)
from firesteel.relational.translation.translator import Translator
from firesteel.relational.translation.types import kernel_type
from firesteel.relational.translation.zones import instant_text

_DATE: Final = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = "[0-9]{2}:[0-9]{2}:[0-9]{2}"


def read(translator: Translator, text: str, to: LogicalType, tried: str) -> str:
    """Return the value of a type that a text is; NULL where it is none if `tried` is not empty."""
    more = f"|{tried}" if tried else ""
    if isinstance(to, IntegerNumberType):
        usual = f"[+-]?[0-9]{{1,{to.precision - 1}}}"
        return _usually(text, usual, to, translator.call(f"text_to_whole|{kernel_type(to)}{more}", text))
    if isinstance(to, FloatType | DoubleType):
        exponent = "([eE][+-]?[0-9]{1,2})?" if isinstance(to, DoubleType) else ""
        usual = f"[+-]?[0-9]{{1,30}}([.][0-9]{{1,30}})?{exponent}"
        return _usually(text, usual, to, translator.call(f"text_to_floating|{kernel_type(to)}{more}", text))
    if isinstance(to, DecimalType):
        return _decimal(translator, text, to, more)
    if isinstance(to, BooleanType):
        rest = translator.call(f"text_to_truth{more}", text)
        return f"CASE WHEN {text} = 'true' THEN TRUE WHEN {text} = 'false' THEN FALSE ELSE {rest} END"
    if isinstance(to, DateType):
        return _first(text, _DATE, "DATE", translator.call(f"text_to_date{more}", text))
    if isinstance(to, TimeType):
        return translator.call(f"text_to_time|{to.precision}{more}", text)
    if isinstance(to, TimestampType | LocalZonedTimestampType):
        return _timestamp(translator, text, to, more)
    raise UnsupportedError("is not supported yet", who=f"CAST of text to {to}")


def _usually(text: str, pattern: str, to: LogicalType, rest: str) -> str:
    """Return what DuckDB reads of a text that has a pattern, and the rest of all others."""
    known = f"regexp_full_match({text}, '{pattern}')"
    return f"CASE WHEN {known} THEN TRY_CAST({text} AS {kernel_type(to)}) ELSE {rest} END"


def _decimal(translator: Translator, text: str, to: DecimalType, more: str) -> str:
    rest = translator.call(f"text_to_decimal|{to.precision}|{to.scale}{more}", text)
    whole = to.precision - to.scale - 1
    if whole < 1:
        return rest
    return _usually(text, f"[+-]?[0-9]{{1,{whole}}}([.][0-9]{{1,30}})?", to, rest)


def _first(text: str, pattern: str, kind: str, rest: str) -> str:
    """Return what DuckDB can read of a text that has a pattern, and the rest of what it cannot and of all others."""
    known = f"coalesce(TRY_CAST({text} AS {kind}), {rest})"
    return f"CASE WHEN regexp_full_match({text}, '{pattern}') THEN {known} ELSE {rest} END"


def _timestamp(
    translator: Translator, text: str, to: TimestampType | LocalZonedTimestampType, more: str
) -> str:
    number = translator.call(f"text_to_timestamp|{to.precision}{more}", text)
    if to.precision > 6:
        made = f"make_timestamp_ns({number})"
    else:
        fraction = f"([.][0-9]{{1,{to.precision}}})?" if to.precision else ""
        made = _first(text, f"{_DATE} {_CLOCK}{fraction}", "TIMESTAMP", f"make_timestamp({number})")
    return instant_text(translator, made, to) if isinstance(to, LocalZonedTimestampType) else made
