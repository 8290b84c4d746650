"""A query that is drained gives all that follows from the rows it has read, and a stopped one does not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from firesteel.control import EpochStats, JobHandle
from tests.recovery.sql.jobs import Act, expected, prepared, read_so_far, row, run, state_of, table

TIMES = {
    "windows": ("SUM(n)", 3),
    "windows of windows": ("SUM(n)", 1),
    "over windows": ("SUM(n)", 1),
    "sessions": ("SUM(n)", 1),
    "in order of time": ("COUNT(*)", 1),
    "over": ("COUNT(*)", 1),
    "over a range": ("COUNT(*)", 1),
    "over all": ("COUNT(*)", 1),
}
"""What counts the rows that are in an answer, and how often each row of the source is in it; no row is late."""


def ending(epochs: int, *, drain: bool) -> Act:
    """Stop a job after so many epochs."""

    def act(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch == epochs:
            handle.stop(drain=drain)

    return act


def counted(home: Path, name: str) -> int:
    """Return how often rows are in the answer."""
    with sqlite3.connect(home / "result.db") as connection:
        [count] = connection.execute(f"SELECT {TIMES[name][0]} FROM answer").fetchone()
        return int(count or 0)


def counts(name: str, index: int) -> bool:
    """Return whether a row can be in the answer: in Flink, a row of time 0 is late for a bounded frame."""
    _, value, time = row(index)
    if name == "in order of time":
        return value < 20
    return time > 0 or name not in ("over", "over a range")


@pytest.mark.parametrize("name", TIMES)
def test_a_drained_query_gives_all_that_follows_from_what_it_has_read(tmp_path: Path, name: str) -> None:
    home = prepared(tmp_path / "job", name)
    run(home, name, parallelism=2, act=ending(4, drain=True), epoch_records=11)
    read = [index for index in read_so_far(state_of(home)) if counts(name, index)]
    assert 30 < len(read) < 100
    assert counted(home, name) == TIMES[name][1] * len(read)


@pytest.mark.parametrize("name", TIMES)
def test_a_stopped_query_keeps_what_waits_and_goes_on(tmp_path: Path, name: str) -> None:
    home = prepared(tmp_path / "job", name)
    run(home, name, parallelism=2, act=ending(4, drain=False), epoch_records=11)
    assert counted(home, name) < TIMES[name][1] * len(read_so_far(state_of(home)))
    run(home, name, parallelism=3, epoch_records=11)
    assert table(home) == expected(tmp_path, name)
