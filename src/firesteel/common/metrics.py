"""Metrics that functions register and update (PyFlink: pyflink.metrics).

Plain objects without locks: a metric belongs to one operator subtask, which runs in one thread. The runtime reads them
with `collect` when it reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from firesteel.common.errors import ProgramError

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class Metric(ABC):
    """What all metrics have in common: they can be read as numbers by name."""

    __slots__ = ()

    @abstractmethod
    def readings(self) -> dict[str, float]:
        """The metric's numbers; the empty name stands for the metric itself."""


class Counter(Metric):
    """A count that goes up and down."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Add `n`."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Subtract `n`."""
        self._count -= n

    def get_count(self) -> int:
        """The count."""
        return self._count

    def readings(self) -> dict[str, float]:
        """The count."""
        return {"": self._count}


class Meter(Metric):
    """A count of events; `time_span_in_seconds` is over how long a reader should average it."""

    __slots__ = ("_count", "time_span_in_seconds")

    def __init__(self, time_span_in_seconds: int = 60) -> None:
        self._count = 0
        self.time_span_in_seconds = time_span_in_seconds

    def mark_event(self, value: int = 1) -> None:
        """Note that `value` events happened."""
        self._count += value

    def get_count(self) -> int:
        """How many events happened."""
        return self._count

    def readings(self) -> dict[str, float]:
        """How many events happened."""
        return {"": self._count}


class Distribution(Metric):
    """Count, sum, least and greatest of the numbers it was given."""

    __slots__ = ("_count", "_max", "_min", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._sum: float = 0
        self._min: float = 0
        self._max: float = 0

    def update(self, value: float) -> None:
        """Take note of a number."""
        self._min = min(self._min, value) if self._count else value
        self._max = max(self._max, value) if self._count else value
        self._count += 1
        self._sum += value

    def readings(self) -> dict[str, float]:
        """Count, sum, least and greatest; the count alone while there are no numbers."""
        if not self._count:
            return {".count": 0}
        return {".count": self._count, ".sum": self._sum, ".min": self._min, ".max": self._max}


class _Gauge(Metric):
    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    def readings(self) -> dict[str, float]:
        return {"": self._read()}


M = TypeVar("M", bound=Metric)


class MetricGroup:
    """A named container of metrics and further groups; asking for a name again gives the same metric.

    `scope` is where the group stands: job, operator, subtask. Raises ProgramError if a name is taken by a metric of
    another kind.

    >>> group = MetricGroup(["job", "map", "0"])
    >>> group.add_group("parser").counter("errors").inc(2)
    >>> group.collect()
    {'parser.errors': 2}
    """

    def __init__(self, scope: Sequence[str] = ()) -> None:
        self.scope = tuple(scope)
        self._metrics: dict[str, Metric] = {}
        self._groups: dict[str, MetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """The group of this name within this one; with `extra`, the group of that name within it."""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = MetricGroup((*self.scope, name))
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> Counter:
        """The counter of this name."""
        return self._registered(name, Counter, Counter)

    def gauge(self, name: str, obj: Callable[[], float]) -> None:
        """Read a number from `obj` whenever metrics are reported; the last one registered counts."""
        if not callable(obj):
            raise ProgramError(
                "requires a callable without arguments",
                who=f"gauge {name!r}",
                got=f"{type(obj).__name__}: {obj!r}",
            )
        self._registered(name, _Gauge, lambda: _Gauge(obj))
        self._metrics[name] = _Gauge(obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """The meter of this name."""
        return self._registered(name, Meter, lambda: Meter(time_span_in_seconds))

    def distribution(self, name: str) -> Distribution:
        """The distribution of this name."""
        return self._registered(name, Distribution, Distribution)

    def collect(self) -> dict[str, float]:
        """All readings of the group and those within it; names are joined by dots."""
        readings = {
            name + part: reading
            for name, metric in self._metrics.items()
            for part, reading in metric.readings().items()
        }
        for name, group in self._groups.items():
            readings.update({f"{name}.{inner}": reading for inner, reading in group.collect().items()})
        return readings

    def _registered(self, name: str, kind: type[M], make: Callable[[], Any]) -> M:
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = make()
        if not isinstance(metric, kind):
            raise ProgramError(
                f"requires a name no other metric has for a {kind.__name__.strip('_').lower()}",
                who=f"metric {name!r}",
                got=f"a {type(metric).__name__.strip('_').lower()} of that name",
            )
        return metric
