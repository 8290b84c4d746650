"""Jobs that are killed, or whose parallelism changes, while they read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from firesteel.control import EpochStats, JobHandle
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Watch

EPOCH_RECORDS = 9
PATIENCE = 240

Act = Callable[[JobHandle, EpochStats], None]
Start = Callable[[], JobHandle]


def run(directory: Path, start: Start, parallelism: int, act: Act, epoch_records: int = EPOCH_RECORDS) -> int:
    """Run a job until it ends or is ended, and return how many epochs it had."""
    watch = Watch(act)
    with executing(
        state_dir=str(directory),
        parallelism=parallelism,
        epoch_records=epoch_records,
        listener=watch,
        clock=ManualClock(1_000_000),
    ):
        watch.follow(start()).wait(PATIENCE)
    return len(watch.epochs)


def cancelled_after(epochs: int) -> Act:
    """Cancel a job after so many epochs."""
    left = [epochs]

    def act(handle: JobHandle, stats: EpochStats) -> None:
        left[0] -= 1
        if not left[0]:
            handle.cancel()

    return act


def killed(directory: Path, start: Start, epoch_records: int = EPOCH_RECORDS) -> None:
    """Run a job that is cancelled twice, and is started again at another parallelism."""
    for parallelism in (2, 3):
        assert run(directory, start, parallelism, cancelled_after(3), epoch_records) == 3
    assert run(directory, start, 1, lambda handle, stats: None, epoch_records) > 3


def rescaled(directory: Path, start: Start, epoch_records: int = EPOCH_RECORDS) -> None:
    """Run a job that is rescaled three times."""
    changes = {2: 3, 4: 1, 6: 2}

    def act(handle: JobHandle, stats: EpochStats) -> None:
        if stats.epoch in changes:
            handle.rescale(changes[stats.epoch])

    assert run(directory, start, 2, act, epoch_records) > 7
