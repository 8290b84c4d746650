"""Ends what a process has started when that process has ended in any way: killed, or by an error of its own.

Run as a program, it is the guard: a process that reads what to watch from its input, whose end is that of its owner.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_REMOVES_WITHIN_S = 10
_lock = threading.Lock()


class Guard:
    """The guard of this process; see `guard`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-IS", __file__], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def watch(self, session: int) -> None:
        """Kill a session at the end: a process that was started with `start_new_session`, and all that came of it."""
        self._tell("watch", session)

    def forget(self, session: int) -> None:
        """Watch a session, which has ended, no more."""
        self._tell("forget", session)

    def remove(self, directory: Path) -> None:
        """Remove a directory at the end, if it is still there."""
        self._tell("remove", directory)

    def _tell(self, what: str, of: object) -> None:
        assert self._process.stdin is not None
        with _lock:
            self._process.stdin.write(f"{what} {of}\n")
            self._process.stdin.flush()


def guard() -> Guard:
    """Return the one guard of this process."""
    with _lock:
        return _only()


@cache
def _only() -> Guard:
    return Guard()


def kill_session(session: int) -> None:
    """Kill all processes of a session, and those that they start meanwhile."""
    killed: set[int] = set()
    while found := _processes(session) - killed:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        killed |= found


def _processes(session: int) -> set[int]:
    """Return the processes of a session; where the system does not list them, its leader."""
    if not Path("/proc").is_dir():
        return {session}
    return {
        int(directory.name)
        for directory in Path("/proc").iterdir()
        if directory.name.isdecimal() and _session_of(int(directory.name)) == session
    }


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _remove(directory: Path) -> None:
    """Remove a directory, into which processes that were killed just now may still write."""
    until = time.monotonic() + _REMOVES_WITHIN_S
    while directory.exists() and time.monotonic() < until:
        shutil.rmtree(directory, ignore_errors=True)


def main() -> None:
    """Read what to watch, and end it."""
    sessions: set[int] = set()
    directories: list[Path] = []
    for line in sys.stdin:
        what, _, of = line.rstrip("\n").partition(" ")
        if what == "watch":
            sessions.add(int(of))
        elif what == "forget":
            sessions.discard(int(of))
        else:
            directories.append(Path(of))
    for session in sessions:
        kill_session(session)
    for directory in directories:
        _remove(directory)


if __name__ == "__main__":
    main()
