"""Dates, times of day and timestamps without a time zone (Flink: SqlTimeTypeInfo, LocalTimeTypeInfo)."""

# ruff: noqa: N802 - the factories have PyFlink's names

from __future__ import annotations

import datetime as dt
import time
from enum import Enum
from typing import Any, Final

from firesteel.common.typeinfo.information import Convert, TypeInformation, mismatch
from firesteel.common.typeinfo.java_text import local_time_text, sql_time_text, timestamp_text

_EPOCH: Final = dt.datetime(1970, 1, 1)
_EPOCH_DAY: Final = _EPOCH.toordinal()
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_NAMES: Final = {"date": dt.date, "time": dt.time, "datetime": dt.datetime}


def _date(value: Any) -> dt.date | None:
    if value is None:
        return None
    if isinstance(value, dt.date):
        return dt.date(value.year, value.month, value.day)
    raise mismatch("a datetime.date", value)


def _time_of(step: int) -> Convert:
    def convert(value: Any) -> dt.time | None:
        if value is None:
            return None
        if isinstance(value, (dt.time, dt.datetime)):
            microsecond = value.microsecond - value.microsecond % step
            return dt.time(value.hour, value.minute, value.second, microsecond)
        raise mismatch("a datetime.time", value)

    return convert


def _datetime_of(step: int) -> Convert:
    def convert(value: Any) -> dt.datetime | None:
        if value is None:
            return None
        if isinstance(value, dt.datetime):
            clock = (value.hour, value.minute, value.second, value.microsecond - value.microsecond % step)
            return dt.datetime(value.year, value.month, value.day, *clock)
        raise mismatch("a datetime.datetime", value)

    return convert


def _date_to_wire(value: dt.date | None) -> int | None:
    return None if value is None else value.toordinal()


def _date_from_wire(data: int | None) -> dt.date | None:
    return None if data is None else dt.date.fromordinal(data)


def _time_to_wire(value: dt.time | None) -> int | None:
    if value is None:
        return None
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def _time_from_wire(data: int | None) -> dt.time | None:
    return None if data is None else (_EPOCH + dt.timedelta(microseconds=data)).time()


def _datetime_to_wire(value: dt.datetime | None) -> int | None:
    return None if value is None else (value - _EPOCH) // _MICROSECOND


def _datetime_from_wire(data: int | None) -> dt.datetime | None:
    return None if data is None else _EPOCH + dt.timedelta(microseconds=data)


class _TemporalTypeInfo(TypeInformation):
    """The common part of the types of time: they are plain, take None, and name Python's datetime types."""

    _schema_name: str

    def _names(self) -> dict[str, Any]:
        return _NAMES

    def _identity(self) -> Any:
        return self._schema_name

    def schema(self) -> dict[str, Any]:
        """Return the type's name in Types, as a schema."""
        return {"type": self._schema_name}


