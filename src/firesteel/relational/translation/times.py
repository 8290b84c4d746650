"""Functions of dates and times in the kernel's SQL."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    BigIntType,
    CharType,
    DateType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    LocalZonedTimestampType,
    LogicalType,
    TimestampType,
    TimeType,
    VarCharType,
    YearMonthIntervalType,
)
from firesteel.relational.expressions import Call, Literal
from firesteel.relational.functions.times import PRECISIONS
from firesteel.relational.translation.arithmetic import moved_by_milliseconds, moved_by_months, wrapped
from firesteel.relational.translation.casts import converted
from firesteel.relational.translation.fields import MILLISECONDS, extracted, unit_of, wall_of
from firesteel.relational.translation.moments import DAY, days_text, floored, millis
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import quoted
from firesteel.relational.translation.zones import local_text, zoned

_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200, "MILLENNIUM": 12_000}
_STRFTIME: Final = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%g"}
_USUAL: Final = "yyyy-MM-dd HH:mm:ss"
_PART: Final = r"yyyy(?!y)|MM(?!M)|dd(?!d)|HH(?!H)|mm(?!m)|ss(?!s)|SSS(?!S)|[-/:. _,]|'[A-Za-z]+'"
"""A part of a pattern that DuckDB has, too; more of the same letter mean something else."""

_PATTERN: Final = re.compile(f"({_PART})*")
_PATTERN_PART: Final = re.compile(_PART)
_MOST_SECONDS: Final = 9_000_000_000_000
"""DuckDB has timestamps of so many seconds from 1970."""


def _added(translator: Translator, call: Call, texts: list[str]) -> str:
    unit, given = unit_of(call), call.operands[2].type
    _, amount, text = texts
    if isinstance(given, DateType) and isinstance(call.type, TimestampType):
        text, given = converted(translator, text, given, call.type), call.type
    if unit in _MONTHS:
        return moved_by_months(text, given, f"CAST({amount} * {_MONTHS[unit]} AS INTEGER)")
    if unit in MILLISECONDS:
        milliseconds = f"(CAST({amount} AS BIGINT) * {MILLISECONDS[unit]})"
        if isinstance(call.operands[1].type, BigIntType):
            milliseconds = wrapped(f"CAST({amount} AS HUGEINT) * {MILLISECONDS[unit]}", BigIntType())
        return moved_by_milliseconds(text, given, milliseconds)
    raise UnsupportedError("is not supported yet", who=f"TIMESTAMPADD of {unit}")


def _difference(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return TIMESTAMPDIFF, which has 32 bits; weeks are made of the seconds, which have 32 bits then, too."""
    unit = unit_of(call)
    assert isinstance(call.type, IntegerNumberType)
    start, end = _both(translator, call, texts)
    if unit in _MONTHS:
        return cast_text(f"({_months_between(start, end)} // {_MONTHS[unit]})", call.type)
    if unit not in MILLISECONDS:
        raise UnsupportedError("is not supported yet", who=f"TIMESTAMPDIFF of {unit}")
    if unit == "WEEK":
        seconds = wrapped(f"CAST({end} - {start} AS HUGEINT) // {MILLISECONDS['SECOND']}", call.type)
        return f"({seconds} // {MILLISECONDS['WEEK'] // MILLISECONDS['SECOND']})"
    return wrapped(f"CAST({end} - {start} AS HUGEINT) // {MILLISECONDS[unit]}", call.type)


