"""Intervals: of years and months, and of days down to fractions of a second."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.roots import LogicalTypeRoot


class IntervalField(Enum):
    """A unit of an interval, from the largest to the smallest."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3
    MINUTE = 4
    SECOND = 5


_YEAR, _MONTH, _DAY, _SECOND = (IntervalField[name] for name in ("YEAR", "MONTH", "DAY", "SECOND"))


@dataclass(frozen=True)
class YearMonthIntervalType(LogicalType):
    """A number of months, shown as the units from `start` to `end` (YEAR, MONTH).

    `year_precision` is the number of digits of the years, from 1 to 4.

    >>> str(YearMonthIntervalType(IntervalField.YEAR, IntervalField.MONTH))
    'INTERVAL YEAR(2) TO MONTH'
    """

    root = LogicalTypeRoot.INTERVAL_YEAR_MONTH
    start: IntervalField
    end: IntervalField
    year_precision: int = 2

    def __post_init__(self) -> None:
        self._require(
            _YEAR.value <= self.start.value <= self.end.value <= _MONTH.value,
            "the units YEAR, MONTH or YEAR TO MONTH",
            f"{self.start.name} TO {self.end.name}",
        )
        self._require(
            1 <= self.year_precision <= 4,
            "a precision of years between 1 and 4 (both inclusive)",
            self.year_precision,
        )
        self._require(
            self.start is _YEAR or self.year_precision == 2,
            "the precision of years to be 2 if it has no years",
            self.year_precision,
        )

    @property
    def is_single_field(self) -> bool:
        """Return whether the interval has one unit only."""
        return self.start is self.end

    def _text(self, *, serializable: bool) -> str:
        precisions = {_YEAR: self.year_precision}
        return _interval_text(self.start, self.end, precisions)


@dataclass(frozen=True)
class DayTimeIntervalType(LogicalType):
    """A number of milliseconds, shown as the units from `start` to `end` (DAY, HOUR, MINUTE, SECOND).

    `day_precision` is the number of digits of the days, from 1 to 6; `fractional_precision` the number of digits of a
    second's fraction, from 0 to 9.

    >>> str(DayTimeIntervalType(IntervalField.DAY, IntervalField.SECOND, fractional_precision=3))
    'INTERVAL DAY(2) TO SECOND(3)'
    """

    root = LogicalTypeRoot.INTERVAL_DAY_TIME
    start: IntervalField
    end: IntervalField
    day_precision: int = 2
    fractional_precision: int = 6

    def __post_init__(self) -> None:
        self._require(
            _DAY.value <= self.start.value <= self.end.value <= _SECOND.value,
            "units from DAY to SECOND, the larger one first",
            f"{self.start.name} TO {self.end.name}",
        )
        self._require(
            1 <= self.day_precision <= 6,
            "a precision of days between 1 and 6 (both inclusive)",
            self.day_precision,
        )
        self._require(
            0 <= self.fractional_precision <= 9,
            "a fractional precision between 0 and 9 (both inclusive)",
            self.fractional_precision,
        )
        self._require(
            self.start is _DAY or self.day_precision == 2,
            "the precision of days to be 2 if it has no days",
            self.day_precision,
        )
        self._require(
            self.end is _SECOND or self.fractional_precision == 6,
            "the fractional precision to be 6 if it has no seconds",
            self.fractional_precision,
        )

    @property
    def is_single_field(self) -> bool:
        """Return whether the interval has one unit only."""
        return self.start is self.end

    def _text(self, *, serializable: bool) -> str:
        precisions = {_DAY: self.day_precision, _SECOND: self.fractional_precision}
        return _interval_text(self.start, self.end, precisions)


def _interval_text(start: IntervalField, end: IntervalField, precisions: dict[IntervalField, int]) -> str:
    fields = [start] if start is end else [start, end]
    texts = [f"{unit.name}({precisions[unit]})" if unit in precisions else unit.name for unit in fields]
    return f"INTERVAL {' TO '.join(texts)}"
