"""Texts to numbers and truth values, as Flink's casts read them (BinaryStringDataUtil)."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from firesteel.common.java_numbers import fitted, floating
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_value

_WHOLE: Final = re.compile(r"[+-]?([0-9]*)(?:\.[0-9]*)?")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?")
_SHORT_DECIMAL: Final = re.compile(
    r"[ \n\t]*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?)([0-9]*))?([\x00-/:-\x7f]?)[ \n\t]*"
)
_SHORT: Final = 18
"""The most digits of a DECIMAL for which Flink reads the text itself, and the most characters that it reads so."""

_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})
_RANGES: Final = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63}
_NUMBERS: Final = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64()}


def refusal(text: str, kind: str) -> ComputeError:
    """Make the error that a text is no value of a kind."""
    return ComputeError(f"{text!r} is no {kind}")


def whole(text: str, kind: str) -> int:
    """Return the whole number that a text is; what stands after a point is cut off.

    >>> whole(" -3.7 ", "INTEGER"), whole(".", "INTEGER")
    (-3, 0)
    """
    trimmed = text.strip(" ")
    found = _WHOLE.fullmatch(trimmed)
    if found is None or trimmed in ("", "+", "-"):
        raise refusal(text, kind)
    value = int(found.group(1) or 0) * (-1 if trimmed[0] == "-" else 1)
    if not -(1 << _RANGES[kind]) <= value < 1 << _RANGES[kind]:
        raise refusal(text, kind)
    return value


def _floating(text: str) -> float:
    try:
        return floating(text)
    except ValueError as error:
        raise refusal(text, "number") from error


def decimal(text: str, precision: int, scale: int) -> Decimal:
    """Return the DECIMAL that a text is, rounded half up.

    Of a short text, zeros in front count as digits, too, and one character behind the number does not matter.

    >>> decimal(" 1.005d", 10, 2), decimal("-12e-1", 38, 3)
    (Decimal('1.01'), Decimal('-1.200'))
    """
    if precision <= _SHORT and len(text.encode()) <= _SHORT:
        value = _short_decimal(text, precision, scale)
    else:
        trimmed = text.strip(" \n\t")
        if _DECIMAL.fullmatch(trimmed) is None:
            raise refusal(text, "DECIMAL")
        value = Decimal(trimmed)
    found = fitted(value, precision, scale)
    if found is None:
        raise refusal(text, f"DECIMAL({precision}, {scale})")
    return found


def _short_decimal(text: str, precision: int, scale: int) -> Decimal:
    found = _SHORT_DECIMAL.fullmatch(text)
    if found is None or not text.strip(" \n\t") or text.strip(" \n\t") in ("+", "-"):
        raise refusal(text, "DECIMAL")
    sign, whole_digits, fraction, exponent_sign, exponent, rest = (part or "" for part in found.groups())
    if exponent_sign and not exponent and not rest:
        raise refusal(text, "DECIMAL")
    power = min(int(exponent or 0), 400) * (-1 if exponent_sign == "-" else 1)
    if len(whole_digits) + power + scale > precision or power + scale - len(fraction) < -_SHORT:
        raise refusal(text, f"DECIMAL({precision}, {scale})")
    return Decimal(f"{sign}{whole_digits or 0}.{fraction or 0}").scaleb(power)


def _truth(text: str) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise refusal(text, "BOOLEAN")


def attempted(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that gives None where the other one cannot compute a text."""

    def attempt(text: str | None) -> Any:
        try:
            return None if text is None else function(text)
        except ComputeError:
            return None

    return attempt


def reader(function: Callable[[str], Any], tried: str, result: str, arrow: pa.DataType) -> VectorFunction:
    """Return what reads each different text of a column; as NULL where it is none if `tried` is not empty."""

    def read(text: str | None) -> Any:
        return None if text is None else function(text)

    return by_value(attempted(function) if tried else read, "VARCHAR", result, arrow)


def _to_whole(kind: str, tried: str = "") -> VectorFunction:
    return reader(lambda text: whole(text, kind), tried, kind, _NUMBERS[kind])


def _to_floating(kind: str, tried: str = "") -> VectorFunction:
    return reader(_floating, tried, kind, pa.float32() if kind == "FLOAT" else pa.float64())


def _to_decimal(precision: str, scale: str, tried: str = "") -> VectorFunction:
    digits = int(precision), int(scale)
    kind = f"DECIMAL({precision}, {scale})"
    return reader(lambda text: decimal(text, *digits), tried, kind, pa.decimal128(*digits))


def _to_truth(tried: str = "") -> VectorFunction:
    return reader(_truth, tried, "BOOLEAN", pa.bool_())


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "text_to_whole": _to_whole,
    "text_to_floating": _to_floating,
    "text_to_decimal": _to_decimal,
    "text_to_truth": _to_truth,
}
