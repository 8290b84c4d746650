"""Java's ids of time zones (java.time.ZoneId)."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from firesteel.common.errors import ConfigurationError

_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def java_zone(zone_id: str, who: str) -> tzinfo:
    """Return the time zone of a Java zone id: a region, an offset, or an offset after `GMT`, `UTC` or `UT`.

    Raises ConfigurationError, with `who` needs it, for others.

    >>> java_zone("GMT-08:00", "the table").utcoffset(None)
    datetime.timedelta(days=-1, seconds=57600)
    """
    if zone_id in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    if match := _OFFSET.fullmatch(zone_id):
        hours, minutes, seconds = (int(match[group] or 0) for group in (2, 3, 4))
        offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if offset <= timedelta(hours=18):
            return timezone(offset if match[1] == "+" else -offset)
    try:
        return ZoneInfo(zone_id)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigurationError(
            "requires a time zone that exists",
            who=who,
            got=repr(zone_id),
            hint="such as 'Europe/Paris' or 'GMT-08:00'",
        ) from error
