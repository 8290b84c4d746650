"""Numbers and points in time in Java's notation (Java: the toString methods of the boxed and the java.time types).

Floating point follows Java 19 and later, which print the fewest digits (at least two) that identify the number; older
Java versions sometimes print a needless digit (2E23 as 1.9999999999999998E23).
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal
from typing import Final

from firesteel.common.time import Instant

_FLOAT = struct.Struct("<f")
_PLAIN_FROM: Final = 1e-3
_SCIENTIFIC_FROM: Final = 1e7
_CYCLE_SECONDS: Final = 146_097 * 86_400  # 400 years, after which the calendar repeats
_EPOCH: Final = dt.datetime(1970, 1, 1)


def float32(value: float) -> float:
    """Return the nearest 32-bit float, as a Python float; infinite if it is too large for 32 bits.

    >>> float32(0.1), float32(-1e300)
    (0.10000000149011612, -inf)
    """
    try:
        narrowed: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrowed


def double_text(value: float) -> str:
    """Return a 64-bit float as Java prints it.

    >>> [double_text(value) for value in (1.0, 1e7, 0.00099, 0.00012345, 5e-324, float("nan"), float("-inf"))]
    ['1.0', '1.0E7', '9.9E-4', '1.2345E-4', '4.9E-324', 'NaN', '-Infinity']
    """
    if _PLAIN_FROM <= abs(value) < _SCIENTIFIC_FROM or value == 0:
        return repr(value)
    if not math.isfinite(value):
        return _special(value)
    two_digits = f"{value:.1e}"
    return _scientific(two_digits if float(two_digits) == value else f"{Decimal(repr(value)):e}")


def float_text(value: float) -> str:
    """Return a 32-bit float, passed as the Python float of the same value, as Java prints it.

    >>> [float_text(float32(value)) for value in (0.1, 3.14159265, 16777216.0, 1e-45)]
    ['0.1', '3.1415927', '1.6777216E7', '1.4E-45']
    """
    if not math.isfinite(value):
        return _special(value)
    digits = next(
        text
        for length in range(1, 9)
        if float32(float(text := f"{value:.{length}e}")) == value or length == 8
    )
    if _PLAIN_FROM <= abs(value) < _SCIENTIFIC_FROM or value == 0:
        return repr(float(digits))
    return _scientific(digits)


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _scientific(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    power = int(exponent or 0)
    if not exponent:  # Python switches to exponents later than Java
        whole, _, fraction = mantissa.partition(".")
        sign = "-" if whole.startswith("-") else ""
        whole = whole.lstrip("-")
        power = len(whole) - 1
        mantissa = f"{sign}{whole[0]}.{whole[1:]}{fraction}"
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{power}"


def timestamp_text(value: dt.datetime) -> str:
    """Return a timestamp as java.sql.Timestamp prints it: a fraction of at least one digit.

    >>> timestamp_text(dt.datetime(2020, 1, 1, 2, 3, 4, 120_000))
    '2020-01-01 02:03:04.12'
    """
    fraction = f"{value.microsecond:06}".rstrip("0") or "0"
    return f"{value.date().isoformat()} {_clock(value)}.{fraction}"


def _clock(value: dt.datetime | dt.time) -> str:
    return f"{value.hour:02}:{value.minute:02}:{value.second:02}"


def sql_time_text(value: dt.time) -> str:
    """Return a time as java.sql.Time prints it: without fractions of a second."""
    return _clock(value)


def local_time_text(value: dt.datetime | dt.time) -> str:
    """Return a time of day as java.time.LocalTime prints it, with no more fields than needed.

    >>> local_time_text(dt.time(1, 2)), local_time_text(dt.time(1, 2, 3, 4000))
    ('01:02', '01:02:03.004')
    """
    if value.microsecond == 0:
        return _clock(value) if value.second else f"{value.hour:02}:{value.minute:02}"
    return f"{_clock(value)}.{_grouped(value.microsecond * 1000)}"


def instant_text(value: Instant) -> str:
    """Return an instant as java.time.Instant prints it.

    >>> instant_text(Instant.of_epoch_milli(-1)), instant_text(Instant(1_000_000_000_000, 0))
    ('1969-12-31T23:59:59.999Z', '+33658-09-27T01:46:40Z')
    """
    cycles, seconds = divmod(value.seconds, _CYCLE_SECONDS)
    moment = _EPOCH + dt.timedelta(seconds=seconds)
    year = moment.year + 400 * cycles
    if 0 <= year <= 9999:
        year_text = f"{year:04}"
    else:
        year_text = f"+{year}" if year > 0 else f"-{-year:04}"
    fraction = f".{_grouped(value.nanos)}" if value.nanos else ""
    return f"{year_text}-{moment.month:02}-{moment.day:02}T{_clock(moment)}{fraction}Z"


def _grouped(nanos: int) -> str:
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return digits
