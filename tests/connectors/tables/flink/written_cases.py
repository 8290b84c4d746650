"""What Flink is asked to write into files."""

from __future__ import annotations

WRITTEN = {
    "INT": ["1", "-1", "CAST(NULL AS INT)"],
    "BIGINT": ["9223372036854775807"],
    "DOUBLE": [
        "CAST(1 AS DOUBLE)",
        "1e10",
        "CAST('NaN' AS DOUBLE)",
        "1.5e-7",
        "CAST('-0.0' AS DOUBLE)",
        "123456789.125e0",
    ],
    "FLOAT": ["CAST(1.1 AS FLOAT)", "CAST(1e10 AS FLOAT)"],
    "DECIMAL(10, 2)": ["1.50", "0", "12345678.90", "CAST(NULL AS DECIMAL(10, 2))"],
    "DECIMAL(20, 10)": ["0.0000000001", "100"],
    "STRING": [
        "'a'",
        "''",
        "'a,b'",
        "'a\"b'",
        "'a b'",
        "' a'",
        "'é\u4e2d'",
        "'#a'",
        "'a;b'",
        "'\\'",
        "'null'",
        "'abcdefghijklmnopqrstuvwxyz0123'",
        "'a' || CHR(10) || 'b'",
        "'a' || CHR(13)",
        "'a' || CHR(9) || 'b'",
        "CAST(NULL AS STRING)",
        "'1'",
        "'+1'",
        "'a/b'",
        "CHR(1)",
    ],
    "BOOLEAN": ["TRUE", "FALSE"],
    "DATE": ["DATE '2020-01-02'", "DATE '0001-01-01'"],
    "TIME": ["TIME '03:04:05'"],
    "TIME(3)": ["TIME '03:04:05.120'"],
    "TIMESTAMP(0)": ["TIMESTAMP '2020-01-02 03:04:05'"],
    "TIMESTAMP(3)": [
        "TIMESTAMP '2020-01-02 03:04:05'",
        "TIMESTAMP '2020-01-02 03:04:05.120'",
        "TIMESTAMP '2020-01-02 00:00:00'",
    ],
    "TIMESTAMP(9)": ["TIMESTAMP '2020-01-02 03:04:05.123456789'"],
    "TIMESTAMP_LTZ(3)": ["TO_TIMESTAMP_LTZ(1577934245120, 3)"],
    "BYTES": ["x'61'", "x'00ff'"],
    "ARRAY<INT>": ["ARRAY[1, 2]", "ARRAY[1, CAST(NULL AS INT)]"],
    "ARRAY<STRING>": ["ARRAY['a', 'b;c']", "ARRAY['']"],
    "MAP<STRING, INT>": ["MAP['a', 1]", "MAP['a', CAST(NULL AS INT)]"],
    "ROW<a INT, b STRING>": ["ROW(1, 'x')", "ROW(1, CAST(NULL AS STRING))"],
}
"""By type, expressions of which a row each is written, with `z` in a second column."""

WRITTEN_OPTIONS = {
    "csv": [
        {},
        {"csv.null-literal": "null"},
        {"csv.disable-quote-character": "true"},
        {"csv.field-delimiter": ";"},
        {"csv.quote-character": "'"},
        {"csv.write-bigdecimal-in-scientific-notation": "false"},
    ],
    "json": [
        {},
        {"json.timestamp-format.standard": "ISO-8601"},
        {"json.encode.ignore-null-fields": "true"},
        {"json.encode.decimal-as-plain-number": "true"},
    ],
}
