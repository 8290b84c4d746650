"""Names what a job spends most of its time on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from firesteel.control.events import Command
from firesteel.control.views.metrics import Bottleneck, OperatorMetrics

_BUSY: Final = "busyTimeMsPerSecond"
_LITTLE: Final = 100
"""A job that waits for input for fewer milliseconds of each second is at its limit."""

_NAMES: Final = {
    Command.PLAN: "the planning of epochs",
    Command.DRAIN: "the planning of epochs",
    Command.COMMIT: "the commit of epochs",
    Command.PUBLISH: "the publication of output",
}


def bottleneck_of(
    operators: Sequence[OperatorMetrics], phases: Iterable[tuple[Command, float]], waiting: float
) -> Bottleneck | None:
    """Return the busiest subtask, or the phase on the driver if that takes longer; None if nothing was measured.

    `phases` and `waiting`, the time in which the job waits for input, are in milliseconds per second. The subtask
    counts that has most to do: with one key that has all records, the others do not help it.
    """
    at_limit = waiting < _LITTLE
    found = [*_subtasks(operators, at_limit), *_phases(phases, at_limit)]
    return max(found, key=lambda candidate: candidate.busy, default=None)


def _subtasks(operators: Sequence[OperatorMetrics], at_limit: bool) -> Iterator[Bottleneck]:
    for operator in operators:
        for metric in operator.metrics:
            if metric.name == _BUSY:
                for subtask, busy in enumerate(metric.subtasks):
                    if busy is not None:
                        yield Bottleneck(operator.name, busy, at_limit, operator.id, subtask)


def _phases(phases: Iterable[tuple[Command, float]], at_limit: bool) -> Iterator[Bottleneck]:
    for command, busy in phases:
        if command in _NAMES:
            yield Bottleneck(_NAMES[command], busy, at_limit)
