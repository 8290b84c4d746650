"""What Flink was asked about functions: a table with a column of each type, and expressions over it."""

from __future__ import annotations

from itertools import product

ROWS = 10
"""The number of rows; column `k` has their places."""

COLUMNS: dict[str, tuple[str, list[str | None]]] = {
    "k": ("INT NOT NULL", [str(place) for place in range(ROWS)]),
    "bo": ("BOOLEAN", ["TRUE", "FALSE", None, "TRUE", "FALSE", None, "TRUE", "FALSE", "TRUE", "TRUE"]),
    "bp": ("BOOLEAN", ["TRUE", "TRUE", "TRUE", "FALSE", "FALSE", None, None, None, "TRUE", "FALSE"]),
    "ti": ("TINYINT", ["0", "1", "-1", "127", "-128", None, "7", "-7", "100", "3"]),
    "si": ("SMALLINT", ["0", "1", "-1", "32767", "-32768", None, "7", "-7", "300", "3"]),
    "i": ("INT", ["0", "1", "-1", "2147483647", "-2147483648", None, "7", "-7", "100000", "3"]),
    "j": ("INT", ["2", "-3", "5", "1", "-1", "4", None, "3", "7", "2"]),
    "bi": (
        "BIGINT",
        ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", None, "7", "-7", "5000000000", "3"],
    ),
    "f": (
        "FLOAT",
        ["'0'", "'1.5'", "'-2.5'", "'3.4e38'", "'-0.5'", None, "'0.1'", "'NaN'", "'16777216'", "'2'"],
    ),
    "d": (
        "DOUBLE",
        ["'0'", "'1.5'", "'-2.5'", "'1e300'", "'-1e-5'", None, "'0.1'", "'NaN'", "'123456.789'", "'2'"],
    ),
    "e": (
        "DOUBLE",
        ["'2'", "'-3'", "'0.5'", "'1e10'", "'0.25'", "'4'", None, "'1'", "'Infinity'", "'-0.0'"],
    ),
    "dc": (
        "DECIMAL(10, 2)",
        ["0", "1.25", "-2.50", "99999999.99", "-99999999.99", None, "0.05", "-7.15", "1000", "3"],
    ),
    "dd": (
        "DECIMAL(38, 18)",
        [
            "0",
            "'1.000000000000000001'",
            "-2.5",
            "'99999999999999999999.999999999999999999'",
            "'-99999999999999999999'",
            None,
            "0.1",
            "-7.125",
            "1000",
            "3",
        ],
    ),
    "dz": ("DECIMAL(5, 3)", ["2", "-1.005", "0.125", "99.999", "-0.5", "1.5", None, "7.777", "10", "0.001"]),
    "dw": (
        "DECIMAL(20, 0)",
        ["2", "-3", "99999999999999999999", "1", "-1", "15", None, "7", "10", "3"],
    ),
    "s": (
        "STRING",
        [
            "'abc'",
            "''",
            None,
            "' Hello World '",
            "'ÄÖüß€😀'",
            "'a,b,,c'",
            "'12'",
            "'x%_y'",
            "'foo.bar.baz'",
            "'abcabc'",
        ],
    ),
    "t": ("STRING", ["'b'", "'a'", "'x'", None, "'ü'", "','", "'1'", "'%'", "'.'", "'bc'"]),
    "c5": ("CHAR(5)", ["'abc'", "'a b'", "''", "'hello'", "'ÄÖ'", None, "'12'", "'-7'", "'x'", "'true'"]),
    "v5": ("VARCHAR(5)", ["'abc'", "'a b'", "''", "'hello'", "'ÄÖ'", None, "'12'", "'-7'", "'x '", "'true'"]),
    "num": (
        "STRING",
        ["'12'", "' 42 '", "'-7'", "'3.7'", "'1e3'", "''", "'abc'", None, "'9999999999'", "'0012'"],
    ),
    "num2": (
        "STRING",
        ["'+5'", "'-0'", "'.5'", "'5.'", "'NaN'", "'Infinity'", "'1,000'", "'0x1F'", "'127.9'", "'1d'"],
    ),
    "boo": (
        "STRING",
        ["'true'", "'FALSE'", "'t'", "'f'", "'yes'", "'n'", "'1'", "'0'", "' true '", "'on'"],
    ),
    "dts": (
        "STRING",
        [
            "'2024-02-29'",
            "'2024-02-29 12:34:56'",
            "'2024-02-29 12:34:56.789123456'",
            "'1969-12-31 23:59:59.999'",
            "'24-1-1'",
            "'2023-02-29'",
            None,
            "'2024-02-29T12:34:56'",
            "'abc'",
            "' 2024-1-5 1:2:3 '",
        ],
    ),
    "tms": (
        "STRING",
        [
            "'12:34:56'",
            "'12:34'",
            "'12'",
            "'23:59:59.999'",
            "'24:00:00'",
            "''",
            None,
            "'1:2:3'",
            "' 12:00:00 '",
            "'12:34:56.1234567'",
        ],
    ),
    "bs": (
        "BYTES",
        ["X'616263'", "X''", None, "X'FF00'", "X'C384'", "X'31'", "X'00'", "X'7F80'", "X'20'", "X'0A0B0C'"],
    ),
    "b3": (
        "BINARY(3)",
        ["X'616263'", "X'616263'", None, "X'FF0000'", "X'C38441'", "X'313233'"] + ["X'000000'"] * 4,
    ),
    "da": (
        "DATE",
        [
            "'1970-01-01'",
            "'2024-02-29'",
            "'1969-12-31'",
            "'0001-01-01'",
            "'9999-12-31'",
            None,
            "'2023-12-31'",
            "'2020-01-05'",
            "'1582-10-15'",
            "'2021-01-03'",
        ],
    ),
    "db": (
        "DATE",
        [
            "'1970-01-02'",
            "'2023-03-31'",
            "'2024-02-29'",
            "'2024-02-29'",
            "'2024-02-29'",
            "'2024-02-29'",
            None,
            "'2020-01-05'",
            "'2000-01-01'",
            "'2021-12-31'",
        ],
    ),
    "tm": (
        "TIME",
        ["'00:00:00'", "'12:34:56'", "'23:59:59'", "'01:02:03'"]
        + ["'06:00:00'"]
        + [None]
        + ["'10:00:00'"] * 4,
    ),
    "ts0": ("TIMESTAMP(0)", []),
    "ts": ("TIMESTAMP(3)", []),
    "ts6": ("TIMESTAMP(6)", []),
    "ts9": ("TIMESTAMP(9)", []),
    "tz": (
        "TIMESTAMP(3)",
        [
            "'1970-01-01 00:00:01'",
            "'2023-03-31 00:00:00.001'",
            "'2024-02-29 12:34:56.789'",
            "'2024-01-31 10:00:00'",
            "'2025-12-31 23:59:59.999'",
            "'2024-02-29 00:00:00'",
            None,
            "'2020-01-05 00:00:00'",
            "'2000-01-01 00:00:00'",
            "'1969-06-30 12:00:00'",
        ],
    ),
    "lz": ("TIMESTAMP_LTZ(3)", []),
    "lz9": ("TIMESTAMP_LTZ(9)", []),
    "lz0": ("TIMESTAMP_LTZ(0)", []),
}
_CLOCKS = [
    "'1970-01-01 00:00:00'",
    "'2024-02-29 12:34:56.789123456'",
    "'1969-12-31 23:59:59.999999999'",
    "'2024-03-31 02:30:00'",
    "'2023-10-29 02:30:00.5'",
    None,
    "'2021-06-15 06:07:08.000001'",
    "'2020-01-05 23:59:59'",
    "'1700-10-15 01:02:03'",
    "'2024-12-30 00:00:00.123'",
]
for _name in ("ts0", "ts", "ts6", "ts9", "lz", "lz9", "lz0"):
    COLUMNS[_name] = (COLUMNS[_name][0], list(_CLOCKS))

