"""The work of every system, and its expected result.

Data is a function of (position, lane) that is cheap everywhere. There are as many lanes as subtasks, so a system can
cut the input into lanes by stride or by range, and each subtask still sees event time advance at the same pace. This
module is imported by all systems' workers: it uses the standard library only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LANES: Final = 2
"""Subtasks of every system."""

WINDOW_MS: Final = 1000
"""A tumbling window; a pane of a sliding one; how long a key is active in a session, and how long it is silent then."""

PANES: Final = 6
"""Panes of a sliding window."""

GAP_MS: Final = 500
"""The silence that ends a session."""

TIMER_MS: Final = 10_000
"""How long after its record a timer is due."""

PER_WINDOW_AND_KEY: Final = {"window": 100, "sliding": 20, "session": 20}
"""A key's records in one window, in one pane, in one session."""

KINDS: Final = ("map", "count", "reduce", "timers", *PER_WINDOW_AND_KEY)
_SPREAD: Final = 7919  # a prime: consecutive records have unrelated keys, every key comes equally often


@dataclass(frozen=True)
class Job:
    """One measurement's work: `kind` is one of KINDS; `keys` different keys in `records` records."""

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
    def active_keys(self) -> int:
        """Keys that have records at the same time: all, but in sessions every other one."""
        return self.keys // 2 if self.kind == "session" else self.keys

    @property
    def records_per_window(self) -> int:
        """Records of all keys in one window, pane or session."""
        return self.active_keys * PER_WINDOW_AND_KEY[self.kind]

    def rounded(self) -> Job:
        """Return the same job with whole rounds of keys and whole windows in every lane."""
        if self.kind in PER_WINDOW_AND_KEY:
            step = self.records_per_window
        else:
            step = LANES if self.kind == "map" else self.distinct_keys
        step *= 1 if step % LANES == 0 else LANES
        return Job(self.kind, self.keys, max(step, self.records // step * step))

    def expected(self) -> Outcome:
        """Return the expected results in the sink: their number and their sum."""
        if self.kind == "map":
            return Outcome(self.records, self.records * (self.records + 1) // 2)
        if self.kind == "count":
            return Outcome(self.distinct_keys, self.records)
        if self.kind == "timers":
            return Outcome(self.records, self.records)
        if self.kind == "reduce":
            return Outcome(self.records, self.distinct_keys * self.per_key * (self.per_key + 1) // 2)
        results = self.records // PER_WINDOW_AND_KEY[self.kind]
        if (
            self.kind == "sliding"
        ):  # windows that begin before the first record or end after the last have results, too
            return Outcome(results + self.keys * (PANES - 1), self.records * PANES)
        return Outcome(results, self.records)


@dataclass(frozen=True)
class Outcome:
    """Results that reached the sink: how many, and the sum of their numbers (map: values, timers: 1, else: counts)."""

    results: int
    total: int


class Records:
    """The generator: `record(position, lane)` is a tuple (key, number).

    The number is the record's index; with windows and sessions its timestamp; for `reduce`, 1.
    The first record's time is written to `start`: the measurement begins when a system, already up, generates data.

    >>> job = Job("count", 10, 20)
    >>> records = Records(job, "")
    >>> [records.record(position, lane) for position in (1, 2) for lane in (0, 1)]
    [(8, 2), (7, 3), (6, 4), (5, 5)]
    """

    def __init__(self, job: Job, start: str) -> None:
        self._keys = job.keys
        self._active = job.active_keys
        self._start = start
        windowed = job.kind in PER_WINDOW_AND_KEY
        self._per_window = job.records_per_window if windowed else 0
        self._per_ms = max(self._per_window // WINDOW_MS // LANES, 1)
        shapes = {"session": self._in_sessions, "reduce": self._ones}
        self.record = shapes.get(job.kind, self._timed if windowed else self._counted)

    def _counted(self, position: int, lane: int) -> tuple[int, int]:
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._keys, index

    def _ones(self, position: int, lane: int) -> tuple[int, int]:
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._keys, 1

    def _timed(self, position: int, lane: int) -> tuple[int, int]:
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._keys, position // self._per_ms

    def _in_sessions(self, position: int, lane: int) -> tuple[int, int]:
        """Return a record; even and odd keys take turns: one half is active while the other is silent."""
        index = position * LANES + lane
        if not index:
            self._begin()
        return index * _SPREAD % self._active * 2 + index // self._per_window % 2, position // self._per_ms

    def _begin(self) -> None:
        Path(self._start).write_text(repr(time.time()), encoding="ascii")


def started_at(start: str) -> float:
    """Return when the first record was generated (seconds since 1970)."""
    return float(Path(start).read_text(encoding="ascii"))
