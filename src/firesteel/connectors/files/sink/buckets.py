"""The directories of records below the base path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import tzinfo
from typing import Any

from firesteel.common.zones import java_zone
from firesteel.connectors.files.sink.java_time import JavaTimePattern


class BucketAssigner(ABC):
    """Names the bucket of each record, a directory relative to the base path; subclass it for your own assigner.

    Processing time is the epoch's, in milliseconds, so a repeated epoch writes to the same buckets.

    >>> class ByKind(BucketAssigner):
    ...     def get_bucket_id(self, value, timestamp, processing_time):
    ...         return f"kind={value[0]}"
    >>> ByKind().get_bucket_id(("click", 7), None, 0)
    'kind=click'
    """

    @abstractmethod
    def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
        """Return the bucket of one record; `""` is the base path itself."""

    def fixed(self, processing_time: int) -> str | None:
        """Return the bucket of every record at this processing time; None if it depends on the record."""
        return None


class BasePathBuckets(BucketAssigner):
    """Everything goes to the base path (Flink: BasePathBucketAssigner)."""

    def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
        """Return the base path."""
        return ""

    def fixed(self, processing_time: int) -> str | None:
        """Return the base path."""
        return ""


class DateTimeBuckets(BucketAssigner):
    """One bucket per hour, or per value of the pattern, of processing time (Flink: DateTimeBucketAssigner).

    The pattern is one of Java's DateTimeFormatter; the zone is an id as in Java (`Europe/Paris`, `GMT-08:00`), None for
    this machine's. Raises ConfigurationError for a pattern or a zone that cannot be used.

    >>> DateTimeBuckets("yyyy-MM-dd--HH", "GMT+01:00").fixed(0)
    '1970-01-01--01'
    """

    def __init__(self, pattern: str = "yyyy-MM-dd--HH", zone_id: str | None = None) -> None:
        self._pattern = JavaTimePattern(pattern)
        self._zone: tzinfo | None = (
            None if zone_id is None else java_zone(zone_id, "the date-time bucket assigner")
        )

    def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
        """Return the bucket of the processing time."""
        return self.fixed(processing_time)

    def fixed(self, processing_time: int) -> str:
        """Return the bucket of the processing time."""
        return self._pattern.format(processing_time, self._zone)
