"""Processes that others start: how long they live, and who has the processor first."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_BEHIND: Final = 3
"""Niceness by which a process weighs half as much, so that it still has its share beside a busy machine's others."""


def start_apart(
    command: Sequence[str], *, log: Path, directory: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one: it leads a session of its own, reads nothing, and writes to `log`.

    It steps back (see `step_back`): this one answers people, and needs the processor seldom but at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     log = Path(name) / "log"
    ...     process = start_apart(["pwd"], log=log, directory=Path("/"), environment={})
    ...     process.wait(), log.read_text()
    (0, '/\\n')
    """
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
    step_back(process, _BEHIND)
    return process


def step_back(process: subprocess.Popen[bytes], by: int) -> None:
    """Let a process, which leads a session of its own, have the processor after others: its niceness rises by so much.

    Linux may share the processor out to sessions before it looks at their processes, and then the niceness that counts
    is that of the session.

    >>> process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True)
    >>> step_back(process, 3)
    >>> os.getpriority(os.PRIO_PROCESS, process.pid) - os.getpriority(os.PRIO_PROCESS, 0)
    3
    >>> close_input(process, seconds=20)

    Source: "The autogroup feature" of sched(7).
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0) + by
    os.setpriority(os.PRIO_PROCESS, process.pid, niceness)
    with suppress(OSError):  # a kernel without such groups, and another system
        Path(f"/proc/{process.pid}/autogroup").write_text(str(niceness))


def close_input(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close the input of a process that ends with it, and wait; kill it if it has not ended after so many seconds.

    >>> process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    >>> close_input(process, seconds=20)
    >>> process.returncode
    0
    """
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
