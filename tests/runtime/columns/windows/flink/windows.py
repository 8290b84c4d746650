"""Tables with rows in order, late ones among them, and queries with windows over them."""

from __future__ import annotations

from itertools import product

EVENTS = """
a,2020-01-01 00:00:01.000,1,1.50
b,2020-01-01 00:00:02.000,5,0.25
a,2020-01-01 00:00:03.000,,2.00
a,2020-01-01 00:00:01.000,2,3.00
,2020-01-01 00:00:04.500,7,1.00
a,2020-01-01 00:00:12.000,4,
b,2020-01-01 00:00:09.999,6,9.99
a,2020-01-01 00:00:06.000,8,0.10
a,2020-01-01 00:00:02.000,100,100.00
b,2020-01-01 00:00:30.000,9,4.00
a,2020-01-01 00:00:25.000,3,5.00
b,2020-01-01 00:00:24.000,10,6.00
a,2020-01-01 00:00:27.000,11,7.00
a,2020-01-01 00:00:27.000,12,8.00
c,2020-01-01 00:01:00.000,13,9.00
b,2020-01-01 00:00:51.000,14,10.00
b,2020-01-01 00:00:56.000,-15,11.00
c,2020-01-01 00:01:10.000,16,12.00
a,2020-01-01 00:01:09.000,17,13.00
"""
CLOCKS = """
a,1615705200000,1
a,1615708800000,2
a,1615714200000,3
a,1615716000000,4
a,1615717800000,5
b,1615719600000,6
b,1636268400000,7
a,1636270200000,8
a,1636273800000,9
a,1636277400000,10
b,1636279200000,11
a,1636281000000,12
a,1636290000000,13
"""
"""Points on the time line around the hours in which the clocks of Los Angeles change."""

