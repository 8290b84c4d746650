"""Operators on numbers, their functions, and constants."""

from __future__ import annotations

from itertools import product

from .lines import lines
from .table import NUMBERS

NUMERIC = """
POWER({}, 2)
POWER(2, {})
SQRT({})
LN({})
LOG10({})
LOG2({})
LOG({})
LOG(2, {})
EXP({})
ABS({})
SIGN({})
CEIL({})
CEILING({})
FLOOR({})
ROUND({})
ROUND({}, 1)
ROUND({}, 0)
ROUND({}, -1)
TRUNCATE({})
TRUNCATE({}, 1)
TRUNCATE({}, -1)
SIN({})
COS({})
TAN({})
COT({})
ASIN({})
ACOS({})
ATAN({})
SINH({})
COSH({})
TANH({})
DEGREES({})
RADIANS({})
"""

NUMERIC_MORE = """
ATAN2(d, e)
ATAN2(i, j)
ROUND(dc, j)
ROUND(d, j)
ROUND(i, j)
TRUNCATE(d, j)
TRUNCATE(dc, j)
ROUND(dd, 3)
ROUND(dz, 2)
ROUND(-2.5)
ROUND(1.005, 2)
ROUND(d, 3)
POWER(i, j)
POWER(d, e)
POWER(dc, 2)
LOG(e, d)
PI()
PI
E()
RAND() < 1
RAND(3) < 1
RAND_INTEGER(10) < 10
RAND_INTEGER(3, 10) < 10
MOD(ti, 3)
MOD(7, j)
MOD(bi, i)
BITAND(i, 6)
SIGN(dc)
ABS(dd)
CONV(i, 10, 2)
GREATEST(1, 2.5)
PERCENT(d)
TRUNCATE(i, j)
ROUND(bi, j)
CAST(j AS DECIMAL(3, 1))
TRY_CAST(CAST(num AS DOUBLE) AS DECIMAL(10, 3))
X''
"""

CONSTANTS = """
1
-1
1.5
1e3
12345678901
123456789012345678901234
'abc'
''
TRUE
NULL
X'6162'
1.0
.5
0.10
100.
2147483648
-2147483648
'it''s'
_UTF16'ü'
N'abc'
"""


def arithmetic() -> list[str]:
    """Return operators on numbers of all kinds."""
    binary = [f"{left} {sign} {right}" for left, right in product(NUMBERS, NUMBERS) for sign in "+-*"]
    safe = [f"{left} {sign} NULLIF({right}, 0)" for left, right in product(NUMBERS, NUMBERS) for sign in "/%"]
    safe += [f"{left} {sign} {right}" for left in ("ti", "si", "i", "bi", "d", "dc", "dd", "dz") for sign in "/%"
             for right in ("j", "2", "CAST(3 AS BIGINT)", "1.5", "CAST(2 AS TINYINT)", "dz", "dw")]  # fmt: skip
    unary = [f"{sign}{name}" for name in NUMBERS for sign in "-+"] + [
        "i + 1",
        "i + 1.5",
        "bi * 2",
        "k + 1",
        "k * 1.5",
        "k / 2",
        "k % 3",
        "dc + 1",
        "dc * 100",
        "dc / 3",
        "dc - 0.01",
        "1 / dz",
        "d / 0",
        "i / 0",
        "dc / 0",
        "i % 0",
        "d % 0",
        "-i * 2",
        "(k + 1) * (k + 2)",
        "MOD(i, j)",
        "MOD(bi, 3)",
        "MOD(dc, 3)",
        "MOD(i, dz)",
        "i + NULL",
    ]
    return binary + safe + unary


def numeric() -> list[str]:
    """Return functions of numbers."""
    each = [
        pattern.format(name)
        for pattern in lines(NUMERIC)
        for name in ("i", "ti", "bi", "f", "d", "dc", "dz", "dd")
    ]
    return each + lines(NUMERIC_MORE)
