"""Jobs whose state is read."""

from __future__ import annotations

from pathlib import Path

from tests.recovery.test_arrangements import CountJob
from tests.recovery.wandering_jobs import KEYS


def count_job(directory: Path) -> CountJob:
    """An operator with arrangements of all kinds, after nine epochs at different parallelisms."""
    job = CountJob(str(directory / "state"), 1)
    for number in range(9):
        job.parallelism = 1 + number % 3
        job.epoch([number % KEYS, (number + 1) % 3, 0])
    return job
