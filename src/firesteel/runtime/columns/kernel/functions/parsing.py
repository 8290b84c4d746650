"""Texts to values, as Flink's casts read them (BinaryStringDataUtil, DateTimeUtils)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_value

BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's `trim` takes off: blanks and control characters."""

_WHOLE: Final = re.compile(r"[+-]?\d*(?:\.\d*)?")
_FLOATING: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?)"
)
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})
_DIGITS: Final = Context(prec=200, rounding=ROUND_HALF_UP)
_DATE: Final = re.compile(r"(\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?")
_EPOCH: Final = dt.date(1970, 1, 1)
_RANGES: Final = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}
_NUMBERS: Final = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64()}


def _no(text: str, kind: str) -> ComputeError:
    return ComputeError(f"{text!r} is no {kind}")


def whole(text: str, kind: str) -> int:
    """Return the whole number that a text is; what stands after a point is cut off.

    >>> whole(" -3.7 ", "INTEGER")
    -3
    """
    trimmed = text.strip(BLANKS)
    found = _WHOLE.fullmatch(trimmed)
    digits = trimmed.partition(".")[0]
    if found is None or not any(map(str.isdigit, trimmed)) or (not digits.strip("+-") and "." not in trimmed):
        raise _no(text, kind)
    value = int(digits) if digits.strip("+-") else 0
    if not -(1 << _RANGES[kind]) <= value < 1 << _RANGES[kind]:
        raise _no(text, kind)
    return value


def floating(text: str) -> float:
    """Return the number that a text is, as Java's Double.parseDouble reads it."""
    trimmed = text.strip(BLANKS)
    if _FLOATING.fullmatch(trimmed) is None:
        raise _no(text, "number")
    if "x" in trimmed.lower():
        return float.fromhex(trimmed.rstrip("fFdD"))
    return float(trimmed.rstrip("fFdD") if trimmed[-1:] in "fFdD" else trimmed)


def decimal(text: str, precision: int, scale: int) -> Decimal | None:
    """Return the DECIMAL that a text is, rounded half up; None if it has too many digits."""
    trimmed = text.strip(BLANKS)
    if _DECIMAL.fullmatch(trimmed) is None:
        raise _no(text, "DECIMAL")
    return fitting(Decimal(trimmed), precision, scale)


def fitting(value: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a number rounded half up to a scale; None if it has too many digits then."""
    if value and value.adjusted() > precision - scale:
        return None
    rounded = value.quantize(Decimal(1).scaleb(-scale), context=_DIGITS)
    return rounded if not rounded or rounded.adjusted() < precision - scale else None


def _truth(text: str) -> bool:
    word = text.strip(BLANKS).lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _no(text, "BOOLEAN")


def date(text: str) -> dt.date:
    """Return the date at the beginning of a text.

    >>> date("2024-2-9"), date("2024-02-29 12:00:00")
    (datetime.date(2024, 2, 9), datetime.date(2024, 2, 29))
    """
    trimmed = text.strip(BLANKS)
    found = _DATE.fullmatch(re.split(r"[ T]", trimmed, maxsplit=1)[0])
    if found is None:
        raise _no(text, "DATE")
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return dt.date(year, month, day)
    except ValueError:
        raise _no(text, "DATE") from None


def clock(text: str, kind: str = "TIME") -> int:
    """Return the nanoseconds since midnight of a text.

    >>> clock("12:34:56.5") == ((12 * 60 + 34) * 60 + 56) * 10**9 + 5 * 10**8
    True
    """
    found = _CLOCK.fullmatch(text.strip(BLANKS))
    if found is None:
        raise _no(text, kind)
    hour, minute, second = (int(part or 0) for part in found.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        raise _no(text, kind)
    fraction = int((found.group(4) or "")[:9].ljust(9, "0"))
    return ((hour * 60 + minute) * 60 + second) * 10**9 + fraction


def timestamp(text: str) -> int:
    """Return the nanoseconds from 1970 of the wall clock that a text is."""
    trimmed = text.strip(BLANKS)
    day, *rest = re.split(r"[ T]", trimmed, maxsplit=1)
    days = (date(day) - _EPOCH).days
    return days * 86_400 * 10**9 + (clock(rest[0], "TIMESTAMP") if rest else 0)


def cut(nanos: int, precision: int) -> int:
    """Return nanoseconds without the digits beyond a precision."""
    unit: int = 10 ** (9 - precision)
    return nanos // unit * unit


def attempted(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that gives None where the other one cannot compute a text."""

    def attempt(text: str | None) -> Any:
        try:
            return None if text is None else function(text)
        except ComputeError:
            return None

    return attempt


def _reader(function: Callable[[str], Any], tried: str, result: str, arrow: pa.DataType) -> VectorFunction:
    def read(text: str | None) -> Any:
        return None if text is None else function(text)

    return by_value(attempted(function) if tried else read, "VARCHAR", result, arrow)


def _to_whole(kind: str, tried: str = "") -> VectorFunction:
    return _reader(lambda text: whole(text, kind), tried, kind, _NUMBERS[kind])


def _to_floating(kind: str, tried: str = "") -> VectorFunction:
    return _reader(floating, tried, kind, pa.float32() if kind == "FLOAT" else pa.float64())


def _to_decimal(precision: str, scale: str, tried: str = "") -> VectorFunction:
    digits = int(precision), int(scale)
    kind = f"DECIMAL({precision}, {scale})"
    return _reader(lambda text: decimal(text, *digits), tried, kind, pa.decimal128(*digits))


def _to_truth(tried: str = "") -> VectorFunction:
    return _reader(_truth, tried, "BOOLEAN", pa.bool_())


def _to_date(tried: str = "") -> VectorFunction:
    return _reader(date, tried, "DATE", pa.date32())


def _to_time(precision: str, tried: str = "") -> VectorFunction:
    digits = min(int(precision), 3)
    return _reader(lambda text: cut(clock(text), digits) // 10**6, tried, "INTEGER", pa.int32())


def _to_timestamp(precision: str, tried: str = "") -> VectorFunction:
    """Return what reads timestamps as nanoseconds or, of up to six digits, microseconds."""
    digits = int(precision)
    unit = 1 if digits > 6 else 1000

    def number(text: str) -> int:
        value = cut(timestamp(text), digits) // unit
        if not -(1 << 63) <= value < 1 << 63:
            raise ComputeError(f"{text!r} is beyond the years that TIMESTAMP({precision}) has")
        return value

    return _reader(number, tried, "BIGINT", pa.int64())


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "text_to_whole": _to_whole,
    "text_to_floating": _to_floating,
    "text_to_decimal": _to_decimal,
    "text_to_truth": _to_truth,
    "text_to_date": _to_date,
    "text_to_time": _to_time,
    "text_to_timestamp": _to_timestamp,
}
