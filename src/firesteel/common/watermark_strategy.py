"""How a stream gets its timestamps and watermarks (Flink: org.apache.flink.api.common.eventtime)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.time import MIN_WATERMARK, Duration

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "BoundedOutOfOrdernessWatermarks",
    "MonotonousTimestampsWatermarks",
    "TimestampAssigner",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]


class WatermarkOutput(ABC):
    """The receiver of a watermark generator's reports."""

    @abstractmethod
    def emit_watermark(self, watermark: int) -> None:
        """Report that no more events with a timestamp at or before `watermark` (milliseconds) are expected.

        A watermark that is not greater than the previous one has no effect.
        """

    @abstractmethod
    def mark_idle(self) -> None:
        """Report that no events are expected for now, so that others need not wait; the next watermark ends this."""

    @abstractmethod
    def mark_active(self) -> None:
        """Report that the source is no longer idle."""


class WatermarkGenerator(ABC):
    """Derives watermarks from the events of one source split.

    Contract: `on_event` is called for each event in order, `on_periodic_emit` from time to time and after the last
    event of an epoch. A generator's attributes are part of the job's state, so they must be picklable.
    """

    @abstractmethod
    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        """Record an event and its timestamp (milliseconds)."""

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark that the events so far allow, if any."""


class BoundedOutOfOrdernessWatermarks(WatermarkGenerator):
    """Watermarks that trail the greatest timestamp by a fixed delay (Flink: BoundedOutOfOrdernessWatermarks).

    The watermark is one millisecond less than the greatest timestamp minus the delay. A caller that has a whole block
    of events may set `max_timestamp` to their greatest timestamp instead of calling `on_event` for each.

    >>> generator = BoundedOutOfOrdernessWatermarks(1000)
    >>> generator.max_timestamp = 5000
    >>> generator.watermark
    3999
    """

    __slots__ = ("max_timestamp", "out_of_orderness")

    def __init__(self, out_of_orderness: int) -> None:
        self.out_of_orderness = out_of_orderness
        self.max_timestamp = MIN_WATERMARK + out_of_orderness + 1

    @property
    def watermark(self) -> int:
        """The watermark that the events so far allow, in milliseconds; MIN_WATERMARK before the first event."""
        return self.max_timestamp - self.out_of_orderness - 1

    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        """Keep the greatest timestamp."""
        self.max_timestamp = max(self.max_timestamp, timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the watermark."""
        output.emit_watermark(self.watermark)


class MonotonousTimestampsWatermarks(BoundedOutOfOrdernessWatermarks):
    """Watermarks right behind the greatest timestamp (Flink: AscendingTimestampsWatermarks)."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0)


class TimestampAssigner(ABC):
    """Gives each element its event time."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the element's timestamp in milliseconds since the epoch.

        `record_timestamp` is its previous timestamp, MIN_WATERMARK if it had none.
        """


@dataclass(frozen=True, slots=True)
class _BoundedFactory:
    out_of_orderness: int

    def __call__(self) -> WatermarkGenerator:
        return BoundedOutOfOrdernessWatermarks(self.out_of_orderness)


_MONOTONOUS: Callable[[], WatermarkGenerator] = MonotonousTimestampsWatermarks


@dataclass(frozen=True)
class WatermarkStrategy:
    """Determines the timestamps of elements, the watermarks, and when a source counts as idle.

    Create it with `for_monotonous_timestamps`, `for_bounded_out_of_orderness`, `for_generator` or `no_watermarks`; each
    `with_*` returns a new strategy. `generator_factory` creates a WatermarkGenerator per source split (None: no
    watermarks), `timestamp_assigner` is an object with `extract_timestamp` or None, `idle_timeout` is milliseconds or
    None.

    >>> strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).with_idleness(
    ...     Duration.of_minutes(1))
    >>> strategy.idle_timeout, strategy.generator_factory().out_of_orderness
    (60000, 5000)
    """

    generator_factory: Callable[[], WatermarkGenerator] | None = None
    timestamp_assigner: TimestampAssigner | None = None
    idle_timeout: int | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return a strategy for timestamps that never decrease."""
        return WatermarkStrategy(_MONOTONOUS)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Return a strategy for events that come at most `max_out_of_orderness` after a later event.

        Raises ProgramError for a negative duration, or if it is not a Duration.
        """
        delay = _millis(max_out_of_orderness, "for_bounded_out_of_orderness")
        if delay < 0:
            raise ProgramError(
                "requires a duration that is not negative",
                who="WatermarkStrategy.for_bounded_out_of_orderness",
                got=f"{max_out_of_orderness!r}",
            )
        return WatermarkStrategy(_BoundedFactory(delay))

    @staticmethod
    def for_generator(generator_factory: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Return a strategy with your own generators: `generator_factory` (a class, say) creates one per source split.

        Flink: WatermarkStrategy.forGenerator, which PyFlink lacks. Raises ProgramError if the factory cannot be called.
        """
        if not callable(generator_factory):
            raise ProgramError(
                "requires a callable that returns a WatermarkGenerator",
                who="WatermarkStrategy.for_generator",
                got=f"{type(generator_factory).__name__}: {generator_factory!r}",
                hint="pass the class, not an instance of it",
            )
        return WatermarkStrategy(generator_factory)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return a strategy without watermarks, for programs in processing time."""
        return WatermarkStrategy()

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Return the strategy with timestamps from `timestamp_assigner`.

        Raises ProgramError if the assigner has no method `extract_timestamp`.
        """
        if not callable(getattr(timestamp_assigner, "extract_timestamp", None)):
            raise ProgramError(
                "requires a TimestampAssigner",
                who="WatermarkStrategy.with_timestamp_assigner",
                got=f"{type(timestamp_assigner).__name__}: {timestamp_assigner!r}",
                hint="derive a class from TimestampAssigner and pass an instance of it",
            )
        return replace(self, timestamp_assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Return the strategy in which a source split without events for `idle_timeout` does not hold back the others.

        Setting the machine's clock does not change when that is. When a job resumes, the timeout begins again. Raises
        ProgramError for a duration that is not positive, or if it is not a Duration.
        """
        timeout = _millis(idle_timeout, "with_idleness")
        if timeout <= 0:
            raise ProgramError(
                "requires a duration of at least one millisecond",
                who="WatermarkStrategy.with_idleness",
                got=f"{idle_timeout!r}",
            )
        return replace(self, idle_timeout=timeout)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Not available: raises UnsupportedError."""
        del watermark_group, max_allowed_watermark_drift, update_interval
        raise UnsupportedError(
            "is not available",
            who="WatermarkStrategy.with_watermark_alignment",
            got="no way to pause a source within an epoch",
            hint="leave it out: windows give the same results, sources that run ahead take more state",
        )


def _millis(duration: Duration, method: str) -> int:
    if not isinstance(duration, Duration):
        raise ProgramError(
            "requires a Duration",
            who=f"WatermarkStrategy.{method}",
            got=f"{type(duration).__name__}: {duration!r}",
            hint="such as Duration.of_seconds(5)",
        )
    return duration.to_millis()


class AssignerWithPeriodicWatermarksWrapper:
    """PyFlink's wrapper of an assigner written in Java; the constructor raises UnsupportedError."""

    def __init__(self, j_assigner_with_periodic_watermarks: Any) -> None:
        del j_assigner_with_periodic_watermarks
        raise UnsupportedError(
            "is not available",
            who="AssignerWithPeriodicWatermarksWrapper",
            got="no JVM object behind it",
            hint="use WatermarkStrategy.for_generator with a WatermarkGenerator in Python",
        )
