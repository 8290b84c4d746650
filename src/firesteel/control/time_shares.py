"""How each operator subtask spends its time: busy, backpressured or idle, as in Flink.

- **Busy** is the time in which the operator itself works, without the operators that it calls.
- **Backpressured** is the time in which it has input, and cannot go on because of others: operators after it in its own
  task work; or its task has ended, and later tasks, the commit and the publication of the epoch are not done yet (the
  publication beside the next epoch holds nobody up). The latter counts only if the next epoch followed at once:
  otherwise there was nothing to go on with.
- **Idle** is the rest.

The times of tasks are those of their machines' clocks; what lies outside of the epoch is cut off.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from firesteel.control.rates import SPAN_MS, Events
from firesteel.runtime.plan import Plan, SubtaskReport, TaskReport

Place = tuple[int, int]
"""The index of an operator, and a subtask."""


class TimeShares:
    """The shares of all subtasks; `since` is when the measuring began (milliseconds)."""

    def __init__(self, plan: Plan, since: int) -> None:
        self._plan = plan
        self._since = since
        self._busy: dict[Place, _Amount] = defaultdict(_Amount)
        self._held: dict[Place, _Amount] = defaultdict(_Amount)
        self._tails: list[tuple[Place, float]] = []

    def ran(self, tasks: Iterable[TaskReport], now: int) -> None:
        """Add the tasks of an epoch after which the next one can begin now."""
        ended = time.time_ns() // 1_000_000
        self._tails = []
        for task in tasks:
            times = [report.usage.busy_ns / 1_000_000 for report in task.subtasks]
            after = [0.0, *accumulate(reversed(times))][-2::-1]
            tail = max(0, ended - task.ended)
            for report, busy, others in zip(task.subtasks, times, after, strict=True):
                place = (report.operator, report.subtask)
                self._busy[place].add(busy, now)
                if _had_input(report):
                    self._held[place].add(others, now)
                    self._tails.append((place, tail))

    def went_on(self, at_once: bool, now: int) -> None:
        """Note that the next epoch begins, `at_once` after the last one or after a wait for input."""
        if at_once:
            for place, tail in self._tails:
                self._held[place].add(tail, now)
        self._tails = []

    def of(self, place: Place, now: int) -> dict[str, float]:
        """Return the metrics of a subtask, by Flink's names."""
        busy, held = self._busy[place], self._held[place]
        whole = max(0, now - self._since)
        shares = (busy.share(now, self._since), held.share(now, self._since))
        busy_share = shares[0]
        held_share = min(shares[1], 1000 - busy_share)
        return {
            "busyTimeMsPerSecond": busy_share,
            "backPressuredTimeMsPerSecond": held_share,
            "idleTimeMsPerSecond": 1000 - busy_share - held_share,
            "accumulateBusyTimeMs": round(busy.total),
            "accumulateBackPressuredTimeMs": round(held.total),
            "accumulateIdleTimeMs": max(0, round(whole - busy.total - held.total)),
        }


class _Amount:
    """Milliseconds: their sum, and when they were."""

    __slots__ = ("_events", "total")

    def __init__(self) -> None:
        self.total = 0.0
        self._events = Events()

    def add(self, ms: float, now: int) -> None:
        self.total += ms
        self._events.add(ms, SPAN_MS, now)

    def share(self, now: int, since: int) -> float:
        return self._events.share(now, since)


def _had_input(report: SubtaskReport) -> bool:
    return report.records_in > 0 or any(split.records for split in report.splits)