TABLES = {
    "events": (
        EVENTS,
        "k STRING, ts TIMESTAMP(3), v BIGINT, d DECIMAL(10, 2), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    ),
    "clocks": (
        CLOCKS,
        "k STRING, ms BIGINT, v BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE",
    ),
}

_SIZES = {
    "TUMBLE": ["INTERVAL '10' SECOND", "INTERVAL '10' SECOND, INTERVAL '3' SECOND"],
    "HOP": [
        "INTERVAL '5' SECOND, INTERVAL '10' SECOND",
        "INTERVAL '2' SECOND, INTERVAL '10' SECOND",
        "INTERVAL '5' SECOND, INTERVAL '15' SECOND, INTERVAL '1' SECOND",
    ],
    "CUMULATE": [
        "INTERVAL '5' SECOND, INTERVAL '20' SECOND",
        "INTERVAL '10' SECOND, INTERVAL '60' SECOND",
    ],
}
_AGGREGATES = [
    "COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v), AVG(v)",
    "SUM(d), AVG(d), MAX(d), COUNT(*) FILTER (WHERE v > 5)",
]
_WINDOWS = [f"{name}(TABLE events, DESCRIPTOR(ts), {sizes})" for name in _SIZES for sizes in _SIZES[name]]
_SESSIONS = [
    "SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
    "SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '9' SECOND)",
    "SESSION(TABLE events, DESCRIPTOR(ts), INTERVAL '4' SECOND)",
]
_GROUPED = "GROUP BY k, window_start, window_end"
_FRAMES = [
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW",
]
_LEGACY = [
    ("TUMBLE", "INTERVAL '10' SECOND"),
    ("HOP", "INTERVAL '5' SECOND, INTERVAL '10' SECOND"),
    ("HOP", "INTERVAL '4' SECOND, INTERVAL '10' SECOND"),
    ("HOP", "INTERVAL '10' SECOND, INTERVAL '4' SECOND"),
    ("SESSION", "INTERVAL '5' SECOND"),
]


def _legacy(name: str, sizes: str, keys: str) -> str:
    window = f"{name}(ts, {sizes})"
    shown = ", ".join(f"{name}_{what}(ts, {sizes})" for what in ("START", "END", "ROWTIME"))
    columns = f"{keys}, " if keys else ""
    return f"SELECT {columns}COUNT(*), SUM(v), MAX(v), {shown} FROM events GROUP BY {columns}{window}"


QUERIES = [
    *(
        f"SELECT k, window_start, window_end, {aggregates} FROM {window} {_GROUPED}"
        for window, aggregates in product([*_WINDOWS, *_SESSIONS[:2]], _AGGREGATES)
    ),
    *(
        f"SELECT window_start, window_end, COUNT(*), SUM(v) FROM {window} GROUP BY window_start, window_end"
        for window in (*_WINDOWS[::2], _SESSIONS[2])
    ),
    *(f"SELECT * FROM {window}" for window in (*_WINDOWS[1::2], *_SESSIONS)),
    *(
        f"SELECT window_end, window_time, k, COUNT(*) FROM {window} GROUP BY k, window_start, window_end, window_time"
        for window in (_WINDOWS[0], _WINDOWS[2], _WINDOWS[5], _SESSIONS[0])
    ),
    *(
        f"WITH small AS (SELECT window_time AS wt, k, COUNT(*) AS n, SUM(v) AS s FROM {window} "
        "GROUP BY k, window_start, window_end, window_time) SELECT window_start, window_end, SUM(n), MAX(s) FROM "
        "TUMBLE(TABLE small, DESCRIPTOR(wt), INTERVAL '20' SECOND) GROUP BY window_start, window_end"
        for window in (_WINDOWS[0], _WINDOWS[2])
    ),
    f"SELECT k, window_end, COUNT(*) FROM {_WINDOWS[0]} {_GROUPED} HAVING COUNT(*) > 1",
    f"SELECT k, window_end, MAX(k), MIN(k) FROM {_WINDOWS[2]} {_GROUPED}",
    f"SELECT k, window_end, COUNT(*) FROM {_WINDOWS[0]} GROUP BY window_start, window_end, GROUPING SETS ((k), ())",
    *(_legacy(name, sizes, keys) for (name, sizes), keys in product(_LEGACY, ("k", ""))),
    *(
        f"SELECT k, ts, v, COUNT(*) OVER w, COUNT(v) OVER w, SUM(v) OVER w, MIN(v) OVER w, MAX(v) OVER w, AVG(v) OVER w"
        f" FROM events WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
        for frame in _FRAMES
    ),
    *(
        f"SELECT k, ts, SUM(d) OVER w, AVG(d) OVER w, FIRST_VALUE(v) OVER w, LAST_VALUE(v) OVER w "
        f"FROM events WINDOW w AS (PARTITION BY k ORDER BY ts {frame})"
        for frame in _FRAMES
    ),
    "SELECT k, ts, SUM(v) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM events",
    "SELECT k, ts, COUNT(*) OVER (ORDER BY ts) FROM events",
    *(
        f"SELECT k, ts, v, {call} OVER (PARTITION BY k ORDER BY ts) FROM events"
        for call in (
            "ROW_NUMBER()",
            "RANK()",
            "DENSE_RANK()",
            "LAG(v)",
            "LAG(v, 2)",
            "LAG(v, 2, CAST(-1 AS BIGINT))",
        )
    ),
    *(
        f"SELECT k, window_start, window_end, CAST(window_time AS STRING), COUNT(*), SUM(v) FROM {window} "
        f"{_GROUPED}, window_time"
        for window in (
            "TUMBLE(TABLE clocks, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
            "TUMBLE(TABLE clocks, DESCRIPTOR(ts), INTERVAL '1' DAY)",
            "HOP(TABLE clocks, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '1' HOUR)",
            "CUMULATE(TABLE clocks, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
            "SESSION(TABLE clocks PARTITION BY k, DESCRIPTOR(ts), INTERVAL '40' MINUTE)",
        )
    ),
]
"""What is asked; the time zone is that of Los Angeles."""
