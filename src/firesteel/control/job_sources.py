"""All sources of a job together: the input of an epoch, and the positions at its commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.control.clock import Moment
from firesteel.control.journal import Journal
from firesteel.control.sources import Positions, SourceCoordinator, SourcePlan
from firesteel.functions.source import Source
from firesteel.runtime.plan import Plan, SplitInput, SplitReport, SubtaskReport


@dataclass(frozen=True, slots=True)
class EpochInput:
    """What an epoch reads: by source and subtask, the unfinished splits; `work` if any has something to read.

    `more` is whether any has more to read than that, `final` whether all sources have been read to their ends when this
    epoch is committed.
    """

    splits: dict[int, dict[int, list[SplitInput]]]
    work: bool
    more: bool
    final: bool


class JobSources:
    """The sources of one run of a job, by the index of their operator, from the positions that the journal has.

    Contract: as that of `SourceCoordinator`, for all of them at once. `reports` are those of all subtasks of an epoch.
    """

    def __init__(self, sources: Mapping[int, Source[Any]], plan: Plan, journal: Journal) -> None:
        self._ids = {index: plan.operators[index].id for index in sources}
        self._coordinators = {
            index: SourceCoordinator(
                plan.operators[index].who,
                source,
                plan.operators[index].parallelism,
                journal.positions(operator_id := self._ids[index]),
                journal.finished_splits(operator_id),
            )
            for index, source in sources.items()
        }

    def plan(self, budget: int | None, now: Moment) -> EpochInput:
        """Propose ranges of at most about `budget` records of each source; see `SourceCoordinator.plan`."""
        plans = {
            index: coordinator.plan(budget, now.processing, now.steady)
            for index, coordinator in self._coordinators.items()
        }
        final = all(plan.ends or self._coordinators[index].ended for index, plan in plans.items())
        return _input(plans, final)

    def rest(self) -> EpochInput:
        """Plan the last epoch of a job that is drained: it reads nothing, and ends all splits where they are."""
        plans = {index: coordinator.rest() for index, coordinator in self._coordinators.items()}
        return _input(plans, final=True)

    def positions(self, reports: Iterable[SubtaskReport]) -> dict[str, Positions]:
        """Return each source's positions after an epoch, by the id of its operator, for the manifest."""
        splits = self._splits(reports)
        return {
            self._ids[index]: coordinator.snapshot(splits[index])
            for index, coordinator in self._coordinators.items()
        }

    def committed(self, reports: Iterable[SubtaskReport]) -> int:
        """Advance to the positions of a committed epoch; return the number of records it read."""
        splits = self._splits(reports)
        return sum(coordinator.committed(splits[index]) for index, coordinator in self._coordinators.items())

    def watermark(self, reports: Iterable[SubtaskReport]) -> int | None:
        """Return the lowest watermark of all sources after an epoch; None before the first and after the last."""
        marks = [report.watermark for report in reports if report.operator in self._coordinators]
        lowest = min(marks, default=MIN_WATERMARK)
        return lowest if MIN_WATERMARK < lowest < MAX_WATERMARK else None

    def _splits(self, reports: Iterable[SubtaskReport]) -> dict[int, list[SplitReport]]:
        splits: dict[int, list[SplitReport]] = {index: [] for index in self._coordinators}
        for report in reports:
            if report.splits:
                splits[report.operator].extend(report.splits)
        return splits


def _input(plans: dict[int, SourcePlan], final: bool) -> EpochInput:
    return EpochInput(
        {index: plan.inputs for index, plan in plans.items()},
        any(plan.work for plan in plans.values()),
        any(plan.more for plan in plans.values()),
        final,
    )
