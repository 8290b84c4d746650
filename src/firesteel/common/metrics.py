"""Metrics that functions register and update (PyFlink: pyflink.metrics).

Plain objects without locks: a metric belongs to one operator subtask, which runs in one thread. When an epoch ends, the
runtime takes a reading of each metric (`MetricGroup.take`). The driver adds the readings up once the epoch is
committed, so a failed epoch counts nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from firesteel.common.errors import ProgramError

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup", "Reading"]

Kind = Literal["counter", "meter", "distribution", "gauge"]


class Reading(NamedTuple):
    """One measurement of a metric.

    `numbers` is the count of a counter; the count and the time span in seconds of a meter; count, sum, least and
    greatest of a distribution; the value of a gauge.

    >>> Reading("distribution", (2, 7, 3, 4)).plus(Reading("distribution", (1, 9, 9, 9)))
    Reading(kind='distribution', numbers=(3, 16, 3, 9))
    """

    kind: Kind
    numbers: tuple[float, ...]

    def plus(self, later: Reading) -> Reading:
        """Return both readings combined; of two gauges, and of two different kinds, the later one applies."""
        if later.kind != self.kind or later.kind == "gauge":
            return later
        if later.kind == "distribution":
            return Reading("distribution", _together(self.numbers, later.numbers))
        count, *span = later.numbers
        return Reading(later.kind, (self.numbers[0] + count, *span))


def _together(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    if not (one[0] and other[0]):
        return one if one[0] else other
    return one[0] + other[0], one[1] + other[1], min(one[2], other[2]), max(one[3], other[3])


class Metric(ABC):
    """The base of all metrics: the runtime takes readings of them."""

    __slots__ = ()

    @abstractmethod
    def take(self) -> Reading | None:
        """Return the reading since the last call; None if nothing was measured, except on the first call."""


class Counter(Metric):
    """A count that goes up and down."""

    __slots__ = ("_count", "_taken")

    def __init__(self) -> None:
        self._count = 0
        self._taken: int | None = None

    def inc(self, n: int = 1) -> None:
        """Add `n`."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Subtract `n`."""
        self._count -= n

    def get_count(self) -> int:
        """Return the count of this object; a subtask that moves to another worker gets a new one."""
        return self._count

    def take(self) -> Reading | None:
        """Return the change of the count since the last call."""
        taken, self._taken = self._taken, self._count
        return None if taken == self._count else Reading("counter", (self._count - (taken or 0),))


class Meter(Metric):
    """A count of events, and their rate per second over the last `time_span_in_seconds`."""

    __slots__ = ("_count", "_taken", "time_span_in_seconds")

    def __init__(self, time_span_in_seconds: int = 60) -> None:
        self._count = 0
        self._taken: int | None = None
        self.time_span_in_seconds = time_span_in_seconds

    def mark_event(self, value: int = 1) -> None:
        """Count `value` events."""
        self._count += value

    def get_count(self) -> int:
        """Return the count of this object; a subtask that moves to another worker gets a new one."""
        return self._count

    def take(self) -> Reading | None:
        """Return the number of events since the last call, and the time span."""
        taken, self._taken = self._taken, self._count
        if taken == self._count:
            return None
        return Reading("meter", (self._count - (taken or 0), self.time_span_in_seconds))


class Distribution(Metric):
    """Count, sum, least and greatest of the numbers passed to it."""

    __slots__ = ("_count", "_max", "_min", "_sum", "_taken")

    _count: int
    _sum: float
    _min: float
    _max: float

    def __init__(self) -> None:
        self._taken = False
        self._clear()

    def update(self, value: float) -> None:
        """Add a number to the distribution."""
        self._min = min(self._min, value) if self._count else value
        self._max = max(self._max, value) if self._count else value
        self._count += 1
        self._sum += value

    def take(self) -> Reading | None:
        """Return count, sum, least and greatest, and start again."""
        if self._taken and not self._count:
            return None
        numbers = self._count, self._sum, self._min, self._max
        self._taken = True
        self._clear()
        return Reading("distribution", numbers)

    def _clear(self) -> None:
        self._count = 0
        self._sum = self._min = self._max = 0


class _Gauge(Metric):
    __slots__ = ("_name", "_read", "_taken")

    def __init__(self, name: str, read: Callable[[], float]) -> None:
        self._name = name
        self._read = read
        self._taken: float | None = None

    def take(self) -> Reading | None:
        value = self._read()
        if not isinstance(value, int | float):
            raise ProgramError(
                f"requires gauge {self._name!r} to return a number",
                got=f"{type(value).__name__}: {value!r:.80}",
            )
        taken, self._taken = self._taken, value
        return None if taken == value else Reading("gauge", (value,))


M = TypeVar("M", bound=Metric)


class MetricGroup:
    """A named container of metrics and further groups; the same name always returns the same metric.

    `scope` is the place of the group: job, operator, subtask. Raises ProgramError if a name is taken by a metric of
    another kind.

    >>> group = MetricGroup(["job", "map", "0"])
    >>> group.add_group("parser").counter("errors").inc(2)
    >>> group.take()
    {'parser.errors': Reading(kind='counter', numbers=(2,))}
    >>> group.take()
    {}
    """

    def __init__(self, scope: Sequence[str] = ()) -> None:
        self.scope = tuple(scope)
        self._metrics: dict[str, Metric] = {}
        self._groups: dict[str, MetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group of this name within this one; with `extra`, the group of that name within it."""
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = MetricGroup((*self.scope, name))
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> Counter:
        """Return the counter of this name."""
        return self._registered(name, Counter, Counter)

    def gauge(self, name: str, obj: Callable[[], float]) -> None:
        """Read a number from `obj` at the end of each epoch; the last registered one applies.

        Raises ProgramError if `obj` cannot be called, and in the task if it does not return a number.
        """
        if not callable(obj):
            raise ProgramError(
                "requires a callable without arguments",
                who=f"gauge {name!r}",
                got=f"{type(obj).__name__}: {obj!r}",
            )
        self._registered(name, _Gauge, lambda: _Gauge(name, obj))
        self._metrics[name] = _Gauge(name, obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name."""
        return self._registered(name, Meter, lambda: Meter(time_span_in_seconds))

    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name."""
        return self._registered(name, Distribution, Distribution)

    def take(self) -> dict[str, Reading]:
        """Return the readings of the group's metrics, and of the groups within it, since the last call.

        Names are joined by dots. A metric that has measured nothing since is left out, except in its first reading.
        """
        readings = {}
        for name, metric in self._metrics.items():
            reading = metric.take()
            if reading is not None:
                readings[name] = reading
        for name, group in self._groups.items():
            readings.update({f"{name}.{inner}": reading for inner, reading in group.take().items()})
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
