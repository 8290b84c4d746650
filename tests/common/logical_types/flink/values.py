"""The values that Flink was asked to show: SQL expressions, each with its type."""

from __future__ import annotations

import re

TEXT_OF = {
    "BOOLEAN": ["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"],
    "TINYINT": ["CAST(-128 AS TINYINT)"],
    "INT": ["CAST(-2147483648 AS INT)", "0"],
    "BIGINT": ["9223372036854775807"],
    "DECIMAL(10, 3)": [
        "CAST(1 AS DECIMAL(10, 3))",
        "CAST(-0.005 AS DECIMAL(10, 3))",
        "CAST(0 AS DECIMAL(10, 3))",
    ],
    "DECIMAL(38, 18)": [
        "CAST('0.000000000000000001' AS DECIMAL(38, 18))",
        "CAST('12345678901234567890.5' AS DECIMAL(38, 18))",
    ],
    "DECIMAL(38, 0)": ["CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))"],
    "FLOAT": [
        "CAST('0.1' AS FLOAT)",
        "CAST('16777216' AS FLOAT)",
        "CAST('1e-5' AS FLOAT)",
        "CAST('3.4028235e38' AS FLOAT)",
        "CAST('-0.0' AS FLOAT)",
    ],
    "DOUBLE": [
        "CAST('1' AS DOUBLE)",
        "CAST('1e7' AS DOUBLE)",
        "CAST('9999999.999' AS DOUBLE)",
        "CAST('0.00099' AS DOUBLE)",
        "CAST('0.001' AS DOUBLE)",
        "CAST('4.9e-324' AS DOUBLE)",
        "CAST('1.7976931348623157e308' AS DOUBLE)",
        "CAST('-0.0' AS DOUBLE)",
        "CAST('NaN' AS DOUBLE)",
        "CAST('Infinity' AS DOUBLE)",
        "CAST('-Infinity' AS DOUBLE)",
        "CAST('123456.789' AS DOUBLE)",
        "CAST('0.1' AS DOUBLE) + CAST('0.2' AS DOUBLE)",
    ],
    "STRING": ["'a'", "''", "'it''s'", "'ü€😀'", "CAST(NULL AS STRING)"],
    "CHAR(5)": ["CAST('ab' AS CHAR(5))"],
    "VARCHAR(2)": ["CAST('abc' AS VARCHAR(2))"],
    "BYTES": ["x''", "x'00ff7f80'", "x'6162'"],
    "DATE": ["DATE '2020-01-31'", "DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1969-12-31'"],
    "TIME(0)": ["TIME '00:00:00'", "TIME '23:59:59'"],
    "TIME(3)": [
        "CAST('12:34:56.789' AS TIME(3))",
        "CAST('12:34:56' AS TIME(3))",
        "CAST('12:34:56.78' AS TIME(3))",
    ],
    "TIMESTAMP(0)": ["CAST('2020-01-01 00:00:00.987' AS TIMESTAMP(0))"],
    "TIMESTAMP(3)": [
        "CAST('2020-01-01 00:00:00' AS TIMESTAMP(3))",
        "CAST('2020-01-01 12:34:56.120' AS TIMESTAMP(3))",
        "CAST('1969-12-31 23:59:59.999' AS TIMESTAMP(3))",
    ],
    "TIMESTAMP(6)": [
        "CAST('2020-01-01 12:34:56.123' AS TIMESTAMP(6))",
        "CAST('0001-01-01 00:00:00.000001' AS TIMESTAMP(6))",
        "CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP(6))",
    ],
    "TIMESTAMP(9)": [
        "CAST('2020-01-01 12:34:56.123456789' AS TIMESTAMP(9))",
        "CAST('2020-01-01 12:34:00' AS TIMESTAMP(9))",
        "CAST('2020-01-01 12:34:56.1' AS TIMESTAMP(9))",
    ],
    "TIMESTAMP_LTZ(0)": ["TO_TIMESTAMP_LTZ(1577880000, 0)"],
    "TIMESTAMP_LTZ(3)": [
        "TO_TIMESTAMP_LTZ(1577880000120, 3)",
        "TO_TIMESTAMP_LTZ(-1, 3)",
        "CAST(NULL AS TIMESTAMP_LTZ(3))",
    ],
    "TIMESTAMP_LTZ(9)": ["CAST(CAST('2020-07-01 12:34:56.123456789' AS TIMESTAMP(9)) AS TIMESTAMP_LTZ(9))"],
    "INTERVAL YEAR(4) TO MONTH": [
        "INTERVAL '1-2' YEAR TO MONTH",
        "-INTERVAL '1-2' YEAR TO MONTH",
        "INTERVAL '0-11' YEAR TO MONTH",
        "INTERVAL '9999-11' YEAR(4) TO MONTH",
    ],
    "INTERVAL YEAR": ["INTERVAL '3' YEAR"],
    "INTERVAL MONTH": ["INTERVAL '14' MONTH"],
    "INTERVAL DAY TO SECOND(3)": [
        "INTERVAL '1 02:03:04.005' DAY TO SECOND(3)",
        "-INTERVAL '1 02:03:04.005' DAY TO SECOND(3)",
        "INTERVAL '0 00:00:00.000' DAY TO SECOND(3)",
        "INTERVAL '99 23:59:59.999' DAY TO SECOND(3)",
    ],
    "INTERVAL DAY": ["INTERVAL '3' DAY"],
    "INTERVAL HOUR": ["INTERVAL '30' HOUR"],
    "INTERVAL SECOND(3)": ["INTERVAL '1.5' SECOND(3)", "-INTERVAL '0.001' SECOND(3)"],
    "ARRAY<INT>": ["ARRAY[1, CAST(NULL AS INT), 3]", "CAST(NULL AS ARRAY<INT>)"],
    "ARRAY<STRING>": ["ARRAY['a', 'b c', CAST(NULL AS STRING), '']"],
    "ARRAY<DOUBLE>": ["ARRAY[CAST('1' AS DOUBLE), CAST('1e10' AS DOUBLE)]"],
    "ARRAY<ARRAY<INT>>": ["ARRAY[ARRAY[1, 2], ARRAY[3]]"],
    "ARRAY<BOOLEAN>": ["ARRAY[TRUE, FALSE, CAST(NULL AS BOOLEAN)]"],
    "ARRAY<BYTES>": ["ARRAY[x'6162']"],
    "ARRAY<TIMESTAMP(3)>": ["ARRAY[CAST('2020-01-01 12:34:00' AS TIMESTAMP(3))]"],
    "ARRAY<TIMESTAMP_LTZ(3)>": ["ARRAY[TO_TIMESTAMP_LTZ(1577880000120, 3)]"],
    "ARRAY<DECIMAL(5, 2)>": ["ARRAY[CAST(1 AS DECIMAL(5, 2))]"],
    "ARRAY<DATE>": ["ARRAY[DATE '2020-01-31']"],
    "ARRAY<TIME(0)>": ["ARRAY[TIME '12:34:00']"],
    "ARRAY<FLOAT>": ["ARRAY[CAST('0.1' AS FLOAT)]"],
    "MAP<STRING, INT>": ["MAP['k', 1]", "MAP['k', CAST(NULL AS INT)]", "CAST(NULL AS MAP<STRING, INT>)"],
    "MAP<INT, ARRAY<STRING>>": ["MAP[1, ARRAY['a', 'b']]"],
    "ROW<`a` INT, `b` STRING>": [
        "CAST(ROW(1, 'x') AS ROW<a INT, b STRING>)",
        "CAST(ROW(CAST(NULL AS INT), '') AS ROW<a INT, b STRING>)",
    ],
    "ROW<`a` DOUBLE, `b` ROW<`c` TIMESTAMP(3), `d` BOOLEAN, `e` BYTES>>": [
        (
            "CAST(ROW(1, ROW(TIMESTAMP '2020-01-01 00:00:00', TRUE, x'61'))"
            " AS ROW<a DOUBLE, b ROW<c TIMESTAMP(3), d BOOLEAN, e BYTES>>)"
        ),
    ],
    "ROW<`a` ARRAY<INT>, `b` MAP<STRING, DATE>>": [
        "CAST(ROW(ARRAY[1], MAP['k', DATE '2020-01-31']) AS ROW<a ARRAY<INT>, b MAP<STRING, DATE>>)"
    ],
}
"""For each type, expressions of it."""


def expressions() -> list[tuple[str, str]]:
    """Return (type, expression), each expression cast to its type."""
    return [
        (kind, f"CAST({_unfolded(kind, text)} AS {kind})" if not text.startswith("CAST(NULL") else text)
        for kind, texts in TEXT_OF.items()
        for text in texts
    ]


def _unfolded(kind: str, text: str) -> str:
    """Keep Flink's planner from evaluating floating point itself: its literals have 7 digits, and no -0.0."""
    return re.sub("('[^']+')", r"IF(RAND() < 2, \1, '')", text) if kind in ("FLOAT", "DOUBLE") else text
