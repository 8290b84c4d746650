"""Functions of times, and intervals."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.sql.binding.types import MILLISECONDS, MONTHS
from firesteel.table.expressing.operand import Operand, given
from firesteel.table.expressing.tree import Value
from firesteel.table.types import DataTypes

if TYPE_CHECKING:
    from firesteel.table.expressing.words import TimeIntervalUnit
    from firesteel.table.expression import Expression


class Times(Operand):
    """Times, intervals, and the times of windows."""

    @property
    def to_date(self) -> Expression[Any]:
        """Return the text as a DATE."""
        return self._call("cast", DataTypes.DATE())

    @property
    def to_time(self) -> Expression[Any]:
        """Return the text as a TIME."""
        return self._call("cast", DataTypes.TIME())

    @property
    def to_timestamp(self) -> Expression[Any]:
        """Return the text as a TIMESTAMP(3)."""
        return self._call("cast", DataTypes.TIMESTAMP(3))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression[int]:
        """Return a part of a time, such as its year."""
        return self._after("extract", time_interval_unit)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        """Return the next whole number, or the beginning of a unit of time, at or below."""
        return self._call("floor", *given(time_interval_unit))

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        """Return the next whole number, or the beginning of a unit of time, at or above."""
        return self._call("ceil", *given(time_interval_unit))

    @property
    def rowtime(self) -> Expression[Any]:
        """Return the event time of a window."""
        return self._call("rowtime")

    @property
    def proctime(self) -> Expression[Any]:
        """Return the processing time of a window."""
        return self._call("proctime")

    @property
    def start(self) -> Expression[Any]:
        """Return when a window begins."""
        return self._call("start")

    @property
    def end(self) -> Expression[Any]:
        """Return when a window ends, which is no part of it."""
        return self._call("end")

    @property
    def year(self) -> Expression[Any]:
        """Return an interval of years; the value is a whole number."""
        return self._months(12, "year")

    @property
    def years(self) -> Expression[Any]:
        """Return an interval of years; the value is a whole number."""
        return self._months(12, "years")

    @property
    def quarter(self) -> Expression[Any]:
        """Return an interval of quarters; the value is a whole number."""
        return self._months(3, "quarter")

    @property
    def quarters(self) -> Expression[Any]:
        """Return an interval of quarters; the value is a whole number."""
        return self._months(3, "quarters")

    @property
    def month(self) -> Expression[Any]:
        """Return an interval of months; the value is a whole number."""
        return self._months(1, "month")

    @property
    def months(self) -> Expression[Any]:
        """Return an interval of months; the value is a whole number."""
        return self._months(1, "months")

    @property
    def week(self) -> Expression[Any]:
        """Return an interval of weeks; the value is a whole number."""
        return self._span(dt.timedelta(weeks=1), "week")

    @property
    def weeks(self) -> Expression[Any]:
        """Return an interval of weeks; the value is a whole number."""
        return self._span(dt.timedelta(weeks=1), "weeks")

    @property
    def day(self) -> Expression[Any]:
        """Return an interval of days; the value is a whole number."""
        return self._span(dt.timedelta(days=1), "day")

    @property
    def days(self) -> Expression[Any]:
        """Return an interval of days; the value is a whole number."""
        return self._span(dt.timedelta(days=1), "days")

    @property
    def hour(self) -> Expression[Any]:
        """Return an interval of hours; the value is a whole number."""
        return self._span(dt.timedelta(hours=1), "hour")

    @property
    def hours(self) -> Expression[Any]:
        """Return an interval of hours; the value is a whole number."""
        return self._span(dt.timedelta(hours=1), "hours")

    @property
    def minute(self) -> Expression[Any]:
        """Return an interval of minutes; the value is a whole number."""
        return self._span(dt.timedelta(minutes=1), "minute")

    @property
    def minutes(self) -> Expression[Any]:
        """Return an interval of minutes; the value is a whole number."""
        return self._span(dt.timedelta(minutes=1), "minutes")

    @property
    def second(self) -> Expression[Any]:
        """Return an interval of seconds; the value is a whole number."""
        return self._span(dt.timedelta(seconds=1), "second")

    @property
    def seconds(self) -> Expression[Any]:
        """Return an interval of seconds; the value is a whole number."""
        return self._span(dt.timedelta(seconds=1), "seconds")

    @property
    def milli(self) -> Expression[Any]:
        """Return an interval of millis; the value is a whole number."""
        return self._span(dt.timedelta(milliseconds=1), "milli")

    @property
    def millis(self) -> Expression[Any]:
        """Return an interval of millis; the value is a whole number."""
        return self._span(dt.timedelta(milliseconds=1), "millis")

    def _months(self, months: int, unit: str) -> Expression[Any]:
        return self._made(Value(self._whole(unit) * months, MONTHS.copy(nullable=False)))

    def _span(self, length: dt.timedelta, unit: str) -> Expression[Any]:
        return self._made(Value(self._whole(unit) * length, MILLISECONDS.copy(nullable=False)))

    def _whole(self, unit: str) -> int:
        """Return the number that the value is; raises ProgramError for anything but a whole constant."""
        tree = self._tree
        if isinstance(tree, Value) and isinstance(tree.value, int) and not isinstance(tree.value, bool):
            return tree.value
        raise ProgramError(
            "requires a whole number, as a constant",
            who=call_site(unit),
            got=str(tree),
            hint=f"e.g. lit(5).{unit}",
        )