DERIVED = {
    "iy": "CASE WHEN k > 5 THEN INTERVAL '1-2' YEAR TO MONTH ELSE INTERVAL -'13' MONTH END",
    "idt": "CASE WHEN k > 5 THEN INTERVAL '1 02:03:04.005' DAY TO SECOND(3) ELSE INTERVAL -'36' HOUR END",
    "ar": "CASE WHEN k = 5 THEN CAST(NULL AS ARRAY<INT>) WHEN k > 5 THEN ARRAY[i, j] ELSE ARRAY[i, j, 3] END",
    "sa": "CASE WHEN k = 5 THEN CAST(NULL AS ARRAY<STRING>) ELSE ARRAY[s, t] END",
    "ma": "CASE WHEN k = 5 THEN CAST(NULL AS MAP<STRING, INT>) ELSE MAP['a', i, 'b', j] END",
    "ro": "CAST(ROW(i, s) AS ROW<n INT, w STRING>)",
}
"""Columns of types that a VALUES clause has no constants of."""

NUMBERS = ("ti", "si", "i", "bi", "f", "d", "dc", "dd", "dz", "dw")
TEXTS = ("s", "c5", "v5")
CLOCKS = ("da", "tm", "ts0", "ts", "ts6", "ts9", "lz", "lz9")
TARGETS = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10, 2)",
    "DECIMAL(38, 18)",
    "DECIMAL(3, 1)",
    "STRING",
    "CHAR(4)",
    "VARCHAR(4)",
    "BYTES",
    "BINARY(2)",
    "VARBINARY(2)",
    "DATE",
    "TIME",
    "TIMESTAMP(0)",
    "TIMESTAMP(3)",
    "TIMESTAMP(9)",
    "TIMESTAMP_LTZ(3)",
    "TIMESTAMP_LTZ(0)",
)
SOURCES = (
    *("bo", "ti", "si", "i", "bi", "f", "d", "e", "dc", "dd", "dz", "s", "c5", "v5", "num", "num2", "boo"),
    *("dts", "tms", "bs", "b3", *CLOCKS, "idt", "iy"),
)


