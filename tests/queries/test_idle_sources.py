"""A split from which nothing comes holds windows back, unless it counts as idle after a while."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from firesteel.common.errors import UnsupportedError
from tests.queries.arriving import Arrival, Query, Table

COLUMNS = "k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
QUERY = """SELECT k, window_start, SUM(v) FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end"""
BUSY = [
    *(Arrival(100, "a", 1, 1_000), Arrival(200, "a", 2, 9_000)),
    *(Arrival(300, "a", 4, 12_000), Arrival(20_000, "a", 8, 33_000), Arrival(38_000, "a", 32, 35_000)),
    Arrival(41_000, "a", 64, 36_000),
]
SILENT = [Arrival(40_000, "b", 16, 34_000)]
FIRST, SECOND = ("a", "1970-01-01 00:00:00.000", "3"), ("a", "1970-01-01 00:00:10.000", "4")
LAST = Counter(
    [FIRST, SECOND, ("a", "1970-01-01 00:00:30.000", "104"), ("b", "1970-01-01 00:00:30.000", "16")]
)
WAIT_MS = 60
"""How much later than it could a job sees what time it is."""


def visible_at(time: int, commits: list[tuple[int, Table]]) -> Table:
    """Return what is visible at a time."""
    return next((rows for at, rows in reversed(commits) if at <= time), Table())


SETTINGS: list[tuple[dict[str, str], str]] = [
    ({"table.exec.source.idle-timeout": "5 s"}, ""),
    ({}, ", 'scan.watermark.idle-timeout' = '5 s'"),
    ({"table.exec.source.idle-timeout": "1 h"}, ", 'scan.watermark.idle-timeout' = '5 s'"),
]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize(("options", "table_options"), SETTINGS)
def test_an_idle_split_does_not_hold_windows_back(
    tmp_path: Path, options: dict[str, str], table_options: str, parallelism: int
) -> None:
    """A third subtask would have nothing to read: its input has ended, which counts while all others are idle."""
    query = Query(
        {"busy": BUSY, "silent": SILENT}, COLUMNS, QUERY, options=options, table_options=table_options
    )
    run = query.run(tmp_path, (parallelism,))
    assert not visible_at(BUSY[0].at + 4_900, run.commits)
    assert visible_at(BUSY[0].at + 5_000 + WAIT_MS, run.commits) == Counter([FIRST])
    assert visible_at(20_000 + WAIT_MS, run.commits) == Counter([FIRST, SECOND])
    assert run.rows == LAST


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize(
    ("options", "table_options"),
    [({}, ""), ({"table.exec.source.idle-timeout": "5 s"}, ", 'scan.watermark.idle-timeout' = '0 s'")],
)
def test_a_silent_split_holds_windows_back(
    tmp_path: Path, options: dict[str, str], table_options: str, parallelism: int
) -> None:
    query = Query(
        {"busy": BUSY, "silent": SILENT}, COLUMNS, QUERY, options=options, table_options=table_options
    )
    run = query.run(tmp_path, (parallelism,))
    assert not visible_at(39_900, run.commits)
    assert run.rows == LAST


def test_a_split_is_idle_by_the_time_that_passes_while_the_job_runs(tmp_path: Path) -> None:
    """After a restart, its time begins anew, as in Flink."""
    query = Query(
        {"busy": BUSY, "silent": SILENT},
        COLUMNS,
        QUERY,
        options={"table.exec.source.idle-timeout": "5 s"},
    )
    run = query.run(tmp_path, (2, 1), epochs=2)
    assert not visible_at(4_900, run.commits)
    assert visible_at(5_400, run.commits) == Counter([FIRST])
    assert run.rows == LAST


OTHER = [Arrival(100, "a", 7, 1_500), Arrival(40_000, "a", 16, 34_000)]
JOINS: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "interval": (
        """SELECT s.v, o.v FROM source AS s LEFT JOIN other AS o
        ON s.k = o.k AND o.ts BETWEEN s.ts AND s.ts + INTERVAL '1' SECOND""",
        ["1 7"],
        ["2 "],
        ["4 ", "8 16", "32 ", "64 "],
    ),
    "window": (
        """SELECT s.v, o.v FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS s
        LEFT JOIN TABLE(TUMBLE(TABLE other, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS o
        ON s.window_start = o.window_start AND s.window_end = o.window_end AND s.k = o.k""",
        [],
        ["1 7", "2 7"],
        ["4 ", "8 16", "32 16", "64 16"],
    ),
    "temporal": (
        "SELECT s.v, o.v FROM source AS s LEFT JOIN other FOR SYSTEM_TIME AS OF s.ts AS o ON s.k = o.k",
        [],
        ["1 ", "2 7"],
        ["4 7", "8 7", "32 16", "64 16"],
    ),
}
"""A join of two tables: the rows that come at once, when only the busy table holds watermarks, and later."""


def pairs(texts: list[str]) -> Table:
    """Return rows of two columns."""
    return Counter((first, second) for first, _, second in (text.partition(" ") for text in texts))


@pytest.mark.parametrize("waits", [False, True], ids=["idle", "holds back"])
@pytest.mark.parametrize("name", JOINS)
def test_an_idle_input_does_not_hold_a_join_back(tmp_path: Path, name: str, waits: bool) -> None:
    query, at_once, soon, later = JOINS[name]
    options = {} if waits else {"table.exec.source.idle-timeout": "5 s"}
    run = Query({"busy": BUSY}, COLUMNS, query, options=options, other={"silent": OTHER}).run(tmp_path)
    assert visible_at(4_900, run.commits) == pairs(at_once)
    assert visible_at(5_400, run.commits) == pairs(at_once if waits else at_once + soon)
    assert run.rows == pairs(at_once + soon + later)
    assert run.late == 0


def test_other_options_of_watermarks_are_refused(tmp_path: Path) -> None:
    query = Query(
        {"busy": BUSY}, COLUMNS, QUERY, table_options=", 'scan.watermark.emit.strategy' = 'on-event'"
    )
    with pytest.raises(UnsupportedError, match=r"scan\.watermark\.emit\.strategy"):
        query.run(tmp_path)
