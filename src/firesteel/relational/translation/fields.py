"""EXTRACT, and FLOOR and CEIL of times, in the kernel's SQL (Flink: ExtractCallGen, DateTimeUtils).

Whole numbers are divided towards 0 as in Java, also those of times before 1970. The day alone decides when a unit
begins: CEIL to a year leaves any time of its first day as the beginning of that day.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    LogicalType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from firesteel.relational.expressions import Call, Literal
from firesteel.relational.translation.moments import (
    DAY,
    days_text,
    epoch_day,
    millis,
    nanos_beyond,
    timestamp_of,
)
from firesteel.relational.translation.translator import Translator, cast_text
from firesteel.relational.translation.zones import local_text

MILLISECONDS: Final = {
    "MILLISECOND": 1,
    "SECOND": 1_000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}
_OF_DATE: Final = {
    "MILLENNIUM": "(year({0}) + 999) // 1000",
    "CENTURY": "(year({0}) + 99) // 100",
    "DECADE": "year({0}) // 10",
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "day({0})",
    "DOW": "dayofweek({0}) + 1",
    "ISODOW": "isodow({0})",
    "DOY": "dayofyear({0})",
    "ISOYEAR": "isoyear({0})",
}
_OF_MILLISECONDS: Final = {
    "HOUR": "{0} % 86400000 // 3600000",
    "MINUTE": "{0} % 3600000 // 60000",
    "SECOND": "{0} % 60000 // 1000",
    "MILLISECOND": "{0} % 1000",
    "EPOCH": "{0} // 1000",
}
_OF_MONTHS: Final = {"YEAR": "{0} // 12", "MONTH": "{0} % 12", "QUARTER": "({0} % 12 - 1) // 3 + 1"}


def unit_of(call: Call, place: int = 0) -> str:
    """Return the unit of time that an operand is."""
    operand = call.operands[place]
    assert isinstance(operand, Literal)
    return str(operand.value)


def wall_of(translator: Translator, text: str, given: LogicalType) -> tuple[str, LogicalType]:
    """Return a time as the session's clock shows it, if it is a point on the time line."""
    if isinstance(given, LocalZonedTimestampType):
        return local_text(translator, text, given), TimestampType(given.precision)
    return text, given


def extracted(translator: Translator, call: Call, texts: list[str]) -> str:
    """Return EXTRACT of a unit."""
    unit, given = unit_of(call), call.operands[1].type
    text, given = wall_of(translator, texts[1], given)
    found = _field(unit, text, given)
    if found is None:
        raise UnsupportedError(
            "is not supported, as in Flink", who=f"{call.function} of {unit} from {call.operands[1].type}"
        )
    return cast_text(f"({found})", call.type)


def _field(unit: str, text: str, given: LogicalType) -> str | None:
    if isinstance(given, TimestampType):
        if unit in _OF_DATE:
            return _OF_DATE[unit].format(epoch_day(text, given))
        within = f"{millis(text, given)} % 1000"
        if unit == "MICROSECOND":
            return f"{within} * 1000 + {nanos_beyond(text, given)} // 1000"
        if unit == "NANOSECOND":
            return f"{within} * 1000000 + {nanos_beyond(text, given)}"
        parts, number = _OF_MILLISECONDS, millis(text, given)
    elif isinstance(given, DateType):
        days = f"CAST({text} - DATE '1970-01-01' AS BIGINT)"
        if unit == "EPOCH":
            return f"{days} * 86400"
        parts, number = (_OF_DATE, text) if unit in _OF_DATE else (_OF_MILLISECONDS, days)
    elif isinstance(given, YearMonthIntervalType):
        parts, number = _OF_MONTHS, text
    else:
        parts, number = _OF_MILLISECONDS, text
        if isinstance(given, DayTimeIntervalType) and unit == "DAY":
            return f"{text} // {DAY}"
        if isinstance(given, TimeType) and unit == "EPOCH":
            return None
    return parts[unit].format(number) if unit in parts else None


def rounded(translator: Translator, call: Call, text: str, *, up: bool) -> str:
    """Return FLOOR or CEIL of a time to a unit."""
    unit, given = unit_of(call, 1), call.operands[0].type
    if isinstance(given, DateType):
        return _rounded_date(text, unit, up=up) if unit not in _SMALL else text
    size = MILLISECONDS.get(unit)
    if isinstance(given, TimeType):
        if unit == "DAY":
            return text
        if size is None or unit == "WEEK":
            raise UnsupportedError("requires a unit of a clock", who=f"{call.function} of TIME to {unit}")
        return cast_text(f"(({text} + {size - 1 if up else 0}) // {size} * {size})", given)
    wall, kind = wall_of(translator, text, given)
    number = millis(wall, kind)
    if unit in _SMALL or unit == "DAY":
        assert size is not None
        found = _rounded_number(number, size, up=up)
        if unit == "MILLISECOND" and up:
            found = f"({number} + CASE WHEN {nanos_beyond(wall, kind)} > 0 THEN 1 ELSE 0 END)"
    else:
        day = _rounded_date(epoch_day(wall, kind), unit, up=up)
        found = days_text(day)
    if isinstance(given, LocalZonedTimestampType):
        found = f"({found} - ({number} - {millis(text, given)}))"
    return timestamp_of(found, given)


_SMALL: Final = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")


def _rounded_number(number: str, size: int, *, up: bool) -> str:
    moved = f"({number} + {size - 1})" if up else number
    return f"({moved} - ({moved} % {size} + {size}) % {size})"


_FIRST_YEARS: Final = {
    "MILLENNIUM": ("1000 * ((year({0}) + 999) // 1000) - 999", "1000 * ((year({0}) + 999) // 1000) + 1"),
    "CENTURY": ("100 * ((year({0}) + 99) // 100) - 99", "100 * ((year({0}) + 99) // 100) + 1"),
    "DECADE": ("10 * (year({0}) // 10)", "10 * (year({0}) // 10 + 1)"),
}
_STARTS: Final = {
    "YEAR": "make_date(year({0}), 1, 1)",
    "QUARTER": "make_date(year({0}), quarter({0}) * 3 - 2, 1)",
    "MONTH": "make_date(year({0}), month({0}), 1)",
    "WEEK": "({0} - CAST(dayofweek({0}) AS INTEGER))",
    "DAY": "{0}",
}
_LATER: Final = "month({0}) > 1 OR day({0}) > 1"
_ENDS: Final = {
    "YEAR": f"make_date(year({{0}}) + CASE WHEN {_LATER} THEN 1 ELSE 0 END, 1, 1)",
    "QUARTER": (
        "CAST(make_date(year({0}), 1, 1) + to_months(CAST(quarter({0}) * 3 - 3 + "
        f"CASE WHEN {_LATER} THEN 3 ELSE 0 END AS INTEGER)) AS DATE)"
    ),
    "MONTH": "CAST(make_date(year({0}), month({0}), 1) + to_months(CASE WHEN day({0}) > 1 THEN 1 ELSE 0 END) AS DATE)",
    "WEEK": "({0} + CAST((7 - dayofweek({0})) % 7 AS INTEGER))",
    "DAY": "({0} + 1)",
}


def _rounded_date(text: str, unit: str, *, up: bool) -> str:
    """Return the beginning of a unit before or after a day; after the first quarter, each has begun before to Flink."""
    if unit in _FIRST_YEARS:
        return f"make_date(CAST({_FIRST_YEARS[unit][up].format(text)} AS BIGINT), 1, 1)"
    return (_ENDS if up else _STARTS)[unit].format(text)
