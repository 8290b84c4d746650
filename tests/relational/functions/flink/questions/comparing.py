"""Comparisons, logic and conditions."""

from __future__ import annotations

from itertools import product

from .lines import lines
from .table import NUMBERS


def comparisons() -> list[str]:
    """Return comparisons, logic and conditions."""
    names = (
        "bo",
        "ti",
        "i",
        "bi",
        "d",
        "f",
        "dc",
        "dd",
        "s",
        "c5",
        "num",
        "bs",
        "da",
        "tm",
        "ts",
        "ts9",
        "lz",
    )
    pairs = [f"{left} = {right}" for left, right in product(names, names)]
    pairs += [f"{left} < {right}" for left, right in product(NUMBERS, NUMBERS)]
    pairs += [f"{left} {sign} {right}" for sign in ("<>", ">", ">=", "<=") for left, right in SIMILAR]
    pairs += [f"{left} IS {no}DISTINCT FROM {right}" for left, right in SIMILAR for no in ("", "NOT ")]
    return pairs + lines(CONDITIONS)


SIMILAR = (
    ("i", "j"), ("bo", "bp"), ("d", "e"), ("s", "t"), ("c5", "v5"), ("da", "db"), ("ts", "tz"), ("dc", "dz"),
    ("f", "d"), ("i", "d"), ("bs", "b3"), ("lz", "lz9"), ("ts", "lz"), ("da", "ts"), ("idt", "INTERVAL '1' DAY"),
    ("iy", "INTERVAL '1' MONTH"), ("s", "'b'"), ("ts", "TIMESTAMP '2020-01-05 23:59:59'"),
    ("da", "DATE '2020-01-05'"), ("da", "'2020-01-05'"), ("ts", "'2020-01-05 23:59:59'"),
    ("i", "'7'"), ("tm", "TIME '10:00:00'"), ("ar", "ar"), ("ro", "ro"), ("ma", "ma"), ("k", "NULL"),
)  # fmt: skip

CONDITIONS = """
bo AND bp
bo OR bp
NOT bo
bo IS TRUE
bo IS NOT TRUE
bo IS FALSE
bo IS NOT FALSE
bo IS UNKNOWN
bo IS NOT UNKNOWN
bo IS NULL
s IS NULL
s IS NOT NULL
k IS NULL
i IS NOT NULL AND i > 0
i > 0 OR s IS NULL
j <> 0 AND 10 / j > 1
i <> 0 AND 100 / i > 1
i = 0 OR 100 / i > 1
i BETWEEN j AND 100
i NOT BETWEEN 0 AND 7
i BETWEEN SYMMETRIC 100 AND j
dc BETWEEN 0 AND 5.5
s BETWEEN 'a' AND 'b'
i BETWEEN dz AND d
i IN (1, 7, 3)
i IN (1, NULL, 3)
i NOT IN (1, 7, 3)
i NOT IN (1, NULL)
i IN (j, 7)
i IN (1, 2.5, 3)
i IN (1)
s IN ('abc', '12')
s IN ('abc', NULL)
s NOT IN ('abc', 'x')
c5 IN ('abc', 'hello')
da IN (DATE '2024-02-29')
dc IN (1.25, 3)
bi IN (7, 5000000000)
d IN (1.5, 2)
ti IN (1, 300)
i IN (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25)
s LIKE 'a%'
s LIKE '%b_'
s LIKE ''
s LIKE 'x!%!_y' ESCAPE '!'
s LIKE '%\\_%'
s LIKE t
s NOT LIKE '%b%'
s LIKE '%ü%'
s LIKE '______'
c5 LIKE 'a%'
s LIKE NULL
s SIMILAR TO '(abc|12)+'
s SIMILAR TO '[a-c]{3}'
s NOT SIMILAR TO '%b%'
CASE WHEN i > 0 THEN 'pos' WHEN i < 0 THEN 'negative' ELSE 'zero' END
CASE WHEN i > 0 THEN i END
CASE WHEN i > 0 THEN i ELSE 1.5 END
CASE WHEN i > 0 THEN i ELSE bi END
CASE WHEN i > 0 THEN d ELSE dc END
CASE WHEN bo THEN s ELSE c5 END
CASE i WHEN 1 THEN 'one' WHEN 7 THEN 'seven' END
CASE s WHEN 'abc' THEN 1 ELSE NULL END
CASE WHEN bo THEN NULL ELSE i END
CASE WHEN bo THEN ts ELSE ts9 END
CASE WHEN bo THEN da ELSE db END
CASE WHEN i <> 0 THEN 100 / i ELSE 0 END
CASE WHEN bo THEN DATE '2024-02-29' ELSE ts END
CASE WHEN k > 5 THEN 1 ELSE 2 END
CASE WHEN bo THEN 'a' ELSE NULL END
IF(bo, 1, 2)
IF(bo, i, bi)
IF(bo, s, 'none')
IF(i > 0, 'p', NULL)
IF(bo, 1, 1.5)
IF(bo, dc, dz)
IFNULL(i, 0)
IFNULL(s, 'nothing')
IFNULL(dc, 0)
IFNULL(i, 1.5)
IFNULL(k, 0)
COALESCE(i, j)
COALESCE(i, j, 0)
COALESCE(s, t, 'z')
COALESCE(NULL, i, bi)
COALESCE(i, 1.5)
COALESCE(dc, dz, d)
COALESCE(k, i)
COALESCE(da, db)
NULLIF(i, 7)
NULLIF(i, j)
NULLIF(s, 'abc')
NULLIF(dc, 3)
NULLIF(k, 3)
NULLIF(d, i)
GREATEST(i, j)
GREATEST(i, j, 5)
GREATEST(s, t)
GREATEST(dc, dz)
GREATEST(i, d)
GREATEST(ts, tz)
LEAST(i, j)
LEAST(bi, 100)
LEAST(s, 'b')
LEAST(d, e)
TYPEOF(i)
TYPEOF(dc)
TYPEOF(k)
TYPEOF('abc')
IS_ALPHA(s)
IS_DECIMAL(s)
IS_DECIMAL(num)
IS_DIGIT(s)
"""
