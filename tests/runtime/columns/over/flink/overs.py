"""A table with ties, NULLs and rows out of order, and queries with OVER over it, by mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

Mode = Literal["streaming", "batch"]

COLUMNS: Final = """
id INT, k STRING, n INT, b BIGINT, d DECIMAL(10, 2), f DOUBLE, s STRING, flag BOOLEAN, `day` DATE, a ARRAY<INT>,
ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
"""

_CELLS: Final = """
1 x 3 30 1.50 0.5 red true 2024-01-01 1
2 y 5 50 2.25 1.5 blue false 2024-02-29 2
3 x - 10 - - - - - 3
4 x 3 20 1.50 -2.5 red true 2024-01-03 3
5 - 7 70 9.99 4.0 green - 2024-01-01 4
6 y 1 10 0.01 2.0 blue true - 6
7 x 8 -5 8.00 1.25 blue false 2024-03-01 5
8 x 2 20 -7.75 3.0 - true 2024-01-01 8
9 y 5 - 2.25 - red - 2024-02-29 8
10 - 7 71 - 0.25 - false 2024-05-05 9
11 x 3 30 1.50 0.5 red true 2024-01-01 12
12 y 9 90 100.00 10.0 white true 2024-06-06 12
13 x 11 10 11.11 -1.0 green false 2024-01-04 12
14 z 4 40 4.40 4.5 red true 2024-01-01 13
15 x 2 15 2.00 2.5 white - 2024-01-03 10
16 y 4 25 3.25 0.75 green false - 20
17 x 6 60 6.60 6.0 blue true 2024-02-01 21
18 z -4 40 -4.40 -4.5 - false 2024-01-01 26
19 - 8 72 0.50 0.125 red true 2024-05-06 27
20 x - - - - white - - 30
21 y 5 51 2.25 1.5 blue false 2024-02-29 31
22 x 3 31 1.50 0.5 red true 2024-01-01 31
"""
_NAMES: Final = ("id", "k", "n", "b", "d", "f", "s", "flag", "day")


def rows() -> list[str]:
    """Return the table as lines of JSON."""
    return [_line(cells.split()) for cells in _CELLS.strip().splitlines()]


def _line(cells: list[str]) -> str:
    *given, second = cells
    plain = ("id", "n", "b", "d", "f", "flag")
    parts = [
        f'"{name}": {"null" if cell == "-" else cell if name in plain else _quoted(cell)}'
        for name, cell in zip(_NAMES, given, strict=True)
    ]
    array = "null" if given[2] == "-" else f"[{given[2]}, {given[0]}]"
    minute, left = divmod(int(second), 60)
    return "{" + ", ".join(parts) + f', "a": {array}, "ts": "2024-01-01 00:{minute:02}:{left:02}"' + "}"


def _quoted(cell: str) -> str:
    return f'"{cell}"'


_BY_TIME: Final = "PARTITION BY k ORDER BY ts"
_FRAMES: Final = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '6' SECOND PRECEDING AND CURRENT ROW",
)
_CALLS: Final = (
    *("COUNT(DISTINCT n)", "SUM(DISTINCT n)", "AVG(DISTINCT n)", "SUM(DISTINCT d)", "COUNT(DISTINCT s)"),
    *("SUM(DISTINCT f)", "MIN(DISTINCT n)", "COUNT(DISTINCT flag)", "COUNT(DISTINCT n, s)"),
    *(
        f"{name}({column})"
        for name in ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
        for column in "nf"
    ),
    *("STDDEV(d)", "VARIANCE(b)", "SUM(f)", "AVG(f)", "AVG(d)", "MAX(f)"),
    *("LISTAGG(s)", "LISTAGG(s, '; ')", "LISTAGG(DISTINCT s)"),
    *("ARRAY_AGG(n)", "ARRAY_AGG(s)", "ARRAY_AGG(DISTINCT n)", "COLLECT(n)", "COLLECT(DISTINCT s)"),
    *("FIRST_VALUE(n)", "LAST_VALUE(n)", "FIRST_VALUE(a)", "LAST_VALUE(a)", "FIRST_VALUE(DISTINCT n)"),
    *("FIRST_VALUE(s)", "LAST_VALUE(d)", "MIN(`day`)", "MAX(s)", "MIN(flag)", "MAX(ts)"),
    *("COUNT(a)", "ARRAY_AGG(a)", "APPROX_COUNT_DISTINCT(n)"),
)
_REFUSED: Final = ("JSON_ARRAYAGG(s)", "JSON_OBJECTAGG(KEY s VALUE n)")
_OFFSETS: Final = (
    *("LAG(n)", "LAG(n, 2)", "LAG(n, 2, -1)", "LAG(s, 1, 'none')", "LAG(a)", "LAG(n, 0)", "LAG(n, id)"),
    *("LEAD(n)", "LEAD(n, 2, -1)", "LEAD(s)", "LEAD(n, id)"),
)
_VARIANCES: Final = (
    *("VAR_POP(CAST(n * 9 AS TINYINT))", "VAR_SAMP(CAST(n AS SMALLINT))", "VAR_SAMP(n * 30000)"),
    *("STDDEV_POP(n * 30000)", "VAR_POP(b * 300000000)", "STDDEV_SAMP(CAST(f AS FLOAT))", "VAR_SAMP(id)"),
    *("VAR_POP(d)", "VAR_SAMP(d)", "STDDEV_POP(d)", "VAR_SAMP(CAST(d AS DECIMAL(38, 10)))"),
    *("VAR_POP(d * 10000000000)", "VAR_POP(f + 1000000)", "STDDEV(s)"),
)
_AVERAGES: Final = (
    *("AVG(n * 500000000)", "AVG(b)", "AVG(CAST(n * 9 AS TINYINT))", "AVG(CAST(d AS DECIMAL(38, 10)))"),
    *("AVG(CAST(f AS FLOAT))", "APPROX_COUNT_DISTINCT(s)", "APPROX_COUNT_DISTINCT(f)"),
)
_OF_DIFFERENT: Final = ("VAR_POP(DISTINCT n)", "STDDEV_SAMP(DISTINCT d)", "AVG(DISTINCT d)")
_BY_COLUMNS: Final = (
    *("LAG(n, MOD(id, 3))", "LAG(s, MOD(id, 4), 'none')", "LAG(s, MOD(id, 3), k)", "LAG(id, id / 4)"),
    *("LAG(a, CAST(MOD(id, 3) AS TINYINT))", "LAG(n, MOD(b, 3))", "LAG(s, 1, k)"),
)
_FAILING: Final = ("LAG(id, n)", "LAG(n, id - 5)", "LAG(n, -1)", "LAG(n, CAST(NULL AS INT))")
_OF_VALUES: Final = (
    *("SUM(b)", "MAX(s)", "COUNT(*)", "ROW_NUMBER()", "RANK()", "LAG(b)", "COUNT(DISTINCT b)"),
    *("FIRST_VALUE(b)", "LISTAGG(s)", "ARRAY_AGG(b)", "AVG(n)"),
)
_BY_VALUES: Final = (
    *("n DESC", "n, id", "n NULLS LAST", "s", "a", f"id {_FRAMES[0]}"),
    *("n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "n RANGE BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
_RANKS: Final = (
    "ROW_NUMBER()",
    "RANK()",
    "DENSE_RANK()",
    "NTILE(2)",
    "NTILE(3)",
    "CUME_DIST()",
    "PERCENT_RANK()",
)
_ORDERS: Final = (
    *(
        "n",
        "n DESC",
        "s",
        "s DESC NULLS LAST",
        "n NULLS LAST",
        "n DESC NULLS FIRST",
        "d DESC, id",
        "f, s DESC",
    ),
    *("flag, `day` DESC", "k", "n + id", "ts DESC"),
)
_NUMBER_FRAMES: Final = (
    "n RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
    "n DESC RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
    "n NULLS LAST RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "d RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW",
    "f RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW",
    "f RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "b DESC RANGE BETWEEN 10 PRECEDING AND CURRENT ROW",
    "ts RANGE BETWEEN INTERVAL '6' SECOND PRECEDING AND CURRENT ROW",
    "ts DESC RANGE BETWEEN INTERVAL '6' SECOND PRECEDING AND CURRENT ROW",
    "`day` RANGE BETWEEN INTERVAL '2' DAY PRECEDING AND CURRENT ROW",
    "n RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
    "n ROWS BETWEEN CURRENT ROW AND CURRENT ROW",
    "n, id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "n, id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "n RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "n RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "n, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "n, id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "n, id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "n RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "n, id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "n, id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "s RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
)


def _over(call: str, window: str) -> str:
    return f"{call} OVER ({window})"


def _in_streams() -> Iterator[tuple[str, ...]]:
    for frame in _FRAMES:
        yield tuple(_over(call, f"{_BY_TIME} {frame}") for call in _CALLS)
    yield tuple(_over(call, _BY_TIME) for call in (*_RANKS, *_OFFSETS, *_REFUSED))
    for window in ("PARTITION BY k ORDER BY n", "PARTITION BY k", f"{_BY_TIME}, id", f"{_BY_TIME} DESC"):
        yield (_over("SUM(n)", window),)
    yield (_over("SUM(n)", _BY_TIME), _over("COUNT(*)", f"{_BY_TIME} {_FRAMES[2]}"))
    for frame in (_FRAMES[0], _FRAMES[3]):
        calls = (*_VARIANCES, *_AVERAGES, *_OF_DIFFERENT)
        yield tuple(_over(call, f"{_BY_TIME} {frame}") for call in calls)
    yield tuple(_over(call, _BY_TIME) for call in _BY_COLUMNS)
    for call in _FAILING:
        yield (_over(call, _BY_TIME),)
    for frame in ("", f" {_FRAMES[0]}"):
        for call in _OF_VALUES:
            yield (_over(call, f"PARTITION BY k ORDER BY n{frame}"),)
    for order in _BY_VALUES:
        yield (_over("SUM(b)", f"PARTITION BY k ORDER BY {order}"),)
    yield (_over("SUM(b)", "ORDER BY n"),)


def _in_batch() -> Iterator[tuple[str, ...]]:
    for order in _ORDERS:
        calls = ("RANK()", "DENSE_RANK()", "CUME_DIST()", "PERCENT_RANK()", "SUM(b)", "MIN(b)")
        yield tuple(_over(call, f"PARTITION BY k ORDER BY {order}") for call in calls)
    for order in _ORDERS[1::2]:
        calls = ("ROW_NUMBER()", "NTILE(2)", "NTILE(3)", "LAG(b)", "LEAD(b)")
        yield tuple(_over(call, f"PARTITION BY k ORDER BY {order}, id") for call in calls)
    for order in _NUMBER_FRAMES:
        yield tuple(
            _over(call, f"PARTITION BY k ORDER BY {order}") for call in ("SUM(b)", "COUNT(*)", "MAX(s)")
        )
    plain = [call for call in _CALLS if "DISTINCT " not in call]
    yield tuple(_over(call, f"{_BY_TIME} {_FRAMES[1]}") for call in plain)
    yield tuple(_over(call, f"{_BY_TIME}, id {_FRAMES[2]}") for call in plain)
    yield tuple(_over(call, f"{_BY_TIME} {_FRAMES[1]}") for call in ("COUNT(DISTINCT n)", *_REFUSED))
    yield tuple(_over(call, f"{_BY_TIME}, id") for call in _OFFSETS)
    yield tuple(_over(call, "") for call in ("SUM(n)", "COUNT(*)", "MAX(s)"))
    yield tuple(_over(call, "PARTITION BY k") for call in ("SUM(n)", "COUNT(*)", "RANK()", "ROW_NUMBER()"))
    yield tuple(_over(call, "PARTITION BY k, flag") for call in ("MAX(n)", "AVG(f)"))
    yield tuple(_over(call, "ORDER BY id") for call in ("ROW_NUMBER()", "LAG(n, 1, 0)"))
    yield (
        _over("SUM(n)", "PARTITION BY k ORDER BY id"),
        _over("COUNT(*)", f"PARTITION BY k ORDER BY id {_FRAMES[2]}"),
        _over("LEAD(n)", "PARTITION BY k ORDER BY id"),
        _over("ROW_NUMBER()", "PARTITION BY k ORDER BY id DESC"),
    )
    yield tuple(_over(call, f"{_BY_TIME}, id {_FRAMES[0]}") for call in (*_VARIANCES, *_AVERAGES))


QUERIES: Final[tuple[tuple[Mode, tuple[str, ...]], ...]] = (
    *(("batch", calls) for calls in _in_batch()),
    *(("streaming", calls) for calls in _in_streams()),
)
"""The columns of each query, besides the column id."""
