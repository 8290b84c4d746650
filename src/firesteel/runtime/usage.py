"""What subtasks and their worker use while they run an epoch: time, bytes and memory.

Time is counted by the call of an operator, which is a batch of records or a watermark, never by the record. A task has
one `Stopwatch`, whose time belongs to one operator at each moment: the innermost one of a chain. So the times of all
operators of a task add up to the task's.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter_ns
from typing import Final, NamedTuple

from firesteel.state.live.durable import StoreUse

_UNUSED: Final = StoreUse(0)
_STATM: Final = Path("/proc/self/statm")


class LatencyMarker(NamedTuple):
    """A mark that a source sends along with its records, to see how long they take (Flink: LatencyMarker).

    `marked_at` is the wall clock's time at the source (milliseconds), `operator` the index of the source.
    """

    marked_at: int
    operator: int
    subtask: int


@dataclass(slots=True)
class Usage:
    """What one operator subtask used in an epoch: times in nanoseconds, sizes in bytes.

    `busy_ns` is the time in which it worked itself, without the operators that it called. Bytes are those of blocks,
    which exchanges carry; records that stay in the task have none. `persist_ns` is how long its state took to store.
    `state_memory` is what its keyed state takes in memory, `spilled` the changes that did not fit in there.
    `store` is its use of the working copy on disk. `arranged_rows` are the rows of its arrangements (None: it has
    none). `arrivals` are the markers that came, each with its time of arrival (milliseconds).
    """

    operator: int = -1
    busy_ns: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    persist_ns: int = 0
    state_memory: int = 0
    spilled: int = 0
    store: StoreUse = _UNUSED
    arranged_rows: int | None = None
    arrivals: list[tuple[LatencyMarker, int]] = field(default_factory=list)


class Stopwatch:
    """Counts time for one owner at a time.

    >>> task, count = Usage(), Usage()
    >>> watch = Stopwatch(task)
    >>> before = watch.switch(count)
    >>> watch.switch(before) is count, count.busy_ns > 0
    (True, True)
    """

    __slots__ = ("_since", "owner")

    def __init__(self, owner: Usage) -> None:
        self.owner = owner
        self._since = perf_counter_ns()

    def switch(self, owner: Usage) -> Usage:
        """Count for another owner from now on; return the one before."""
        now = perf_counter_ns()
        before = self.owner
        before.busy_ns += now - self._since
        self._since = now
        self.owner = owner
        return before


@dataclass(frozen=True, slots=True)
class WorkerUsage:
    """The process that ran a task, after it: its resident memory, and its state's with the limit of that (bytes)."""

    host: str
    pid: int
    memory: int
    state_memory: int
    state_limit: int


def worker_usage(state_memory: int, state_limit: int) -> WorkerUsage:
    """Return what this process uses, beside the given memory of its state."""
    return WorkerUsage(_host(), os.getpid(), resident_memory(), state_memory, state_limit)


def resident_memory() -> int:
    """Return the bytes of this process in memory; where the system does not tell, the most that it ever had."""
    try:
        pages = int(_STATM.read_bytes().split()[1])
    except FileNotFoundError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return pages * _page_size()


@cache
def _host() -> str:
    return socket.gethostname()


@cache
def _page_size() -> int:
    return os.sysconf("SC_PAGESIZE")
