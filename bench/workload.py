"""The work every system does, and what its result must be.

Data is a function of (position, lane), cheap enough to weigh little anywhere. There are as many lanes as subtasks, so
that a system may cut the input into lanes by stride or by range and each subtask still sees event time grow at one
pace. This module is imported by all systems' workers: it uses the standard library only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LANES: Final = 2
"""Subtasks of every system."""

WINDOW_MS: Final = 1000
RECORDS_PER_WINDOW_AND_KEY: Final = 100
_SPREAD: Final = 7919  # a prime: consecutive records have unrelated keys, every key comes equally often


@dataclass(frozen=True)
class Job:
    """One measurement's work: `kind` is map, count or window; `keys` different keys in `records` records."""

    kind: str
    keys: int
    records: int

    @property
    def distinct_keys(self) -> int:
        """How many keys occur: all of them, unless there are fewer records."""
        return min(self.keys, self.records)

    @property
    def per_key(self) -> int:
        """How often each of them occurs."""
        return self.records // self.distinct_keys

    @property
    def records_per_window(self) -> int:
        """Records of all keys in one window."""
        return self.keys * RECORDS_PER_WINDOW_AND_KEY

    def rounded(self) -> Job:
        """The same job with whole rounds of keys and whole windows in every lane."""
        step = {"map": LANES, "count": self.distinct_keys, "window": self.records_per_window}[self.kind]
        step *= 1 if step % LANES == 0 else LANES
        return Job(self.kind, self.keys, max(step, self.records // step * step))

    def expected(self) -> Outcome:
        """What a right run counts: the results that reach the sink, and the sum of what they say."""
        if self.kind == "map":
            return Outcome(self.records, self.records * (self.records + 1) // 2)
        if self.kind == "count":
            return Outcome(self.distinct_keys, self.records)
        return Outcome(self.records // RECORDS_PER_WINDOW_AND_KEY, self.records)


@dataclass(frozen=True)
class Outcome:
    """Results that reached the sink: how many, and the sum of their numbers (map: values, else: counts)."""

    results: int
    total: int


class Records:
    """The generator: `record(position, lane)` is a tuple (key, number), the number being index or timestamp.

    The first record's time is written to `start`: the measurement begins when a system, already up, generates data.

    >>> job = Job("count", 10, 20)
    >>> records = Records(job, "")
    >>> [records.record(position, lane) for position in (1, 2) for lane in (0, 1)]
    [(8, 2), (7, 3), (6, 4), (5, 5)]
    """

    def __init__(self, job: Job, start: str) -> None:
        self._keys = job.keys
        self._start = start
        self._per_ms = max(job.records_per_window // WINDOW_MS // LANES, 1)
        self.record = self._timed if job.kind == "window" else self._counted

    def _counted(self, position: int, lane: int) -> tuple[int, int]:
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._keys, index

    def _timed(self, position: int, lane: int) -> tuple[int, int]:
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._keys, position // self._per_ms

    def _begin(self) -> None:
        Path(self._start).write_text(repr(time.time()), encoding="ascii")


def started_at(start: str) -> float:
    """When the first record was generated (seconds since 1970)."""
    return float(Path(start).read_text(encoding="ascii"))