def _elapsed(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return MINUS_DATE: the months or the milliseconds from the second time to the first one."""
    end, start = _both(translator, call, texts)
    if isinstance(call.type, YearMonthIntervalType):
        return f"CAST({_months_between(start, end)} AS INTEGER)"
    return f"({end} - {start})"


def _both(translator: Translator, call: Call, texts: list[str]) -> list[str]:
    """Return the milliseconds of the two times of a call, which has a unit before them.

    Two points on the time line are as far apart in every zone; one beside a date or a wall clock is what the session's
    clock shows.
    """
    given = [operand.type for operand in call.operands[1:]]
    if not all(isinstance(kind, LocalZonedTimestampType) for kind in given):
        walls = (wall_of(translator, text, kind) for text, kind in zip(texts[1:], given, strict=True))
        return [_milliseconds(text, kind) for text, kind in walls]
    return [_milliseconds(text, kind) for text, kind in zip(texts[1:], given, strict=True)]


def _milliseconds(text: str, given: LogicalType) -> str:
    """Return the milliseconds of a time: of a date and a timestamp from 1970, of a clock from midnight."""
    if isinstance(given, TimeType):
        return f"CAST({text} AS BIGINT)"
    return days_text(text) if isinstance(given, DateType) else millis(text, given)


def _months_between(start: str, end: str) -> str:
    """Return the months between the days of two times, less one if the clock says so on the day after that many.

    So it is to Flink also where the second time is before the first one.
    """
    first, last = (f"make_date(CAST({floored(time, DAY)} // {DAY} AS INTEGER))" for time in (start, end))
    months = f"datesub('month', {first}, {last})"
    of_start, of_end = (f"({time} - {floored(time, DAY)})" for time in (start, end))
    earlier = (
        f"CAST({first} + to_months(CAST({months} AS INTEGER)) AS DATE) = {last} AND {of_end} < {of_start}"
    )
    return f"({months} - CASE WHEN {earlier} THEN 1 ELSE 0 END)"


def _formatted_by(translator: Translator, text: str, given: LogicalType, pattern: str) -> str:
    """Return a wall clock by a pattern that DuckDB does not have."""
    if isinstance(given, TimestampType | LocalZonedTimestampType) and given.precision > 6:
        rest = f"((epoch_ns({text}) % 1000 + 1000) % 1000)"
        micros = f"(epoch_ns({text}) - {rest}) // 1000"
        return translator.call("formatted", micros, f"CAST({rest} AS INTEGER)", pattern)
    return translator.call("formatted", f"epoch_us({text})", "CAST(0 AS INTEGER)", pattern)


def _formatted(translator: Translator, call: Call, texts: list[str]) -> str:
    given, pattern = call.operands[0].type, call.operands[1]
    text = texts[0]
    if isinstance(given, CharType | VarCharType):
        return translator.call("reformatted", *texts)
    text, given = wall_of(translator, text, given)
    simple = _simple_pattern(pattern.value) if isinstance(pattern, Literal) else None
    if simple is not None:
        return f"strftime({text}, {quoted(simple)})"
    return _formatted_by(translator, text, given, texts[1])


def _simple_pattern(pattern: object) -> str | None:
    """Return the pattern of DuckDB's that means the same as one of Java's, None if there is none."""
    if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
        return None
    parts = _PATTERN_PART.findall(pattern)
    return "".join(_STRFTIME.get(part, part.strip("'") if part.startswith("'") else part) for part in parts)


def _to_date(translator: Translator, call: Call, texts: list[str]) -> str:
    if len(texts) == 1:
        return converted(translator, texts[0], call.operands[0].type, DateType(), "try")
    return translator.call("read_day", *texts)


def _to_timestamp(translator: Translator, call: Call, texts: list[str]) -> str:
    if len(texts) == 1:
        return converted(translator, texts[0], call.operands[0].type, TimestampType(3), "try")
    return _read(translator, call, texts)


def _read(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return the timestamp of milliseconds that a text is by a pattern, NULL if it is none."""
    return _usually(call, texts, "{0}", _made(_number(translator, texts, 3), 3))


def _number(translator: Translator, texts: list[str], digits: int) -> str:
    """Return the parts of a second, of so many digits, from 1970 to what a text is by a pattern."""
    return translator.call(f"read_time|{digits}", *texts[:2])


def _usually(call: Call, texts: list[str], usual: str, rest: str) -> str:
    """Return `usual` of the timestamp that DuckDB reads by a simple pattern, and the rest of all other texts."""
    known = call.operands[1] if len(call.operands) > 1 else None
    written = known.value if isinstance(known, Literal) else None if known else _USUAL
    simple = _simple_pattern(written)
    if simple is None:
        return rest
    digits = _PATTERN_PART.sub(lambda part: _digits(part.group()), str(written))
    read = usual.format(f"try_strptime({texts[0]}, {quoted(simple)})")
    return f"CASE WHEN regexp_full_match({texts[0]}, {quoted(digits)}) THEN coalesce({read}, {rest}) ELSE {rest} END"


def _digits(part: str) -> str:
    """Return the regular expression of a part of a simple pattern."""
    if part in _STRFTIME:
        return "[1-9][0-9]{3}" if part == "yyyy" else f"[0-9]{{{len(part)}}}"
    return re.escape(part.strip("'") if part.startswith("'") else part)


_FIRST: Final = -62_135_596_800
_LAST: Final = 253_402_300_799
"""The seconds from 1970 of the first and of the last point in time that TO_TIMESTAMP_LTZ gives."""


def _to_instant(translator: Translator, call: Call, texts: list[str]) -> str:
    given = call.operands[0].type
    if isinstance(given, CharType | VarCharType):
        if len(texts) > 1:
            return _instant_by_pattern(translator, call, texts)
        return converted(translator, texts[0], given, TimestampType(3))
    if len(texts) == 1:
        return _instant(texts[0], given, 3, 3)
    precision = call.operands[1]
    if isinstance(precision, Literal):
        digits = precision.value
        return (
            cast_text("NULL", call.type)
            if digits is None
            else _instant(texts[0], given, digits, max(digits, 3))
        )
    cases = (f"WHEN {digits} THEN {_instant(texts[0], given, digits, 3)}" for digits in PRECISIONS)
    wrong = failing("TO_TIMESTAMP_LTZ requires a precision from 0 to 9")
    return (
        f"CASE WHEN {texts[1]} IS NULL THEN NULL ELSE CASE {texts[1]} {' '.join(cases)} ELSE {wrong} END END"
    )


def _instant_by_pattern(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return the point in time that a text is by a pattern, in UTC or in the zone that is the third operand."""
    assert isinstance(call.type, LocalZonedTimestampType)
    digits = call.type.precision
    if digits == 3:
        read = _read(translator, call, texts)
    else:
        read = _made(_number(translator, texts, digits), digits)
    if len(texts) == 2:
        return read
    if digits <= 6:
        return f"make_timestamp({translator.call('instant_of', f'epoch_us({read})', texts[2])})"
    micros, nanos = f"epoch_us({read})", f"(epoch_ns({read}) % 1000 + 1000) % 1000"
    return f"make_timestamp_ns({translator.call('instant_of', micros, texts[2])} * 1000 + {nanos})"


def _instant(text: str, given: LogicalType, digits: int, kept: int) -> str:
    """Return the point in time of a number of the parts of a second that have so many digits, with the `kept` ones.

    Of a floating-point number, what is beyond its seconds is cut off after the nanoseconds, and the result is the part
    that is not above it; NaN is 0.
    """
    if isinstance(given, FloatType | DoubleType):
        seconds = f"(CAST({text} AS DOUBLE) / {10**digits}::DOUBLE)"
        nanos = f"trunc(({seconds} - trunc({seconds})) * 1e9)"
        number = f"CAST(trunc({seconds}) * {10**kept} + floor({nanos} / 1e{9 - kept}) AS BIGINT)"
        usual = f"{seconds} BETWEEN {_FIRST} AND {_LAST}"
        return f"CASE WHEN isnan({text}) THEN {_made('0', kept)} WHEN {usual} THEN {_made(number, kept)} END"
    number = f"CAST(trunc({text}) AS BIGINT)"
    least, most = _FIRST * 10**digits, (_LAST + 1) * 10**digits - 1
    part = (
        f"{number} * {10 ** (kept - digits)}" if digits <= kept else _floored(number, 10 ** (digits - kept))
    )
    return f"CASE WHEN CAST({number} AS HUGEINT) BETWEEN {least} AND {most} THEN {_made(part, kept)} END"


def _floored(number: str, unit: int) -> str:
    return f"{floored(number, unit)} // {unit}"


def _made(number: str, digits: int) -> str:
    """Return the timestamp of a number of the parts of a second that have so many digits."""
    if digits > 6:
        return f"make_timestamp_ns(({number}) * {10 ** (9 - digits)})"
    return f"make_timestamp(({number}) * {10 ** (6 - digits)})"


def _unix(translator: Translator, call: Call, texts: list[str]) -> str:
    if not texts:
        return '(epoch_us("now") // 1000000)'
    pattern = texts[1] if len(texts) > 1 else quoted(_USUAL)
    found = translator.call(f"unix_seconds|{translator.zone}", texts[0], pattern)
    return found if zoned(translator) else _usually(call, texts, "(epoch_us({0}) // 1000000)", found)


def _of_unix(translator: Translator, call: Call, texts: list[str]) -> str:
    known = call.operands[1] if len(texts) > 1 else None
    simple = _simple_pattern(known.value) if isinstance(known, Literal) else None
    if len(texts) > 1 and simple is None:
        return translator.call(f"of_unix|{translator.zone}", *texts)
    number = wrapped(f"CAST({texts[0]} AS HUGEINT) * 1000", BigIntType())
    usual = f"{texts[0]} BETWEEN {-_MOST_SECONDS} AND {_MOST_SECONDS}"
    moment = f"CASE WHEN {usual} THEN make_timestamp({texts[0]} * 1000000) ELSE make_timestamp({number} * 1000) END"
    wall = local_text(translator, moment, LocalZonedTimestampType(3))
    return f"strftime({wall}, {quoted(simple or '%Y-%m-%d %H:%M:%S')})"


def _convert_zone(translator: Translator, call: Call, texts: list[str]) -> str:
    return translator.call("zone_converted", *texts)


def _now(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return the current time as the type of the call."""
    return converted(translator, '"now"', LocalZonedTimestampType(3), call.type)


_CURRENT: Final = (
    *("CURRENT_TIMESTAMP", "NOW", "CURRENT_ROW_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE"),
    *("CURRENT_TIME", "LOCALTIME", "PROCTIME"),
)
TRANSLATIONS: Final[dict[str, Translation]] = {
    "EXTRACT": extracted,
    "TIMESTAMPADD": _added,
    "TIMESTAMPDIFF": _difference,
    "MINUS_DATE": _elapsed,
    "DATE_FORMAT": _formatted,
    "TO_DATE": _to_date,
    "TO_TIMESTAMP": _to_timestamp,
    "TO_TIMESTAMP_LTZ": _to_instant,
    "UNIX_TIMESTAMP": _unix,
    "FROM_UNIXTIME": _of_unix,
    "CONVERT_TZ": _convert_zone,
    **dict.fromkeys(_CURRENT, _now),
    "CURRENT_WATERMARK": lambda translator, call, texts: '"watermark"',
}
