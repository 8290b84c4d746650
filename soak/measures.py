"""What is looked at while the jobs run: processes from /proc, directories, and the epochs that a listener hears of."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from statistics import median
from typing import Final

from firesteel.control.listeners import EpochStats
from soak.drift import Limit

_MIB: Final = float(1 << 20)

ALONE: Final = "CPU time per epoch"
BESIDE: Final = "CPU time with a short job"

LIMITS: Final = (
    Limit("memory of the driver", 0.10, 16 * _MIB, _MIB, "MiB"),
    Limit("memory of the JVM", 0.15, 64 * _MIB, _MIB, "MiB"),
    Limit("memory of all workers", 0.10, 32 * _MIB, _MIB, "MiB"),
    Limit("descriptors, driver and JVM", 0.05, 12),
    Limit("descriptors of the workers", 0.05, 8),
    Limit("threads, driver and JVM", 0.05, 6),
    Limit("processes", 0.0, 1),
    Limit("state directory", 0.20, 2 * _MIB, _MIB, "MiB"),
    Limit("working copies", 0.20, 4 * _MIB, _MIB, "MiB"),
    Limit("manifest", 0.20, 4096, 1024.0, "KiB"),
    Limit(ALONE, 0.25, 50, 1, "ms"),
    Limit(BESIDE, 0.25, 100, 1, "ms"),
    Limit("epoch", inf, 0, 1, "ms"),
    Limit("short job", inf, 0, 1, "ms"),
)
"""What is measured, and how much each may grow from the end of the warm-up to the end of the run.

How long epochs and short jobs take follows the load of the machine, so it is shown and not judged. The CPU time per
epoch is judged, without a short job and with one.
"""

_NO_EPOCH_S: Final = 240.0
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class Series:
    """Measured values by name, each with the seconds since the start."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self.values: dict[str, list[tuple[float, float]]] = defaultdict(list)

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def add(self, name: str, value: float) -> None:
        """Note a value."""
        self.values[name].append((self.now, value))


class Epochs:
    """A listener that counts the epochs that have records, and notes how long they take."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._committed = threading.Condition()
        self.count = 0

    def on_epoch(self, stats: EpochStats) -> None:
        if stats.records_in:
            self._series.add("epoch", stats.duration_ms)
            with self._committed:
                self.count += 1
                self._committed.notify_all()

    def wait_for(self, more: int) -> None:
        """Return right after this many more epochs. Raises TimeoutError if they do not come."""
        with self._committed:
            wanted = self.count + more
            if not self._committed.wait_for(lambda: self.count >= wanted, _NO_EPOCH_S):
                raise TimeoutError(f"{more} epochs took longer than {_NO_EPOCH_S:g} s")


class Work:
    """Notes the CPU time per epoch of the long job, in all processes together, while something else happens or nothing.

    Long and short jobs share the processes, so the CPU time of a short job is not known by itself. It shows in the CPU
    time per epoch beside it.
    """

    def __init__(self, series: Series, epochs: Epochs, cpu_s: Callable[[], float]) -> None:
        self._series = series
        self._epochs = epochs
        self._cpu_s = cpu_s

    def note(self, name: str, act: Callable[[], None], epochs: int) -> None:
        """Note the CPU time per epoch (milliseconds) while something is done, and until some epochs after it."""
        cpu, count = self._cpu_s(), self._epochs.count
        act()
        self._epochs.wait_for(epochs)
        self._series.add(name, (self._cpu_s() - cpu) * 1000 / (self._epochs.count - count))


class Sampler:
    """Looks at this process and all it has started, and at the directories of the long job."""

    def __init__(self, series: Series, state: Path, copies: Path) -> None:
        self._series = series
        self._state = state
        self._copies = copies
        self.cpu_s = 0.0
        """The CPU time (seconds) that looking has taken."""

    def look(self) -> None:
        """Take a sample of everything."""
        began = time.thread_time()
        self._look()
        self.cpu_s += time.thread_time() - began

    def _look(self) -> None:
        add = self._series.add
        family = [os.getpid(), *descendants(os.getpid())]
        java = [pid for pid in family if _name(pid) == "java"]
        python = [pid for pid in family[1:] if pid not in java]
        add("memory of the driver", _resident(family[0]))
        add("memory of the JVM", sum(map(_resident, java)))
        add("memory of all workers", sum(map(_resident, python)))
        add("descriptors, driver and JVM", sum(map(_descriptors, [family[0], *java])))
        add("descriptors of the workers", sum(map(_descriptors, python)))
        add("threads, driver and JVM", sum(map(_threads, [family[0], *java])))
        add("processes", len(family))
        add("state directory", _size(self._state))
        add("working copies", _size(self._copies))
        manifests = sorted((self._state / "manifests").glob("*"))[-16:]
        if manifests:
            add("manifest", median(map(_length, manifests)))


def descendants(pid: int) -> list[int]:
    """All processes that a process has started, and those that these have started."""
    found = []
    for child in _children(pid):
        found += [child, *descendants(child)]
    return found


def cpu_s() -> float:
    """The seconds of CPU time of this process and all it has started, those that have ended included."""
    return sum(map(_ticks, [os.getpid(), *descendants(os.getpid())])) / _TICKS_PER_S


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(
        map(int, fields[11:15])
    )  # user and system time, its own and that of children it has waited for


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            yield from map(int, task.read_text().split())
        except OSError:
            continue  # the thread has ended


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _descriptors(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def _threads(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return 0


def _size(directory: Path) -> int:
    """The bytes that the files below a directory take on disk."""
    return sum(_blocks(Path(place) / name) for place, _, names in os.walk(directory) for name in names)


def _blocks(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0  # removed meanwhile


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
