"""An epoch on its way from planning until it is published, and how long it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from firesteel.control.admission import Admission
from firesteel.control.views.metrics import EpochFigures
from firesteel.runtime.plan import EpochPlan, SubtaskReport, TaskReport


@dataclass
class Turn:
    """An epoch; moments are those of the clock `time.perf_counter`, in seconds.

    `began` is when its planning began, `started` when that was done, `ended` when its tasks had reported. `limit` is
    how many records of each source it may read if its size is limited, `stored` the bytes of state that it wrote.
    `busiest` are the bytes that went through the busiest task, `records` those that were read, known after the
    commit. `waited` is how long it could not be committed because the epoch before it was being published. `beside`
    is whether it can itself be published while the next one runs.
    """

    epoch: EpochPlan
    started: float
    began: float = 0.0
    limit: int = 0
    ended: float = 0.0
    stored: int = 0
    tasks: list[TaskReport] = field(default_factory=list)
    reports: list[SubtaskReport] = field(default_factory=list)
    busiest: int = 0
    records: int = 0
    waited: float = 0.0
    committed: float = 0.0
    beside: bool = False

    def ran(self, tasks: list[TaskReport], now: float) -> None:
        """Take what the tasks have reported at this moment."""
        self.ended = now
        self.tasks = tasks
        self.reports = [report for task in tasks for report in task.subtasks]
        self.busiest = max(map(_bytes_of, tasks), default=0)
        self.stored = sum(run.size for report in self.reports for run in report.runs)

    @property
    def largest(self) -> int:
        """The records of the source that gave most: what limits an epoch limits each of its sources."""
        read: Counter[int] = Counter()
        for report in self.reports:
            read[report.operator] += sum(split.records for split in report.splits)
        return max(read.values(), default=0)

    def among_its_like(self, published: float) -> float:
        """Return how long an epoch takes until it is published, in seconds, if the one before it has the same size.

        What the last epoch did to it says nothing about its own cost. But if publishing takes longer than running, an
        epoch waits for one of its size.
        """
        publishing = published - self.committed
        running = self.committed - self.started - self.waited
        return publishing + (max(running, publishing) if self.beside else running)

    def figures(self, published: float, at: int, learnt: Admission) -> EpochFigures:
        """Return what is remembered of it: its output became visible at this moment, the time `at`."""
        return EpochFigures(
            epoch=self.epoch.facts.number,
            published_at=at,
            plan=_ms(self.started - self.began),
            run=_ms(self.ended - self.started),
            wait=_ms(self.waited),
            commit=_ms(self.committed - self.ended - self.waited),
            publish=_ms(published - self.committed),
            records=self.records,
            largest=self.largest,
            stored=self.stored,
            limit=self.limit,
            floor=round(learnt.cost.floor_ms, 3),
            cost=round(learnt.cost.record_ms, 6),
            certain=learnt.cost.certain,
            next_limit=learnt.limit,
        )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _bytes_of(task: TaskReport) -> int:
    """Return the bytes that went through a task: a source without an exchange reports only what it has read."""
    read = sum(split.bytes for report in task.subtasks for split in report.splits)
    return max(task.bytes, read)
