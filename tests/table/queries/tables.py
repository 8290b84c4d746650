"""The tables that queries are asked about, as texts, and what becomes of their results; read by Flink's Python, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TABLES: dict[str, tuple[str, list[tuple[str | None, ...]]]] = {
    "t": (
        "a INT, b BIGINT, c STRING, d DECIMAL(10, 2), e DOUBLE, f BOOLEAN",
        [
            ("1", "10", "x", "1.50", "0.5", "true"),
            ("2", "20", "y", "2.25", "1.5", "false"),
            ("1", "30", "x", None, "2.0", "true"),
            (None, "5", "z", "9.99", None, None),
            ("2", "20", None, "2.25", "1.5", "true"),
            ("3", None, "x", "0.01", "-0.5", "false"),
            ("1", "7", "w", "100.00", "4.25", None),
            (None, "5", "z", "9.99", "3.0", "true"),
            ("4", "-4", "y", "-7.70", "0.0", "false"),
            ("2", "21", "x", "2.26", "1.25", "true"),
            ("3", "30", "x", "0.02", "8.0", "true"),
            ("1", "10", "v", "1.50", "0.5", "false"),
        ],
    ),
    "bid": (
        "k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        [
            ("1", "10", "2024-01-01 00:00:01.000"),
            ("2", "20", "2024-01-01 00:00:02.500"),
            ("1", "5", "2024-01-01 00:00:04.000"),
            ("3", "1", "2024-01-01 00:00:03.000"),
            ("1", "7", "2024-01-01 00:00:11.000"),
            ("2", "3", "2024-01-01 00:00:09.000"),
            ("2", "8", "2024-01-01 00:00:13.999"),
            ("1", "2", "2024-01-01 00:00:40.000"),
            ("1", "99", "2024-01-01 00:00:05.000"),
            ("3", "4", "2024-01-01 00:00:41.000"),
            ("2", "6", "2024-01-01 00:01:15.000"),
            ("1", "9", "2024-01-01 00:01:16.000"),
        ],
    ),
}


def queries() -> list[str]:
    """Return the queries, one a line."""
    text = (Path(__file__).parent / "queries.sql").read_text()
    return [line for line in text.splitlines() if line and not line.startswith("--")]


def materialized(changes: Iterable[tuple[str, str]]) -> list[str]:
    """Return the rows that are there after all changes, sorted; a change is a row as text and its kind (+I, ...)."""
    counts = Counter[str]()
    for row, kind in changes:
        counts[row] += 1 if kind[0] == "+" else -1
    assert all(count >= 0 for count in counts.values()), counts
    return sorted(counts.elements())
