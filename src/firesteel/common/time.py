"""Durations, points in time, and the range of event time. All are plain Python and picklable."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ProgramError

__all__ = ["MAX_WATERMARK", "MIN_WATERMARK", "Duration", "Instant", "Time"]

MIN_WATERMARK: Final = -(2**63)
"""The watermark before any event, in milliseconds (Java: Long.MIN_VALUE)."""

MAX_WATERMARK: Final = 2**63 - 1
"""The watermark after the last event of a bounded stream, in milliseconds (Java: Long.MAX_VALUE)."""

_NANOS_PER_MILLI: Final = 1_000_000
_NANOS_PER_SECOND: Final = 1_000_000_000


def _whole(amount: int, who: str) -> int:
    if not isinstance(amount, int) or isinstance(amount, bool):
        raise ProgramError(
            "requires a whole number",
            who=who,
            got=f"{type(amount).__name__}: {amount!r}",
            hint="use a smaller unit, such as Duration.of_millis(1500) for 1.5 seconds",
        )
    return amount


class Duration:
    """An amount of time with nanosecond precision (Java: java.time.Duration).

    Create it with the `of_*` methods. Each takes a whole number and raises ProgramError for anything else.

    >>> Duration.of_seconds(2).to_millis()
    2000
    >>> Duration.of_minutes(1) == Duration.of_seconds(60)
    True
    """

    __slots__ = ("_nanos",)

    def __init__(self, nanos: int) -> None:
        self._nanos = _whole(nanos, "Duration")

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return a duration of `days` days of 24 hours."""
        return Duration(_whole(days, "Duration.of_days") * 86_400 * _NANOS_PER_SECOND)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return a duration of `hours` hours."""
        return Duration(_whole(hours, "Duration.of_hours") * 3_600 * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return a duration of `millis` milliseconds."""
        return Duration(_whole(millis, "Duration.of_millis") * _NANOS_PER_MILLI)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return a duration of `minutes` minutes."""
        return Duration(_whole(minutes, "Duration.of_minutes") * 60 * _NANOS_PER_SECOND)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of `nanos` nanoseconds."""
        return Duration(_whole(nanos, "Duration.of_nanos"))

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return a duration of `seconds` seconds."""
        return Duration(_whole(seconds, "Duration.of_seconds") * _NANOS_PER_SECOND)

    def to_millis(self) -> int:
        """Return the duration in whole milliseconds, truncated towards zero (Java: Duration.toMillis).

        >>> Duration.of_nanos(1_999_999).to_millis()
        1
        """
        millis = abs(self._nanos) // _NANOS_PER_MILLI
        return millis if self._nanos >= 0 else -millis

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self._nanos == other._nanos

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __repr__(self) -> str:
        if self._nanos % _NANOS_PER_MILLI:
            return f"Duration.of_nanos({self._nanos})"
        return f"Duration.of_millis({self.to_millis()})"


class Instant:
    """A point on the time line: seconds since the epoch (UTC) and the nanoseconds within that second.

    >>> Instant.of_epoch_milli(1500)
    Instant<1, 500000000>
    >>> Instant.of_epoch_milli(-1).to_epoch_milli()
    -1
    """

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Return the milliseconds since the epoch, rounded down (Java: Instant.toEpochMilli)."""
        return self.seconds * 1000 + self.nanos // _NANOS_PER_MILLI

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant that many milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and self.seconds == other.seconds and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """A length of time in milliseconds, the unit of windows and triggers.

    >>> Time.minutes(2).to_milliseconds()
    120000
    >>> str(Time.seconds(5))
    '5000 ms'
    """

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return the length in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return a length of time in milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return a length of time in seconds."""
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return a length of time in minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return a length of time in hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return a length of time in days of 24 hours."""
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash(self._milliseconds)

    def __repr__(self) -> str:
        return f"Time.milliseconds({self._milliseconds})"

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"
