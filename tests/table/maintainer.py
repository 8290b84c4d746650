"""A program that maintains a table; at a point of an epoch it says so, and stands still until it is killed.

Arguments: the directory, the parallelism, the statement that starts the job, and the point ("" for none: then the job
runs to its end). The program stands still when it comes to the point for the third time. If whoever waits for it is
gone, it goes, too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from firesteel.control import commands
from firesteel.testing import executing
from tests.recovery.crashing import Crasher, Point, points
from tests.table.transfers import job, session

VISIT = 3


class StandsStill:
    """Stops the thread that comes to a point for the third time."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._visits = 0

    def __call__(self, count: int, point: Point) -> bool:
        self._visits += point[1] == self._where
        if self._visits == VISIT and point[1] == self._where:
            print(self._where, flush=True)
            sys.stdin.read()
            os._exit(1)
        return False


def main(directory: str, parallelism: str, statement: str, where: str) -> None:
    commands.ALIVE_MS = 0  # type: ignore[misc]  # a driver that was killed is taken for dead at once
    with points(Crasher(StandsStill(where))), executing(parallelism=int(parallelism), epoch_records=10):
        job(session(Path(directory)), statement).wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