def casts() -> list[str]:
    """Return casts of all kinds of columns to all kinds of types."""
    pairs = list(product(SOURCES, TARGETS))
    plain = [f"CAST({column} AS {target})" for column, target in pairs if column not in TRIED]
    tried = [f"TRY_CAST({column} AS {target})" for column, target in pairs if column in TRIED]
    nested = [
        "CAST(ar AS ARRAY<BIGINT>)",
        "CAST(ar AS ARRAY<STRING>)",
        "CAST(ar AS STRING)",
        "CAST(ma AS STRING)",
        "CAST(ro AS STRING)",
        "CAST(ro AS ROW<a BIGINT, b STRING>)",
        "CAST(ma AS MAP<STRING, BIGINT>)",
        "CAST(iy AS INTERVAL MONTH)",
        "CAST(i AS INTERVAL DAY)",
        "CAST(j AS INTERVAL MONTH)",
        "CAST(i AS INTERVAL SECOND)",
        "CAST(INTERVAL '5' DAY AS INT)",
        "CAST(INTERVAL '5' MONTH AS BIGINT)",
        "CAST(NULL AS INT)",
        "CAST(k AS STRING)",
    ]
    return plain + tried + nested


TRIED = ("num", "num2", "boo", "dts", "tms", "s", "c5", "v5")
"""Texts, for some of which a CAST fails; where TRY_CAST gives NULL, CAST fails."""


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
    return pairs + [line.strip() for line in CONDITIONS.strip().splitlines()]


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