class SqlTimeTypeInfo(_TemporalTypeInfo):
    """The types of SQL's dates and times; a time zone is dropped, the clock kept, as Flink's Python coders do it."""

    def need_conversion(self) -> bool:
        """Return True: dates and times are converted."""
        return True

    def __repr__(self) -> str:
        return type(self).__name__

    @staticmethod
    def DATE() -> DateTypeInfo:
        """Return the type of a date."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """Return the type of a time of day."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """Return the type of a date with a time of day."""
        return TimestampTypeInfo()


class DateTypeInfo(SqlTimeTypeInfo):
    """A datetime.date; a dt.datetime becomes its date."""

    EPOCH_ORDINAL = _EPOCH_DAY
    _schema_name = "SQL_DATE"

    def to_string(self, value: Any) -> str:
        """Return `2020-01-31`."""
        return "null" if value is None else value.isoformat()

    def _conforms(self, variable: str) -> str:
        return f"type({variable}) is date"

    def _converter(self) -> Convert:
        return _date

    def _to_wire(self) -> Convert:
        return _date_to_wire

    def _from_wire(self) -> Convert:
        return _date_from_wire

    def to_internal_type(self, obj: dt.date | None) -> int | None:
        """Return the days since the epoch."""
        return None if obj is None else obj.toordinal() - _EPOCH_DAY

    def from_internal_type(self, obj: int | None) -> dt.date | None:
        """Return the date that many days after the epoch."""
        return None if obj is None else dt.date.fromordinal(obj + _EPOCH_DAY)


class TimeTypeInfo(SqlTimeTypeInfo):
    """A dt.time with milliseconds; finer parts are cut off."""

    _schema_name = "SQL_TIME"

    def to_string(self, value: Any) -> str:
        """Return `23:59:59`, without the milliseconds."""
        return "null" if value is None else sql_time_text(value)

    def _conforms(self, variable: str) -> str:
        return (
            f"type({variable}) is time and {variable}.tzinfo is None and not {variable}.microsecond % 1000"
            f" and not {variable}.fold"
        )

    def _converter(self) -> Convert:
        return _time_of(1000)

    def _to_wire(self) -> Convert:
        return _time_to_wire

    def _from_wire(self) -> Convert:
        return _time_from_wire

    def to_internal_type(self, obj: dt.time | None) -> int | None:
        """Return the microseconds since midnight, in UTC if the time has a zone."""
        if obj is None:
            return None
        offset = obj.utcoffset() or dt.timedelta()
        micros: int = _time_to_wire(obj.replace(tzinfo=None)) or 0
        return micros - offset // _MICROSECOND

    def from_internal_type(self, obj: int | None) -> dt.time | None:
        """Return the time that many microseconds after midnight."""
        return _time_from_wire(obj)


class TimestampTypeInfo(SqlTimeTypeInfo):
    """A dt.datetime with milliseconds; finer parts are cut off."""

    _schema_name = "SQL_TIMESTAMP"

    def to_string(self, value: Any) -> str:
        """Return `2020-01-31 23:59:59.0`."""
        return "null" if value is None else timestamp_text(value)

    def _conforms(self, variable: str) -> str:
        return (
            f"type({variable}) is datetime and {variable}.tzinfo is None and not {variable}.microsecond % 1000"
            f" and not {variable}.fold"
        )

    def _converter(self) -> Convert:
        return _datetime_of(1000)

    def _to_wire(self) -> Convert:
        return _datetime_to_wire

    def _from_wire(self) -> Convert:
        return _datetime_from_wire

    def to_internal_type(self, obj: dt.datetime | None) -> int | None:
        """Return the microseconds since the epoch; a timestamp without a zone is local time."""
        if obj is None:
            return None
        seconds = obj.timestamp() if obj.tzinfo else time.mktime(obj.timetuple())
        return int(seconds // 1) * 1_000_000 + obj.microsecond

    def from_internal_type(self, obj: int | None) -> dt.datetime | None:
        """Return the local time that many microseconds after the epoch."""
        if obj is None:
            return None
        seconds, micros = divmod(obj, 1_000_000)
        return dt.datetime.fromtimestamp(seconds).replace(microsecond=micros)


class LocalTimeTypeInfo(_TemporalTypeInfo):
    """java.time's LocalDate, LocalTime and LocalDateTime as Python's date, time and datetime, with microseconds."""

    class TimeType(Enum):
        """Which of the three it is."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type
        self._schema_name = time_type.name

    def to_string(self, value: Any) -> str:
        """Return `2020-01-31`, `23:59` or `2020-01-31T23:59`."""
        if value is None:
            return "null"
        if self._time_type is LocalTimeTypeInfo.TimeType.LOCAL_DATE:
            return str(value.isoformat())
        if self._time_type is LocalTimeTypeInfo.TimeType.LOCAL_TIME:
            return local_time_text(value)
        return f"{value.date().isoformat()}T{local_time_text(value)}"

    def _conforms(self, variable: str) -> str:
        if self._time_type is LocalTimeTypeInfo.TimeType.LOCAL_DATE:
            return f"type({variable}) is date"
        kind = "time" if self._time_type is LocalTimeTypeInfo.TimeType.LOCAL_TIME else "datetime"
        return f"type({variable}) is {kind} and {variable}.tzinfo is None and not {variable}.fold"

    def _converter(self) -> Convert:
        return {"LOCAL_DATE": _date, "LOCAL_TIME": _time_of(1), "LOCAL_DATE_TIME": _datetime_of(1)}[
            self._schema_name
        ]

    def _to_wire(self) -> Convert:
        wires: dict[str, Convert] = {"LOCAL_DATE": _date_to_wire, "LOCAL_TIME": _time_to_wire}
        return wires.get(self._schema_name, _datetime_to_wire)

    def _from_wire(self) -> Convert:
        wires: dict[str, Convert] = {"LOCAL_DATE": _date_from_wire, "LOCAL_TIME": _time_from_wire}
        return wires.get(self._schema_name, _datetime_from_wire)

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"
