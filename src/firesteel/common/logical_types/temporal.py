"""Dates, times of day, timestamps, and the kinds of time attributes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar

from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.roots import LogicalTypeRoot


class TimestampKind(Enum):
    """Whether a timestamp is a time attribute: of event time (ROWTIME), of processing time, or none."""

    REGULAR = "REGULAR"
    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


@dataclass(frozen=True)
class DateType(LogicalType):
    """A calendar date."""

    root = LogicalTypeRoot.DATE

    def _text(self, *, serializable: bool) -> str:
        return "DATE"


@dataclass(frozen=True)
class _PrecisionType(LogicalType):
    """The common part of times: the number of digits of a second's fraction, from 0 to 9."""

    precision: int = 6

    def __post_init__(self) -> None:
        self._require(
            0 <= self.precision <= 9, "a precision between 0 and 9 (both inclusive)", self.precision
        )


@dataclass(frozen=True)
class TimeType(_PrecisionType):
    """A time of day. Flink stores milliseconds, whatever the precision."""

    root = LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE
    precision: int = 0

    def _text(self, *, serializable: bool) -> str:
        return f"TIME({self.precision})"


@dataclass(frozen=True)
class AnyTimestampType(_PrecisionType):
    """The common part of the three timestamps; `kind` does not count when types are compared, as in Flink.

    >>> str(TimestampType(3, TimestampKind.ROWTIME, nullable=False))
    'TIMESTAMP(3) NOT NULL *ROWTIME*'
    >>> TimestampType(3, TimestampKind.ROWTIME) == TimestampType(3)
    True
    """

    kind: TimestampKind = field(default=TimestampKind.REGULAR, compare=False)
    _serializable: ClassVar[str]
    _summary: ClassVar[str]

    def as_summary_string(self) -> str:
        """Return the text for people, with the kind of the time attribute."""
        if self.kind is TimestampKind.REGULAR:
            return super().as_summary_string()
        return f"{self._with_nullability(self._text(serializable=False))} *{self.kind.name}*"

    def _text(self, *, serializable: bool) -> str:
        return (self._serializable if serializable else self._summary).format(self.precision)


@dataclass(frozen=True)
class TimestampType(AnyTimestampType):
    """A date with a time of day, without a zone."""

    root = LogicalTypeRoot.TIMESTAMP_WITHOUT_TIME_ZONE
    _serializable = "TIMESTAMP({})"
    _summary = "TIMESTAMP({})"


@dataclass(frozen=True)
class ZonedTimestampType(AnyTimestampType):
    """A date with a time of day and an offset; Flink has the type, but no value of it can be in a table."""

    root = LogicalTypeRoot.TIMESTAMP_WITH_TIME_ZONE
    _serializable = "TIMESTAMP({}) WITH TIME ZONE"
    _summary = "TIMESTAMP({}) WITH TIME ZONE"


@dataclass(frozen=True)
class LocalZonedTimestampType(AnyTimestampType):
    """A point on the time line, shown in the session's time zone."""

    root = LogicalTypeRoot.TIMESTAMP_WITH_LOCAL_TIME_ZONE
    _serializable = "TIMESTAMP({}) WITH LOCAL TIME ZONE"
    _summary = "TIMESTAMP_LTZ({})"


def is_rowtime(data_type: LogicalType) -> bool:
    """Return whether the type is a time attribute of event time."""
    return isinstance(data_type, AnyTimestampType) and data_type.kind is TimestampKind.ROWTIME


def is_proctime(data_type: LogicalType) -> bool:
    """Return whether the type is a time attribute of processing time."""
    return isinstance(data_type, AnyTimestampType) and data_type.kind is TimestampKind.PROCTIME


def is_time_attribute(data_type: LogicalType) -> bool:
    """Return whether the type is a time attribute."""
    return is_rowtime(data_type) or is_proctime(data_type)


def regular(data_type: LogicalType) -> LogicalType:
    """Return the type of a time attribute's values as plain times; any other type as it is.

    >>> regular(TimestampType(3, TimestampKind.ROWTIME)).kind.name
    'REGULAR'
    """
    if isinstance(data_type, AnyTimestampType) and is_time_attribute(data_type):
        return replace(data_type, kind=TimestampKind.REGULAR)
    return data_type
