"""Windows of processing time: they are over when the clock says so, whatever comes then, and after a restart, too."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.queries.arriving import START, Arrival, Query, Table

COLUMNS = "k STRING, v BIGINT, pt AS PROCTIME()"
FIRST = [
    *(Arrival(200, "a", 1), Arrival(500, "b", 2), Arrival(700, "a", 4), Arrival(1300, "a", 8)),
    *(Arrival(2600, "b", 16), Arrival(2700, "b", 32), Arrival(9500, "z", 0)),
]
SECOND = [Arrival(450, "a", 64), Arrival(1600, "b", 128), Arrival(3500, "a", 256), Arrival(9600, "z", 0)]
ROWS = [row for row in (*FIRST, *SECOND) if row.k != "z"]
SPLITS = {"first": FIRST, "second": SECOND}
PATIENCE_MS = 50
"""How long a job that has nothing to do waits before it looks for rows."""

Windows = Callable[[int], Iterable[tuple[int, int]]]
"""The start and the end of the windows of a time."""


def tumble(time: int) -> Iterable[tuple[int, int]]:
    start = time - time % 1000
    return [(start, start + 1000)]


def hop(time: int) -> Iterable[tuple[int, int]]:
    start = time - time % 1000
    return [(start - 1000, start + 1000), (start, start + 2000)]


def cumulate(time: int) -> Iterable[tuple[int, int]]:
    start = time - time % 3000
    return [(start, start + size) for size in (1000, 2000, 3000) if time < start + size]


TVF = """SELECT k, window_start, window_end, COUNT(*), SUM(v) FROM TABLE({}) GROUP BY k, window_start, window_end"""
QUERIES: dict[str, tuple[str, Windows]] = {
    "tumble": (TVF.format("TUMBLE(TABLE source, DESCRIPTOR(pt), INTERVAL '1' SECOND)"), tumble),
    "hop": (TVF.format("HOP(TABLE source, DESCRIPTOR(pt), INTERVAL '1' SECOND, INTERVAL '2' SECOND)"), hop),
    "cumulate": (
        TVF.format("CUMULATE(TABLE source, DESCRIPTOR(pt), INTERVAL '1' SECOND, INTERVAL '3' SECOND)"),
        cumulate,
    ),
    "legacy": (
        """SELECT k, TUMBLE_START(pt, INTERVAL '1' SECOND), TUMBLE_END(pt, INTERVAL '1' SECOND), COUNT(*), SUM(v)
        FROM source GROUP BY k, TUMBLE(pt, INTERVAL '1' SECOND)""",
        tumble,
    ),
    "legacy hop": (
        """SELECT k, HOP_START(pt, INTERVAL '1' SECOND, INTERVAL '2' SECOND),
        HOP_END(pt, INTERVAL '1' SECOND, INTERVAL '2' SECOND), COUNT(*), SUM(v)
        FROM source GROUP BY k, HOP(pt, INTERVAL '1' SECOND, INTERVAL '2' SECOND)""",
        hop,
    ),
}
SHIFTS = {"UTC": 0, "Asia/Kolkata": 19_800_000}


def shown(time: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=time)).isoformat(" ", "milliseconds")


def windows_over(windows: Windows, now: int, shift: int) -> Table:
    """Return the results of the windows that are over at a time after the start."""
    found: dict[tuple[str, int, int], list[int]] = {}
    for row in ROWS:
        for start, end in windows(START + row.at + shift):
            found.setdefault((row.k, start, end), []).append(row.v)
    return Counter(
        (key, shown(start), shown(end), str(len(values)), str(sum(values)))
        for (key, start, end), values in found.items()
        if end <= START + now + shift
    )


@pytest.mark.parametrize("zone", SHIFTS)
@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("name", QUERIES)
def test_a_window_is_given_once_its_end_has_come(
    tmp_path: Path, name: str, parallelism: int, zone: str
) -> None:
    query, windows = QUERIES[name]
    run = Query(SPLITS, COLUMNS, query, zone=zone).run(tmp_path, (parallelism,))
    assert sum(run.rows.values()) >= 6
    for now, visible in run.commits:
        assert visible == windows_over(windows, now, SHIFTS[zone]), now
    times = [now for now, _ in run.commits]
    for end in (1000, 2000, 3000, 4000):
        assert any(end <= time <= end + PATIENCE_MS for time in times), end
    assert run.late == 0


@pytest.mark.parametrize("name", QUERIES)
def test_windows_stay_open_while_a_job_is_stopped_and_rescaled(tmp_path: Path, name: str) -> None:
    query, windows = QUERIES[name]
    run = Query(SPLITS, COLUMNS, query).run(tmp_path, (2, 1, 3, 2), epochs=3)
    assert len(run.commits) > 9
    for now, visible in run.commits:
        assert visible == windows_over(windows, now, 0), now


SESSIONS = [
    """SELECT k, COUNT(*), SUM(v) FROM TABLE(
    SESSION(TABLE source PARTITION BY k, DESCRIPTOR(pt), INTERVAL '0.8' SECOND))
    GROUP BY k, window_start, window_end""",
    "SELECT k, COUNT(*), SUM(v) FROM source GROUP BY k, SESSION(pt, INTERVAL '0.8' SECOND)",
]
IN_SESSIONS = {
    2100: ("a", "4", "77"),
    1300: ("b", "1", "2"),
    2400: ("b", "1", "128"),
    3500: ("b", "2", "48"),
    4300: ("a", "1", "256"),
}
"""The sessions by the time at which they are over, to within what a job waits."""


@pytest.mark.parametrize("parallelisms", [(1,), (2,), (3,), (2, 1, 3)])
@pytest.mark.parametrize("query", SESSIONS)
def test_a_session_is_over_when_nothing_has_come_for_its_gap(
    tmp_path: Path, query: str, parallelisms: tuple[int, ...]
) -> None:
    run = Query(SPLITS, COLUMNS, query).run(tmp_path, parallelisms, epochs=4)
    assert run.rows == Counter(IN_SESSIONS.values())
    for now, visible in run.commits:
        certain = Counter(row for end, row in IN_SESSIONS.items() if end + PATIENCE_MS <= now)
        possible = Counter(row for end, row in IN_SESSIONS.items() if end <= now)
        assert certain <= visible <= possible, now


@pytest.mark.parametrize("parallelisms", [(1,), (2,), (3,), (2, 1, 3)])
def test_over_counts_rows_in_the_order_in_which_they_come(
    tmp_path: Path, parallelisms: tuple[int, ...]
) -> None:
    query = "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY pt) FROM source"
    run = Query(SPLITS, COLUMNS, query).run(tmp_path, parallelisms, epochs=4)
    sums = Counter[str]()
    expected = []
    for row in sorted((*FIRST, *SECOND)):
        sums[row.k] += row.v
        expected.append((row.k, str(row.v), str(sums[row.k])))
    assert run.rows == Counter(expected)


def test_the_time_of_a_row_is_that_at_which_it_was_read(tmp_path: Path) -> None:
    query = "SELECT k, v, pt FROM source"
    run = Query(SPLITS, COLUMNS, query).run(tmp_path, (2,))
    read = {int(row[1]): dt.datetime.fromisoformat(row[2]) for row in run.rows}
    for row in ROWS:
        late = read[row.v] - dt.datetime(1970, 1, 1) - dt.timedelta(milliseconds=START + row.at)
        assert dt.timedelta(0) <= late <= dt.timedelta(milliseconds=PATIENCE_MS)
