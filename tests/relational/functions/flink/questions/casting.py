"""Casts of all kinds of columns to all kinds of types."""

from __future__ import annotations

from itertools import product

from .lines import lines
from .table import CLOCKS

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
        "CAST(d AS DECIMAL(10, 2))",
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


TRIED = ("num", "num2", "boo", "dts", "tms", "s", "c5", "v5", "f", "d", "e")
"""Columns of which some casts fail; where TRY_CAST gives NULL, CAST fails."""


READ_AS = {
    ("dts2", "dts3", "tms2"): (
        "DATE",
        "TIME",
        "TIME(3)",
        *(target for target in TARGETS if "TIMESTAMP" in target),
    ),
    ("num3", "num4"): TARGETS[:10],
}
FORMATS = ("yyyy-MM-dd", "yyyy-M-d", "yyyy-MM-dd HH:mm:ss", "yyyyMMdd", "yyyy-MM-dd HH:mm:ss.SSS")
DOUBLES = (
    "2e-3 1e-3 9.999e-4 1e7 9999999 1e23 2e23 4.9e-324 2.2250738585072014e-308 1.7976931348623157e308 123456789.125 "
    "0.1 100 1e16 9007199254740993 1.0e-5 2.0e-5 1e21 1e22 4.35 0.3 3.3333333333333335 1234567.8 12345678.9 -0.0"
)
FLOATS = (
    "0.1 1e7 9999999 1e10 3.4028235e38 1.17549435e-38 1.4e-45 16777216 33554432 0.001 0.00099 1.1 3.3333333 8.5e9 "
    "1.0e-5 123456.79 2e20 3.0e-3 1234567.9"
)
ELEMENTS = "ts, tz; ts0; ts9; lz; da, db; tm; d, e; f; dc; dz; bo, bp; bs; s, t; c5; idt; iy; ar"
"""What arrays are made of that are shown as text."""

SHOWN = """
CAST(MAP['x', ts] AS STRING)
CAST(MAP[k, s] AS STRING)
CAST(ROW(i, s, ts, bo, d, dc) AS STRING)
CAST(ROW(ROW(i), ar) AS STRING)
CAST(ar AS VARCHAR(4))
CAST(ar AS CHAR(12))
CAST(ma AS VARCHAR(4))
CAST(ro AS CHAR(12))
CAST(sa AS ARRAY<VARCHAR(2)>)
TRY_CAST(sa AS ARRAY<INT>)
CAST(ar AS ARRAY<DOUBLE>)
CAST(ar AS ARRAY<DECIMAL(12, 2)>)
CAST(ma AS MAP<STRING, STRING>)
CAST(ro AS ROW<n STRING, w VARCHAR(2)>)
TRY_CAST(ro AS ROW<n STRING, w INT>)
CAST(NULL AS ARRAY<INT>)
"""


def reading() -> list[str]:
    """Return readings of texts that are hardly numbers and times."""
    found = [
        f"TRY_CAST({column} AS {target})"
        for columns, targets in READ_AS.items()
        for column, target in product(columns, targets)
    ]
    for column in ("dts2", "dts3"):
        found += [f"{function}({column})" for function in ("TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP")]
        found += [f"TO_TIMESTAMP_LTZ({column})", f"DATE_FORMAT({column}, 'yyyyMMdd')"]
        found += [
            f"{function}({column}, '{pattern}')"
            for function, pattern in product(("TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP"), FORMATS)
        ]
    return found


def shown() -> list[str]:
    """Return values as text."""
    doubles = [f"CAST(CAST('{text}' AS DOUBLE) AS STRING)" for text in DOUBLES.split()]
    floats = [f"CAST(CAST('{text}' AS FLOAT) AS STRING)" for text in FLOATS.split()]
    arrays = [f"CAST(ARRAY[{elements}] AS STRING)" for elements in ELEMENTS.split("; ")]
    return doubles + floats + arrays + lines(SHOWN)
