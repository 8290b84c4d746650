"""What is looked at while the jobs run: processes from /proc, directories, and the epochs that a listener hears of."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from firesteel.control.listeners import EpochStats
from soak.drift import Limit

_MIB: Final = float(1 << 20)

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
    Limit("epoch", 0.25, 50, 1, "ms"),
    Limit("short job", 0.25, 200, 1, "ms"),
)
"""What is measured, and how much each may grow from the end of the warm-up to the end of the run."""


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
    """A listener that notes how long epochs take that have records."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def on_epoch(self, stats: EpochStats) -> None:
        if stats.records_in:
            self._series.add("epoch", stats.duration_ms)


class Sampler:
    """Looks at this process and all it has started, and at the directories of the long job."""

    def __init__(self, series: Series, state: Path, copies: Path) -> None:
        self._series = series
        self._state = state
        self._copies = copies

    def look(self) -> None:
        """Take a sample of everything."""
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
