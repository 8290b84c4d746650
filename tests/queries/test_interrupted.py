"""Queries give Flink's tables when their job is killed or its parallelism changes: many are the INSERTs of one job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firesteel.control import EpochStats, JobHandle
from firesteel.testing import ManualClock, executing
from tests.queries.tables import compared, expected, session
from tests.queries.together import Given, sample, started, tables
from tests.recovery.jobs import Watch

AT_ONCE = 15
EPOCH_RECORDS = 9
PATIENCE = 240

Act = Callable[[JobHandle, EpochStats], None]


def run(directory: Path, chosen: list[Given], parallelism: int, act: Act) -> int:
    """Run queries as one job until it ends or is ended, and return how many epochs it had."""
    watch = Watch(act)
    with executing(
        state_dir=str(directory),
        parallelism=parallelism,
        epoch_records=EPOCH_RECORDS,
        listener=watch,
        clock=ManualClock(1_000_000),
    ):
        watch.follow(started(session(), chosen)).wait(PATIENCE)
    return len(watch.epochs)


def cancelled_after(epochs: int) -> Act:
    """Cancel a job after so many epochs."""
    left = [epochs]

    def act(handle: JobHandle, stats: EpochStats) -> None:
        left[0] -= 1
        if not left[0]:
            handle.cancel()

    return act


def killed(directory: Path, chosen: list[Given]) -> None:
    """Run a job that is cancelled twice, and is started again at another parallelism."""
    for parallelism in (2, 3):
        assert run(directory, chosen, parallelism, cancelled_after(3)) == 3
    assert run(directory, chosen, 1, lambda handle, stats: None) > 3


def rescaled(directory: Path, chosen: list[Given]) -> None:
    """Run a job that is rescaled three times."""
    changes = {2: 3, 4: 1, 6: 2}

    def act(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch in changes:
            handle.rescale(changes[stats.epoch])

    assert run(directory, chosen, 2, act) > 7


@pytest.mark.timeout(900)
@pytest.mark.parametrize("interrupted", [killed, rescaled])
def test_queries_give_the_tables_that_flink_gives(
    tmp_path: Path,
    interrupted: Callable[[Path, list[Given]], None],
    long_form: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chosen = compared() if long_form else sample(compared())
    jobs = -(-len(chosen) // AT_ONCE)
    for number in range(jobs):
        some = chosen[number::jobs]  # each job reads all tables, so all have many epochs
        capfd.readouterr()
        interrupted(tmp_path / str(number), some)
        for given, rows in zip(some, tables(session(), some, capfd.readouterr().out), strict=True):
            assert rows == expected(given), given["query"]
