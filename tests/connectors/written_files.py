"""The rows in the files that Flink has written (tables/flink/write_files.py)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

COLUMNS = (
    "id INT NOT NULL, b BOOLEAN, t TINYINT, l BIGINT, f FLOAT, d DOUBLE, c STRING, y BYTES, ts TIMESTAMP(3), da DATE, "
    "de DECIMAL(10, 2), r ROW<x INT, y STRING>, a ARRAY<STRING>, m MAP<STRING, BIGINT>"
)
FIRST = {
    "id": 1,
    "b": True,
    "t": -3,
    "l": 9223372036854775807,
    "f": 1.5,
    "d": -2.25,
    "c": "aé",
    "y": b"\x00\xff",
    "ts": dt.datetime(2020, 1, 2, 3, 4, 5, 123000),
    "da": dt.date(1969, 1, 1),
    "de": Decimal("12345678.91"),
    "r": {"x": 7, "y": "z"},
    "a": ["p", ""],
    "m": [("k", 5)],
}
SECOND = {**dict.fromkeys(FIRST), "id": 2}
