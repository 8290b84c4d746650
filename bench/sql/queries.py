"""The queries: the same statements for every system.

The input is a sequence of numbers, from which keys, values and times follow, so that every system has the same rows,
and each subtask sees event time grow at one pace. This module is imported by all systems' programs: it uses the
standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["generated", "files"]

WATERMARK_SECONDS: Final = 1


@dataclass(frozen=True)
class Query:
    """One measured query over `source`, whose result goes to `sink`.

    `keys` is the number of different keys, `columns` are those of the sink. `rows` are those of two runs in one
    process, after one that is not counted. The rate is that of the rows which the second run has more, so that the
    start of a job does not count. `aim` is how many times as fast as Flink it has to be.
    """

    name: str
    title: str
    keys: int
    select: str
    columns: str
    rows: tuple[int, int]
    aim: int
    kind: Kind = "generated"
    key: str = ""
    """The expression of the key; by default all keys come in turn."""

    per_second: int = 100_000
    """Rows in one second of event time."""


_GROUP: Final = "SELECT k, COUNT(*), SUM(v) FROM source GROUP BY k"
_GROUP_COLUMNS: Final = "k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED"
_WINDOW_COLUMNS: Final = "k BIGINT, window_end TIMESTAMP(3), n BIGINT, s BIGINT"


def _window(function: str) -> str:
    return (
        f"SELECT k, window_end, COUNT(*), SUM(v) FROM TABLE({function}) GROUP BY k, window_start, window_end"
    )


QUERIES: Final = (
    Query("group-1k", "GROUP BY, 1,000 keys", 1000, _GROUP, _GROUP_COLUMNS, (2_000_000, 12_000_000), 8),
    Query(
        "group-1m", "GROUP BY, 1,000,000 keys", 1_000_000, _GROUP, _GROUP_COLUMNS, (2_000_000, 8_000_000), 8
    ),
    Query(
        "group-10m",
        "GROUP BY, 10,000,000 keys",
        10_000_000,
        _GROUP,
        _GROUP_COLUMNS,
        (4_000_000, 14_000_000),
        8,
    ),
    Query(
        "tumble",
        "TUMBLE, 1,000 keys",
        1000,
        _window("TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '1' SECOND)"),
        _WINDOW_COLUMNS,
        (2_000_000, 10_000_000),
        4,
    ),
    Query(
        "hop",
        "HOP, 6 slices, 1,000 keys",
        1000,
        _window("HOP(TABLE source, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '6' SECOND)"),
        _WINDOW_COLUMNS,
        (2_000_000, 10_000_000),
        4,
    ),
    Query(
        "session",
        "SESSION, 1,000 keys",
        1000,
        _window("SESSION(TABLE source PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.5' SECOND)"),
        _WINDOW_COLUMNS,
        (1_000_000, 4_000_000),
        4,
        key="MOD(id * 7919, 500) + 500 * MOD(id / 10000, 2)",
        per_second=10_000,
    ),
    Query(
        "over",
        "OVER, 1,000 keys",
        1000,
        "SELECT k, ts, COUNT(*) OVER w, SUM(v) OVER w FROM source "
        "WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW)",
        "k BIGINT, ts TIMESTAMP(3), n BIGINT, s BIGINT",
        (1_000_000, 4_000_000),
        4,
    ),
    Query(
        "files",
        "JSON lines through a filter to Parquet",
        1000,
        "SELECT id, UPPER(name), price * 2, ts FROM source WHERE price > 100 AND name <> 'name-7'",
        "id BIGINT, name STRING, price DOUBLE, ts TIMESTAMP(3)",
        (500_000, 2_500_000),
        3,
        "files",
    ),
)

BY_NAME: Final = {query.name: query for query in QUERIES}


def statements(query: Query, rows: int, folder: str) -> list[str]:
    """Return the statements before the INSERT: the tables for so many rows, of files below a folder."""
    dropped = ["DROP TABLE IF EXISTS source", "DROP TABLE IF EXISTS sink"]
    return [*dropped, *(_files(query, folder) if query.kind == "files" else _generated(query, rows))]


def insert(query: Query) -> str:
    """Return the statement that is measured."""
    return f"INSERT INTO sink {query.select}"


def _generated(query: Query, rows: int) -> list[str]:
    return [
        f"""CREATE TABLE source (
            id BIGINT,
            k AS {query.key or f"MOD(id * 7919, {query.keys})"},
            v AS MOD(id, 100),
            ts AS CAST(TO_TIMESTAMP_LTZ(id / {query.per_second // 1000}, 3) AS TIMESTAMP(3)),
            WATERMARK FOR ts AS ts - INTERVAL '{WATERMARK_SECONDS}' SECOND
        ) WITH (
            'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '0', 'fields.id.end' = '{rows - 1}'
        )""",
        f"CREATE TABLE sink ({query.columns}) WITH ('connector' = 'blackhole')",
    ]


def _files(query: Query, folder: str) -> list[str]:
    return [
        f"""CREATE TABLE source (
            id BIGINT, name STRING, price DOUBLE, quantity INT, ts TIMESTAMP(3), note STRING
        ) WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json')""",
        f"""CREATE TABLE sink ({query.columns})
        WITH ('connector' = 'filesystem', 'path' = '{folder}/out', 'format' = 'parquet')""",
    ]


def write_lines(rows: int, folder: str) -> int:
    """Write the JSON lines of the file query, in four files; return how many of them pass its filter."""
    import json
    from pathlib import Path

    into = Path(folder) / "in"
    into.mkdir(parents=True)
    passed = 0
    for number in range(4):
        with (into / f"part-{number}.json").open("w") as file:
            for index in range(number, rows, 4):
                price, name = index % 1000 / 2, f"name-{index % 100}"
                passed += price > 100 and name != "name-7"
                second = index // 1000 % 60
                row = {
                    "id": index,
                    "name": name,
                    "price": price,
                    "quantity": index % 17,
                    "ts": f"2026-01-01 00:00:{second:02}.{index % 1000:03}",
                    "note": "some words that nobody reads" * (index % 3),
                }
                file.write(json.dumps(row) + "\n")
    return passed
