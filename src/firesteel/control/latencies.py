"""How long markers of latency took from a source to an operator, and until the output behind it was visible."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from firesteel.runtime.plan import Plan, SubtaskReport

_KEPT: Final = 128
"""The last markers that a histogram is made of, as Flink's."""

QUANTILES: Final = {"median": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class Latencies:
    """The last latencies (milliseconds) from each source to each operator."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sinks = {spec.index for spec in plan.operators if not _has_readers(plan, spec.index)}
        self._arrived: dict[tuple[int, int], deque[int]] = {}
        self._visible: dict[tuple[int, int], deque[int]] = {}

    def add(self, reports: Iterable[SubtaskReport], published_at: int) -> None:
        """Add what came in an epoch whose output has become visible at that time (milliseconds)."""
        for report in reports:
            for marker, arrived_at in report.usage.arrivals:
                way = (report.operator, marker.operator)
                self._note(self._arrived, way, arrived_at - marker.marked_at)
                if report.operator in self._sinks:
                    self._note(self._visible, way, published_at - marker.marked_at)

    def of(self, operator: int) -> Iterator[tuple[str, float]]:
        """Yield the metrics of an operator: for each source, the numbers of the histogram."""
        for kind, found in (("latency", self._arrived), ("visibleLatency", self._visible)):
            for (target, source), values in found.items():
                if target == operator:
                    scope = f"source_id.{self._plan.operators[source].id}.{kind}"
                    yield from ((f"{scope}_{name}", value) for name, value in histogram(values))

    @staticmethod
    def _note(found: dict[tuple[int, int], deque[int]], way: tuple[int, int], took: int) -> None:
        # Clocks of two machines may differ by more than the way takes.
        found.setdefault(way, deque(maxlen=_KEPT)).append(max(0, took))


def histogram(values: Iterable[float]) -> Iterator[tuple[str, float]]:
    """Yield the numbers that Flink gives of a histogram.

    >>> dict(histogram([3, 1, 2]))["median"], dict(histogram([3, 1, 2]))["max"]
    (2, 3)
    """
    ordered = sorted(values)
    if not ordered:
        return
    yield "min", ordered[0]
    yield "max", ordered[-1]
    yield "mean", sum(ordered) / len(ordered)
    for name, part in QUANTILES.items():
        yield name, ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def _has_readers(plan: Plan, operator: int) -> bool:
    return any(edge.source == operator for edge in plan.edges)
