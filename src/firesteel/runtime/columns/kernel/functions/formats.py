"""PRINTF: texts by Java's format strings (Java: java.util.Formatter with Locale.US).

What Java refuses (an unknown conversion, flags that do not go together, a value of another class) gives NULL, as in
Flink. The conversions of times (``%tY``) and of hash codes (``%h``) are not there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.common.logical_types.text_parts import java_local_text
from firesteel.common.typeinfo.java_text import double_text, float_text
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction

_SPEC: Final = re.compile(r"%(\d+\$)?([-#+ 0,(<]*)(\d+)?(\.\d+)?([tT])?([a-zA-Z%])")
_DIGITS: Final = Context(prec=400, rounding=ROUND_HALF_UP)
_ALLOWED: Final = {
    **dict.fromkeys("bs", "-<"),
    "c": "-<",
    "d": "-+ 0,(<",
    **dict.fromkeys("ox", "-#0<"),
    "e": "-#+ 0(<",
    "f": "-#+ 0,(<",
    "g": "-+ 0,(<",
    "a": "-#+ 0<",
}
_WITH_PRECISION: Final = frozenset("bsefga")
_UPPER: Final = frozenset("BSCXEGA")
_MISSING: Final = frozenset("hH")


class _BadFormatError(ValueError):
    """Java refuses a format string for its arguments."""


class _Spec(NamedTuple):
    """A conversion with its flags; `width` and `precision` are -1 if they are not written."""

    flags: str
    width: int
    precision: int
    conversion: str


class _Argument(NamedTuple):
    """A value, None for NULL, and the class that Java has for it: a text, truth, number of bits, or another object."""

    kind: str
    value: Any


_BITS: Final = {"byte": 8, "short": 16, "int": 32, "long": 64}


def formatted(pattern: str, arguments: Sequence[_Argument]) -> str | None:
    """Return the text of a format string with arguments; None if Java refuses it.

    >>> formatted("%s: %,.2f%%", [_Argument("text", "tea"), _Argument("double", 1234.5)])
    'tea: 1,234.50%'
    """
    try:
        return "".join(_parts(pattern, arguments))
    except _BadFormatError:
        return None


def _parts(pattern: str, arguments: Sequence[_Argument]) -> list[str]:
    found, place, ordinary, last = [], 0, 0, -1
    while (start := pattern.find("%", place)) >= 0:
        match = _SPEC.match(pattern, start)
        if match is None:
            raise _BadFormatError
        found.append(pattern[place:start])
        place = match.end()
        index, flags, width, precision, time, conversion = match.groups()
        spec = _Spec(flags, int(width or -1), int((precision or ".-1")[1:]), conversion)
        if conversion in "n%" and not time:
            found.append(_fixed(spec))
            continue
        if "<" in flags:
            at = last
        elif index is not None:
            at = int(index[:-1]) - 1
        else:
            at, ordinary = ordinary, ordinary + 1
        if not 0 <= at < len(arguments):
            raise _BadFormatError
        last = at
        found.append(_converted(spec, bool(time), arguments[at]))
    return [*found, pattern[place:]]


def _fixed(spec: _Spec) -> str:
    if spec.conversion == "n":
        if spec.flags or spec.width >= 0 or spec.precision >= 0:
            raise _BadFormatError
        return "\n"
    if spec.precision >= 0 or spec.flags not in ("", "-"):
        raise _BadFormatError
    return _padded("%", spec)


def _converted(spec: _Spec, time: bool, argument: _Argument) -> str:
    if time or spec.conversion in _MISSING:
        if argument.value is None:
            return _padded("null", spec)
        if time and argument.kind != "long":
            raise _BadFormatError
        raise ComputeError(f"PRINTF has no conversion %{'t' if time else ''}{spec.conversion}")
    lower = spec.conversion.lower()
    upper = spec.conversion in _UPPER
    if lower not in _ALLOWED or (upper and lower in "dfo") or spec.conversion in "DFO":
        raise _BadFormatError
    _check(spec, lower)
    if argument.value is None:
        text = "false" if lower == "b" else "null"
        found = _padded(text[: spec.precision] if spec.precision >= 0 else text, spec)
    else:
        found = _CONVERSIONS[lower](spec, argument)
    return found.upper() if upper else found


def _check(spec: _Spec, conversion: str) -> None:
    flags = spec.flags
    wrong = set(flags) - set(_ALLOWED[conversion]) or len(set(flags)) < len(flags)
    clash = ("+" in flags and " " in flags) or ("-" in flags and "0" in flags)
    no_width = spec.width < 0 and ("-" in flags or "0" in flags)
    if wrong or clash or no_width or (spec.precision >= 0 and conversion not in _WITH_PRECISION):
        raise _BadFormatError


def _padded(text: str, spec: _Spec) -> str:
    """Return a text with blanks up to the width, which counts characters beyond 16 bits twice, as Java does."""
    missing = " " * (spec.width - len(text.encode("utf-16-le")) // 2)
    return text + missing if "-" in spec.flags else missing + text


def _general(spec: _Spec, text: str) -> str:
    return _padded(text[: spec.precision] if spec.precision >= 0 else text, spec)


def _truth(spec: _Spec, argument: _Argument) -> str:
    is_true = argument.value if argument.kind == "truth" else True
    return _general(spec, "true" if is_true else "false")


def _text(spec: _Spec, argument: _Argument) -> str:
    kind, value = argument
    if kind == "truth":
        return _general(spec, "true" if value else "false")
    if kind in ("float", "double"):
        return _general(spec, float_text(value) if kind == "float" else double_text(value))
    if kind in ("micros", "nanos"):
        return _general(spec, java_local_text(value * (1000 if kind == "micros" else 1)))
    return _general(spec, str(value))


def _character(spec: _Spec, argument: _Argument) -> str:
    if argument.kind not in ("byte", "short", "int") or not 0 <= argument.value <= 0x10FFFF:
        raise _BadFormatError
    return _padded(chr(argument.value), spec)


def _decimal(spec: _Spec, argument: _Argument) -> str:
    if argument.kind not in _BITS:
        raise _BadFormatError
    digits = f"{abs(argument.value):{',' if ',' in spec.flags else ''}d}"
    return _signed(spec, digits, argument.value < 0)


def _signed(spec: _Spec, digits: str, negative: bool, *, zeros: bool = True) -> str:
    """Return digits with a sign as the flags say, and zeros before them up to the width."""
    positive = "+" if "+" in spec.flags else " " if " " in spec.flags else ""
    front = "(" if negative and "(" in spec.flags else "-" if negative else positive
    end = ")" if front == "(" else ""
    if zeros and "0" in spec.flags:
        digits = digits.rjust(spec.width - len(front) - len(end), "0")
    return _padded(f"{front}{digits}{end}", spec)


def _radix(spec: _Spec, argument: _Argument) -> str:
    if argument.kind not in _BITS:
        raise _BadFormatError
    unsigned = argument.value % (1 << _BITS[argument.kind])
    kind = spec.conversion.lower()
    prefix = {"x": "0x", "o": "0"}[kind] if "#" in spec.flags else ""
    digits = f"{unsigned:{kind}}"
    if "0" in spec.flags:
        digits = digits.rjust(spec.width - len(prefix), "0")
    return _padded(prefix + digits, spec)


def _floating(spec: _Spec, argument: _Argument) -> str:
    if argument.kind not in ("float", "double"):
        raise _BadFormatError
    value = float(argument.value)
    if math.isnan(value):
        return _padded("NaN", spec)
    negative = math.copysign(1.0, value) < 0
    if math.isinf(value):
        return _signed(spec, "Infinity", negative, zeros=False)
    digits = _NOTATIONS[spec.conversion.lower()](abs(value), spec)
    return _signed(spec, digits, negative)


def _fixed_point(value: float, spec: _Spec, precision: int | None = None) -> str:
    if precision is None:
        precision = spec.precision if spec.precision >= 0 else 6
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-precision), context=_DIGITS)
    point = "." if "#" in spec.flags and not precision else ""
    return f"{rounded:{',' if ',' in spec.flags else ''}f}{point}"


def _scientific(value: float, spec: _Spec, precision: int | None = None) -> str:
    if precision is None:
        precision = spec.precision if spec.precision >= 0 else 6
    number = Decimal(repr(value))
    exponent = number.adjusted() if number else 0
    digits = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-precision), context=_DIGITS)
    if digits >= 10:
        exponent += 1
        digits = digits.scaleb(-1).quantize(Decimal(1).scaleb(-precision), context=_DIGITS)
    point = "." if "#" in spec.flags and not precision else ""
    return f"{digits:f}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _shortest(value: float, spec: _Spec) -> str:
    precision = {-1: 6, 0: 1}.get(spec.precision, spec.precision)
    if not value:
        return _fixed_point(value, spec, precision - 1)
    number = Decimal(repr(value))
    rounded = number.quantize(Decimal(1).scaleb(number.adjusted() - precision + 1), context=_DIGITS)
    if Decimal("0.0001") <= rounded < Decimal(10) ** precision:
        return _fixed_point(value, spec, precision - rounded.adjusted() - 1)
    return _scientific(value, spec, precision - 1)


def _hexadecimal(value: float, spec: _Spec) -> str:
    if spec.precision >= 0:
        raise ComputeError("PRINTF has no %a with a precision")
    start, exponent = value.hex().split("p")
    whole, _, fraction = start.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}p{int(exponent)}"


_NOTATIONS: Final[dict[str, Callable[[float, _Spec], str]]] = {
    "f": _fixed_point,
    "e": _scientific,
    "g": _shortest,
    "a": _hexadecimal,
}
_CONVERSIONS: Final[dict[str, Callable[[_Spec, _Argument], str]]] = {
    "b": _truth,
    "s": _text,
    "c": _character,
    "d": _decimal,
    "o": _radix,
    "x": _radix,
    **dict.fromkeys("efga", _floating),
}


def _printf(kernel_type: str, *kinds: str) -> VectorFunction:
    """Return PRINTF of a row of arguments, whose classes are `kinds`."""

    def compute(patterns: pa.ChunkedArray, rows: pa.ChunkedArray) -> pa.Array:
        found: list[str | None] = []
        for pattern, row in zip(patterns.to_pylist(), rows.to_pylist(), strict=True):
            arguments = [_Argument(*pair) for pair in zip(kinds, (row or {}).values(), strict=False)]
            found.append(None if pattern is None else formatted(pattern, arguments))
        return pa.array(found, pa.string())

    return VectorFunction(lambda a, b: compute(a, b), ("VARCHAR", kernel_type), "VARCHAR")


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {"printf": _printf}
