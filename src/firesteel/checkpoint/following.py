"""A process that takes epochs over, beside one that answers reads.

To take an epoch over is to write some hundred thousand entries, in calls that keep Python's interpreter for
milliseconds each, and longer where the system lets another process run in the midst of one. Nobody is answered
meanwhile. A copy is a file that processes share, so another process can write it (`firesteel.checkpoint.follower`).
"""

from __future__ import annotations

import select
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

import msgspec

from firesteel.common.child_processes import close_input, step_back

DONE: Final = b"\n"
"""What the process says when it is there, and when it is done with a step."""

_NICE: Final = 10
"""The process leaves the processor to who answers reads, also while it starts."""

_SOON_SECONDS: Final = 2.0
"""How long a step may take for which somebody waits: with a job that has all processors, longer than by itself."""

_END_SECONDS: Final = 20.0


class Step(msgspec.Struct, frozen=True):
    """What brings the copy in a directory, of all key groups of an operator, to an epoch of a state directory."""

    url: str
    directory: str
    lineage: str
    operator: str
    max_parallelism: int
    epoch: int


class Follower:
    """The process, for any number of threads; it is started with the first step, and again when it has died.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     follower = Follower()
    ...     follower.take(Step(directory, f"{directory}/copy", "a lineage", "counts", 128, 0))
    ...     follower.close()
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owes = False

    def take(self, step: Step) -> None:
        """Take a step, if the process is there and takes it soon.

        Nothing is returned or raised: who reads the copy takes the step then if it is missing, and meets its errors. It
        does not matter if both of them do.
        """
        with self._turn, suppress(BrokenPipeError):
            process = self._started()
            if self._has_answered(process, 0):
                assert process.stdin is not None
                process.stdin.write(msgspec.json.encode(step) + b"\n")
                process.stdin.flush()
                self._owes = True
                self._has_answered(process, _SOON_SECONDS)

    def ready(self, seconds: float) -> int | None:
        """Start the process, and return its id if it can take a step after at most so many seconds."""
        with self._turn:
            process = self._started()
            return process.pid if self._has_answered(process, seconds) else None

    def close(self) -> None:
        """End the process, once it is done with its step."""
        with self._turn:
            if self._process is not None:
                close_input(self._process, _END_SECONDS)
                self._process = None

    def _has_answered(self, process: subprocess.Popen[bytes], seconds: float) -> bool:
        """Return whether the process has said what it owes, after at most so many seconds."""
        assert process.stdout is not None
        if self._owes and select.select([process.stdout], [], [], seconds)[0]:
            self._owes = process.stdout.readline() != DONE
        return not self._owes

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            close_input(self._process, _END_SECONDS)
            self._process = None
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "firesteel.checkpoint.follower"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # a terminal's Ctrl-C is for who has started it
            )
            self._owes = True
            step_back(self._process, _NICE)
        return self._process
