"""The tables that the queries read, and the queries; read by Flink's Python, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent

_EVENT: Final = "id INT, k INT, name STRING, v INT, w DOUBLE, ts TIMESTAMP(3)"

TABLES: Final = {
    "orders": (
        "id BIGINT, customer STRING, product STRING, quantity INT, price DECIMAL(10, 2), weight DOUBLE, rush BOOLEAN, "
        "`day` DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    ),
    "t": "a INT, b BIGINT, c STRING, d DECIMAL(10, 2), e DOUBLE, f BOOLEAN",
    "bid": "k INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "tariff": (
        "product STRING, rate DECIMAL(4, 2), note STRING, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (product) NOT ENFORCED"
    ),
    "ticker": (
        "id INT, symbol STRING, price INT, tax INT, note STRING, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    ),
    "event": f"{_EVENT}, WATERMARK FOR ts AS ts - INTERVAL '4' SECOND",
    "event_ltz": (
        f"{_EVENT}, ltz AS CAST(ts AS TIMESTAMP_LTZ(3)), WATERMARK FOR ltz AS ltz - INTERVAL '4' SECOND"
    ),
    "tariff_log": (
        "product STRING, rate DECIMAL(4, 2), note STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    ),
}
"""The columns of each table, whose rows are lines of a JSON file of its name."""

FILES: Final = {"event_ltz": "event"}
"""The tables whose file has another name."""

VIEWS: Final = {
    "latest_tariff": (
        "SELECT product, rate, note, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts DESC) AS n "
        "FROM tariff_log) WHERE n = 1"
    ),
    "first_bid": (
        "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, MOD(v, 3) ORDER BY ts) AS n FROM bid) "
        "WHERE n = 1"
    ),
    "first_tariff": (
        "SELECT product, rate, note, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts) AS n "
        "FROM tariff_log) WHERE n = 1"
    ),
    "earliest_tariff": (
        "SELECT product, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY PROCTIME()) AS n "
        "FROM tariff_log) WHERE n = 1"
    ),
    "window_rate": (
        "SELECT product, MAX(rate) AS rate, window_time AS ts FROM TABLE(TUMBLE(TABLE tariff_log, DESCRIPTOR(ts), "
        "INTERVAL '20' SECOND)) GROUP BY product, window_start, window_end, window_time"
    ),
    "latest_window_rate": (
        "SELECT product, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts DESC) AS n FROM "
        "window_rate) WHERE n = 1"
    ),
    "window_rate_key": (
        "SELECT product, window_start, window_end, MAX(rate) AS rate, window_time AS ts FROM TABLE(TUMBLE(TABLE "
        "tariff_log, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY product, window_start, window_end, window_time"
    ),
    "last_in_window": (
        "SELECT product, rate, ts, window_start, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product, "
        "window_start, window_end ORDER BY ts DESC) AS n FROM TABLE(TUMBLE(TABLE tariff_log, DESCRIPTOR(ts), INTERVAL "
        "'1' MINUTE))) WHERE n = 1"
    ),
    "latest_of_last": (
        "SELECT product, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts DESC) AS r FROM "
        "last_in_window) WHERE r = 1"
    ),
    "event_now": "SELECT *, PROCTIME() AS seen FROM event",
    "first_low_tariff": "SELECT product, rate, ts FROM first_tariff WHERE rate < 1.5",
}
"""Queries that have a name, for window table functions and FOR SYSTEM_TIME AS OF take tables and views only."""


def definitions(directory: Path = HERE) -> Iterator[str]:
    """Yield the statement that creates each table, of files in a directory, and each view."""
    for name, columns in TABLES.items():
        yield (
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'format' = 'json', "
            f"'path' = '{directory / FILES.get(name, name)}.json', 'json.timestamp-format.standard' = 'SQL')"
        )
    for name, query in VIEWS.items():
        yield f"CREATE VIEW {name} AS {query}"


def queries(file: str = "queries.sql") -> Iterator[tuple[str, str]]:
    """Yield subjects and queries of a file, each query in one line."""
    subject, lines = "", []
    for line in (HERE / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("--"):
            subject = line.rpartition("subject: ")[2]
            continue
        lines.append(line.strip())
        if line.endswith(";"):
            yield subject, " ".join(filter(None, lines)).removesuffix(";")
            lines = []
