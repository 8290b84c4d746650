"""Finds the processes of the cluster and of the driver that can be killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

_PYTHON_WORKER = "pyspark.daemon"
_EXECUTOR = "CoarseGrainedExecutorBackend"


def python_workers(sessions: set[int]) -> list[int]:
    """Return the Python workers in these sessions of processes, without the daemons that forked them."""
    found = dict(_processes(sessions, _PYTHON_WORKER))
    return sorted(pid for pid, parent in found.items() if parent in found)


def local_workers(sessions: set[int]) -> list[int]:
    """Return the same of applications that run on this machine alone, whose daemons are Firesteel's."""
    found = dict(_processes(sessions, "firesteel.spark.daemon"))
    return sorted(pid for pid, parent in found.items() if parent in found)


def executors(sessions: set[int]) -> list[int]:
    """Return the executors' JVMs in these sessions."""
    return sorted(pid for pid, _ in _processes(sessions, _EXECUTOR))


def kill(pid: int) -> bool:
    """Kill a process; return whether it existed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _processes(sessions: set[int], what: str) -> Iterator[tuple[int, int]]:
    """Return the ids and parents of the processes whose command line contains a word."""
    for directory in Path("/proc").iterdir():
        if not directory.name.isdecimal():
            continue
        pid = int(directory.name)
        try:
            if os.getsid(pid) in sessions and what in (directory / "cmdline").read_text():
                yield pid, int((directory / "stat").read_text().rpartition(")")[2].split()[1])
        except (ProcessLookupError, FileNotFoundError):  # it ended meanwhile
            continue
