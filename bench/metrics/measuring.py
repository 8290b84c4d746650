"""Switches measuring off and on again, in the driver's process and in those of the workers.

Firesteel has no such option. What measures is replaced, for the whole process, by something that does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.common.metrics import MetricGroup, Reading
from firesteel.control.metrics import Metrics
from firesteel.control.turn import Turn
from firesteel.runtime import task
from firesteel.runtime.plan import SubtaskReport
from firesteel.runtime.subtask import LiveSubtask
from firesteel.runtime.usage import Stopwatch, Usage
from firesteel.state.live.durable import StoreUse

_UNUSED: Final = StoreUse(0)


class StillMeasuredError(Exception):
    """Raised in a job without measuring if its workers have measured something."""


def _same_owner(_watch: Stopwatch, owner: Usage) -> Usage:
    return owner


def _no_readings(_group: MetricGroup) -> dict[str, Reading]:
    return {}


def _unmeasured(subtask: LiveSubtask) -> Usage:
    return subtask.usage


def _unused(_state: CheckpointedState, _address: object) -> StoreUse:
    return _UNUSED


def _nothing(*_arguments: object) -> None:
    return None


def _checked(_metrics: Metrics, _epoch: int, reports: Sequence[SubtaskReport], _now: int) -> None:
    if any(report.usage.busy_ns or report.metrics for report in reports):
        raise StillMeasuredError("the workers still measure")


_Replaced = tuple[Any, str, Callable[..., Any], Callable[..., Any]]


def _replaced(owner: Any, name: str, idle: Callable[..., Any]) -> _Replaced:
    return owner, name, vars(owner)[name], idle


_OF_WORKERS: Final = (
    _replaced(Stopwatch, "switch", _same_owner),
    _replaced(MetricGroup, "take", _no_readings),
    _replaced(LiveSubtask, "_measured", _unmeasured),
    _replaced(CheckpointedState, "use_of", _unused),
    _replaced(task, "worker_usage", _nothing),
)
_OF_DRIVER: Final = (
    _replaced(Metrics, "add", _checked),
    *(_replaced(Metrics, name, _nothing) for name in ("published", "made_way", "carried_out", "view")),
    _replaced(Turn, "figures", _nothing),
)


def workers_measure() -> None:
    """Have this process measure the tasks that it runs from now on: the setup of a worker."""
    for owner, name, measuring, _ in _OF_WORKERS:
        setattr(owner, name, measuring)


def workers_do_not_measure() -> None:
    """Have this process measure nothing of the tasks that it runs from now on: the setup of a worker."""
    for owner, name, _, idle in _OF_WORKERS:
        setattr(owner, name, idle)


@contextmanager
def driver_without_metrics() -> Iterator[None]:
    """Keep no metrics of the jobs of this process that run in this context; their workers must not measure, either."""
    for owner, name, _, idle in _OF_DRIVER:
        setattr(owner, name, idle)
    try:
        yield
    finally:
        for owner, name, measuring, _ in _OF_DRIVER:
            setattr(owner, name, measuring)
