"""Texts that are numbers to Java, and DECIMALs with so many digits as a type has."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's `trim` takes off: blanks and control characters."""

_FLOATING: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?)",
    re.ASCII,
)
_DIGITS: Final = Context(prec=200, rounding=ROUND_HALF_UP)


def floating(text: str) -> float:
    """Return the number that a text is (Java: Double.parseDouble).

    Raises ValueError if it is none.

    >>> floating(" 1e400 "), floating("1d"), floating("-0"), floating("0x1p-1"), floating("-0x1p9999")
    (inf, 1.0, -0.0, 0.5, -inf)
    """
    trimmed = text.strip(BLANKS)
    if _FLOATING.fullmatch(trimmed) is None:
        raise ValueError(f"{text!r} is no number")
    if "x" in trimmed or "X" in trimmed:
        try:
            return float.fromhex(trimmed.rstrip("fFdD"))
        except OverflowError:
            return -math.inf if trimmed[0] == "-" else math.inf
    return float(trimmed.rstrip("fFdD") if trimmed[-1] in "fFdD" else trimmed)


def fitted(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a number rounded half up to `scale` digits after the point; None if it then has more than `precision`.

    >>> fitted(Decimal("1.005"), 3, 2), fitted(Decimal("99.995"), 4, 2), fitted(Decimal("0e99"), 3, 2)
    (Decimal('1.01'), None, Decimal('0.00'))
    """
    if number and number.adjusted() > precision - scale:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=_DIGITS)
    return rounded if not rounded or rounded.adjusted() < precision - scale else None