TEXT = """
s || t
s || 'x'
c5 || v5
'a' || 'b'
s || NULL
s || i
UPPER(s)
LOWER(s)
UPPER(c5)
LOWER(v5)
UCASE(s)
LCASE(s)
INITCAP(s)
INITCAP('hello WORLD-foo 1bar')
CHAR_LENGTH(s)
CHARACTER_LENGTH(c5)
OCTET_LENGTH(s)
POSITION(t IN s)
POSITION('b' IN s)
POSITION('b' IN s FROM 3)
POSITION('' IN s)
INSTR(s, t)
INSTR(s, 'b', 3)
INSTR(s, 'b', -1)
INSTR(s, 'b', 1, 2)
LOCATE('b', s)
LOCATE('b', s, 3)
LOCATE(t, s, j)
SUBSTRING(s FROM 2)
SUBSTRING(s FROM 2 FOR 3)
SUBSTRING(s, 2)
SUBSTRING(s, 0)
SUBSTRING(s, -2)
SUBSTRING(s, -2, 1)
SUBSTRING(s, 0, 2)
SUBSTRING(s, 2, 0)
SUBSTRING(s, j)
SUBSTRING(s, j, 2)
SUBSTRING(s, -20)
SUBSTRING(s, -20, 18)
SUBSTRING(c5, 2, 2)
SUBSTR(s, 2)
SUBSTR(s, 2, 3)
SUBSTR(s, -3, 2)
LEFT(s, 2)
LEFT(s, 0)
LEFT(s, -1)
LEFT(s, j)
RIGHT(s, 2)
RIGHT(s, -1)
RIGHT(s, 100)
TRIM(s)
TRIM(BOTH ' ' FROM s)
TRIM(LEADING FROM s)
TRIM(LEADING 'a' FROM s)
TRIM(TRAILING 'c' FROM s)
TRIM(BOTH 'ac' FROM s)
TRIM(BOTH t FROM s)
LTRIM(s)
RTRIM(s)
LTRIM(s, 'ab')
RTRIM(s, 'c')
BTRIM(s)
BTRIM(s, 'a')
LPAD(s, 5, 'xy')
LPAD(s, 2, 'x')
LPAD(s, 0, 'x')
LPAD(s, -1, 'x')
LPAD(s, 8, '')
LPAD(s, j, t)
RPAD(s, 5, 'xy')
RPAD(s, 2, 'x')
RPAD(s, 8, '')
REPEAT(s, 2)
REPEAT(s, 0)
REPEAT(s, -1)
REPEAT(t, j)
REPLACE(s, 'b', 'XX')
REPLACE(s, t, '')
REPLACE(s, '', 'x')
REPLACE(s, 'a', t)
TRANSLATE(s, 'abc', 'x')
TRANSLATE3(s, 'abc', 'x')
OVERLAY(s PLACING 'XX' FROM 2)
OVERLAY(s PLACING 'XX' FROM 2 FOR 1)
OVERLAY(s PLACING 'XX' FROM 2 FOR 0)
OVERLAY(s PLACING t FROM 20)
CONCAT(s, t)
CONCAT(s, 'x', t)
CONCAT('a', 'b')
CONCAT(s, i)
CONCAT_WS(',', s, t)
CONCAT_WS('-', s, NULL, t)
CONCAT_WS(t, s, 'x')
CONCAT_WS(',', c5, v5, s)
REVERSE(s)
REVERSE(c5)
SPLIT_INDEX(s, ',', 0)
SPLIT_INDEX(s, ',', 2)
SPLIT_INDEX(s, ',', 9)
SPLIT_INDEX(s, ',', -1)
SPLIT_INDEX(s, '.', 1)
SPLIT_INDEX(s, '', 0)
SPLIT_INDEX(s, 44, 1)
SPLIT_INDEX(s, t, 1)
SPLIT(s, ',')
SPLIT(s, '')
ASCII(s)
CHR(j)
CHR(97)
CHR(300)
CHR(-1)
ENCODE(s, 'UTF-8')
DECODE(bs, 'UTF-8')
ENCODE(s, 'UTF-16LE')
DECODE(ENCODE(s, 'UTF-8'), 'UTF-8')
TO_BASE64(s)
FROM_BASE64(TO_BASE64(s))
FROM_BASE64('YWJj')
HEX(i)
HEX(bi)
HEX(s)
UNHEX('616263')
BIN(i)
BIN(bi)
MD5(s)
SHA1(s)
SHA224(s)
SHA256(s)
SHA384(s)
SHA512(s)
SHA2(s, 256)
SHA2(s, j)
REGEXP(s, 'b')
REGEXP(s, '^a.*c$')
REGEXP(s, t)
REGEXP(s, '')
REGEXP(s, '(?i)HELLO')
REGEXP(s, '\\d+')
REGEXP(s, '(a)\\1')
REGEXP(s, 'a(?=b)')
REGEXP_EXTRACT(s, '([a-z]+)')
REGEXP_EXTRACT(s, '([a-z])([a-z])', 2)
REGEXP_EXTRACT(s, '([a-z])([a-z])', 0)
REGEXP_EXTRACT(s, '([a-z])', 5)
REGEXP_EXTRACT(s, 'z(q)?', 1)
REGEXP_EXTRACT(s, '(', 1)
REGEXP_REPLACE(s, 'b', 'X')
REGEXP_REPLACE(s, '[a-c]+', '<$0>')
REGEXP_REPLACE(s, '(a)(b)', '$2$1')
REGEXP_REPLACE(s, 'a', '')
REGEXP_REPLACE(s, t, '-')
REGEXP_REPLACE(s, '', '-')
REGEXP_COUNT(s, '[a-c]')
REGEXP_SUBSTR(s, 'b.')
REGEXP_INSTR(s, 'b')
REGEXP_EXTRACT_ALL(s, '([a-c])')
STARTSWITH(s, 'a')
STARTSWITH(s, t)
ENDSWITH(s, 'c')
ENDSWITH(s, t)
ELT(2, s, t)
ELT(j, s, t, 'z')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'HOST')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'QUERY')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'QUERY', 'y')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'PATH')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'PROTOCOL')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'AUTHORITY')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'REF')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'USERINFO')
PARSE_URL('http://u:p@h.com:80/p/q?x=1&y=2#r', 'FILE')
PARSE_URL(s, 'HOST')
STR_TO_MAP(s)
STR_TO_MAP('a=1,b=2')
URL_ENCODE(s)
URL_DECODE('a%20b+c')
SOUNDEX(s)
LENGTH(s)
PRINTF('%s-%d', s, i)
UUID() = UUID()
CHAR_LENGTH(c5)
UPPER('abc')
SUBSTRING('hello', 2)
TRIM('  x ')
LOWER(i)
UPPER(NULL)
SUBSTRING(s, bi)
LEFT(s, bi)
"""

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
"""

TEMPORAL_UNITS = (
    "MILLENNIUM",
    "CENTURY",
    "DECADE",
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
    "NANOSECOND",
    "EPOCH",
    "DOW",
    "ISODOW",
    "DOY",
    "ISOYEAR",
)
TIMES = (("ts", "tz"), ("da", "db"), ("da", "ts"), ("lz", "lz9"), ("tz", "da"))
ROUNDED = ("da", "tm", "ts", "ts0", "ts9", "lz")

TEMPORAL = """
YEAR(da)
QUARTER(da)
MONTH(da)
WEEK(da)
DAYOFYEAR(da)
DAYOFMONTH(da)
DAYOFWEEK(da)
YEAR(ts)
MONTH(ts)
DAYOFMONTH(ts)
DAYOFWEEK(ts)
HOUR(ts)
MINUTE(ts)
SECOND(ts)
HOUR(tm)
MINUTE(tm)
SECOND(tm)
YEAR(lz)
HOUR(lz)
YEAR(s)
EXTRACT(YEAR FROM iy)
EXTRACT(MONTH FROM iy)
EXTRACT(DAY FROM idt)
EXTRACT(HOUR FROM idt)
EXTRACT(SECOND FROM idt)
da + INTERVAL '1' DAY
da - INTERVAL '1' DAY
da + INTERVAL '1' MONTH
da - INTERVAL '1' YEAR
da + INTERVAL '36' HOUR
da + INTERVAL '1' SECOND
INTERVAL '1' DAY + da
ts + INTERVAL '1' DAY
ts - INTERVAL '1' MONTH
ts + INTERVAL '1-2' YEAR TO MONTH
ts + INTERVAL '1 02:03:04.005' DAY TO SECOND
ts9 + INTERVAL '1' SECOND
ts0 + INTERVAL '0.5' SECOND
lz + INTERVAL '1' DAY
lz + INTERVAL '1' MONTH
lz9 - INTERVAL '1' MINUTE
tm + INTERVAL '1' HOUR
tm - INTERVAL '13' HOUR
tm + INTERVAL '30' SECOND
ts + idt
ts - idt
ts + iy
da + iy
da - iy
idt + idt
idt - INTERVAL '1' HOUR
iy + INTERVAL '1' YEAR
iy - iy
idt * 2
idt / 2
-idt
-iy
iy * 3
(da - db) DAY
(ts - tz) DAY
(ts - tz) SECOND
da - db
ts - tz
TIMESTAMPADD(YEAR, 1, ts)
TIMESTAMPADD(QUARTER, 1, ts)
TIMESTAMPADD(MONTH, j, ts)
TIMESTAMPADD(WEEK, 1, ts)
TIMESTAMPADD(DAY, j, ts)
TIMESTAMPADD(HOUR, j, ts)
TIMESTAMPADD(MINUTE, j, ts)
TIMESTAMPADD(SECOND, j, ts)
TIMESTAMPADD(DAY, j, da)
TIMESTAMPADD(MONTH, j, da)
TIMESTAMPADD(HOUR, j, da)
TIMESTAMPADD(HOUR, j, tm)
TIMESTAMPADD(DAY, 1, lz)
TIMESTAMPADD(SECOND, j, ts9)
TIMESTAMPADD(DAY, bi, ts)
DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')
DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')
DATE_FORMAT(ts, 'yyyyMMdd')
DATE_FORMAT(ts, 'HH:mm')
DATE_FORMAT(ts, 'EEE, d MMM yy')
DATE_FORMAT(ts, 'EEEE MMMM')
DATE_FORMAT(ts, 'h:mm a')
DATE_FORMAT(ts, 'D w u e')
DATE_FORMAT(ts, '''at'' HH')
DATE_FORMAT(ts, 'Q')
DATE_FORMAT(ts9, 'ss.SSSSSSSSS')
DATE_FORMAT(ts6, 'SSSSSS')
DATE_FORMAT(lz, 'yyyy-MM-dd HH:mm:ss')
DATE_FORMAT(dts, 'yyyy/MM/dd')
DATE_FORMAT(ts, 'bogus')
DATE_FORMAT(da, 'yyyy')
TO_DATE(dts)
TO_DATE('2024-02-29')
TO_DATE('29.02.2024', 'dd.MM.yyyy')
TO_DATE(dts, 'yyyy-MM-dd')
TO_DATE(s, 'yyyy')
TO_TIMESTAMP(dts)
TO_TIMESTAMP('2024-02-29 01:02:03.5')
TO_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss')
TO_TIMESTAMP(dts, 'yyyy-MM-dd')
TO_TIMESTAMP('29.02.2024 13', 'dd.MM.yyyy HH')
TO_TIMESTAMP('2024-02-29T12:34:56.789', 'yyyy-MM-dd''T''HH:mm:ss.SSS')
TO_TIMESTAMP('20240229', 'yyyyMMdd')
TO_TIMESTAMP('bad')
TO_TIMESTAMP_LTZ(bi, 0)
TO_TIMESTAMP_LTZ(bi, 3)
TO_TIMESTAMP_LTZ(k, 0)
TO_TIMESTAMP_LTZ(1234567890123, 3)
TO_TIMESTAMP_LTZ(i, 0)
TO_TIMESTAMP_LTZ(bi)
TO_TIMESTAMP_LTZ(d, 3)
TO_TIMESTAMP_LTZ(dc, 3)
TO_TIMESTAMP_LTZ(dts)
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd HH:mm:ss')
TO_TIMESTAMP_LTZ(dts, 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo')
UNIX_TIMESTAMP(dts)
UNIX_TIMESTAMP('2024-02-29 01:02:03')
UNIX_TIMESTAMP('29.02.2024', 'dd.MM.yyyy')
UNIX_TIMESTAMP(dts, 'yyyy-MM-dd HH:mm:ss')
UNIX_TIMESTAMP() > 0
FROM_UNIXTIME(k)
FROM_UNIXTIME(bi)
FROM_UNIXTIME(i)
FROM_UNIXTIME(1700000000)
FROM_UNIXTIME(i, 'yyyy/MM/dd')
FROM_UNIXTIME(1700000000, 'yyyy-MM-dd''T''HH:mm:ss.SSS')
CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')
CONVERT_TZ(dts, 'UTC', 'Asia/Tokyo')
DATE '2024-02-29'
TIME '12:34:56'
TIME '12:34:56.789'
TIMESTAMP '2024-02-29 12:34:56'
TIMESTAMP '2024-02-29 12:34:56.789'
TIMESTAMP '2024-02-29 12:34:56.123456789'
INTERVAL '1' DAY
INTERVAL '1-2' YEAR TO MONTH
INTERVAL '10:20' MINUTE TO SECOND
CURRENT_DATE > DATE '2020-01-01'
CURRENT_TIMESTAMP > TO_TIMESTAMP_LTZ(0, 3)
LOCALTIMESTAMP > TIMESTAMP '2020-01-01 00:00:00'
NOW() > TO_TIMESTAMP_LTZ(0, 3)
CURRENT_TIME IS NOT NULL
LOCALTIME IS NOT NULL
CURRENT_ROW_TIMESTAMP() > TO_TIMESTAMP_LTZ(0, 3)
PROCTIME() IS NOT NULL
CURRENT_TIMESTAMP = NOW()
CURRENT_WATERMARK(ts)
(da, db) OVERLAPS (db, da)
(ts, tz) OVERLAPS (tz, INTERVAL '1' DAY)
SOURCE_WATERMARK()
DATEDIFF(da, db)
"""

COLLECTIONS = """
ARRAY[1, 2, 3]
ARRAY[i, j]
ARRAY[i, 1.5]
ARRAY['a', 'bc']
ARRAY[i, NULL]
ARRAY[s, 'x']
MAP['a', 1, 'b', 2]
MAP['a', i, 'bc', j]
MAP[k, s]
MAP['a', 1, 'a', 2]
ROW(1, 'a')
ROW(i, s, TRUE)
(i, s)
ar[1]
ar[2]
ar[3]
ar[j]
ar[0]
ma['a']
ma['z']
ma[s]
ro.n
ro.w
CARDINALITY(ar)
CARDINALITY(ma)
ELEMENT(ARRAY[i])
ELEMENT(ar)
ARRAY_CONTAINS(ar, 3)
ARRAY_CONTAINS(ar, i)
ARRAY_DISTINCT(ARRAY[i, i, j])
ARRAY_POSITION(ar, j)
ARRAY_REVERSE(ar)
ARRAY_SLICE(ar, 1, 2)
ARRAY_UNION(ar, ARRAY[1])
ARRAY_CONCAT(ar, ARRAY[1])
ARRAY_MAX(ar)
ARRAY_MIN(ar)
ARRAY_JOIN(sa, '-')
ARRAY_JOIN(sa, '-', 'n')
ARRAY_REMOVE(ar, 3)
ARRAY_APPEND(ar, 9)
ARRAY_PREPEND(ar, 9)
ARRAY_SORT(ar)
ARRAY_EXCEPT(ar, ARRAY[3])
ARRAY_INTERSECT(ar, ARRAY[3])
MAP_KEYS(ma)
MAP_VALUES(ma)
MAP_ENTRIES(ma)
MAP_FROM_ARRAYS(ARRAY['a'], ARRAY[i])
MAP_UNION(ma, MAP['c', 1])
ar = ARRAY[0, 2, 3]
ARRAY[ar, ar]
ARRAY[ROW(1, 'a')]
ARRAY[ARRAY[i]][1][1]
CARDINALITY(ARRAY[1, 2])
GREATEST(NULL, i)
JSON_VALUE('{"a": 1}', '$.a')
JSON_QUERY('{"a": [1]}', '$.a')
JSON_EXISTS('{"a": 1}', '$.a')
JSON_STRING(i)
JSON_QUOTE(s)
JSON_UNQUOTE(JSON_QUOTE(s))
'{"a": 1}' IS JSON
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


def lines(text: str) -> list[str]:
    """Return the lines of a block."""
    return [line.strip() for line in text.strip().splitlines()]


def temporal() -> list[str]:
    """Return functions of times."""
    parts = [
        f"EXTRACT({unit} FROM {name})" for unit in TEMPORAL_UNITS for name in ("da", "tm", "ts", "ts9", "lz")
    ]
    floors = [f"{function}({name} TO {unit})" for function in ("FLOOR", "CEIL") for name in ROUNDED
              for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
                           "DECADE", "CENTURY")]  # fmt: skip
    differences = [f"TIMESTAMPDIFF({unit}, {left}, {right})"
                   for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
                   for left, right in TIMES]  # fmt: skip
    return parts + floors + differences + lines(TEMPORAL)


def numeric() -> list[str]:
    """Return functions of numbers."""
    each = [
        pattern.format(name)
        for pattern in lines(NUMERIC)
        for name in ("i", "ti", "bi", "f", "d", "dc", "dz", "dd")
    ]
    return each + lines(NUMERIC_MORE)


def questions() -> dict[str, list[str]]:
    """Return all expressions by subject."""
    subjects = {
        "text": lines(TEXT),
        "comparisons": comparisons(),
        "collections": lines(COLLECTIONS),
        "constants": lines(CONSTANTS),
        "temporal": temporal(),
        "numeric": numeric(),
        "arithmetic": arithmetic(),
        "casts": casts(),
    }
    return {subject: list(dict.fromkeys(asked)) for subject, asked in subjects.items()}


ZONED = ("lz", "lz9", "dts", "UNIX", "TZ", "LTZ")
"""What the answer to depends on the session's zone, if one of these is in the expression."""
