"""The options of a table that say what is kept of rows that were looked up (Flink: LookupOptions)."""

from __future__ import annotations

import datetime as dt
from typing import Final

from firesteel.connectors.tables.options import Option, Options, choice, duration, number, truth
from firesteel.functions.columns.lookups import Cache, FullCache, PartialCache

_CACHE: Final = choice("lookup.cache", "NONE", "PARTIAL", "FULL")
_STRATEGY: Final = choice("lookup.full-cache.reload-strategy", "PERIODIC", "TIMED")
_INTERVAL: Final = duration("lookup.full-cache.periodic-reload.interval")
_MODE: Final = choice("lookup.full-cache.periodic-reload.schedule-mode", "FIXED_DELAY", "FIXED_RATE")
_DAYS: Final = number("lookup.full-cache.timed-reload.interval-in-days", 1)
_MAX_ROWS: Final = number("lookup.partial-cache.max-rows", 1)
_AFTER_WRITE: Final = duration("lookup.partial-cache.expire-after-write")
_AFTER_ACCESS: Final = duration("lookup.partial-cache.expire-after-access")
_MISSING: Final = truth("lookup.partial-cache.cache-missing-key")


def lookup_cache(options: Options, zone: str, *, whole: bool = False, by_key: bool = False) -> Cache:
    """Return the cache that a table's options ask for; `zone` is the session's.

    Without any it is NONE, or FULL if the table can only be read as a `whole`, which is then read once. One that can
    only be read `by_key` has no FULL cache. Raises ConfigurationError for values that cannot be read, and for a cache
    without what it needs.
    """
    kind = options.get(_CACHE, "FULL" if whole else "NONE")
    if whole and kind != "FULL":
        raise options.wrong(_CACHE.key, "FULL")
    if by_key and kind == "FULL":
        raise options.wrong(_CACHE.key, "NONE or PARTIAL (not all rows can be read)")
    strategy, interval = options.get(_STRATEGY, "PERIODIC"), options.get(_INTERVAL)
    moment, days = options.get(_MOMENT), options.get(_DAYS, 1)
    options.get(_MODE)
    partial = PartialCache(
        options.get(_MAX_ROWS),
        options.get(_AFTER_WRITE),
        options.get(_AFTER_ACCESS),
        missing=options.get(_MISSING, True),
    )
    if kind == "PARTIAL":
        return partial
    if kind == "NONE":
        return None
    if strategy == "TIMED":
        options.required(_MOMENT)
        assert moment is not None
        local, in_utc = moment
        return FullCache(at=local, days=days, zone="UTC" if in_utc else zone)
    if not whole:
        options.required(_INTERVAL)
    return FullCache(interval=interval)


def _moment(given: str) -> tuple[int, bool]:
    """Return a time of the day in milliseconds, and whether it is one of UTC, which those with an offset become.

    >>> _moment("10:15"), _moment("00:15:30+01:00")
    ((36900000, False), (83730000, True))
    """
    moment = dt.time.fromisoformat(given.strip())
    since = dt.timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second)
    shift = moment.utcoffset()
    local = (since - (shift or dt.timedelta())) % dt.timedelta(days=1)
    return local // dt.timedelta(milliseconds=1), shift is not None


_MOMENT: Final = Option(
    "lookup.full-cache.timed-reload.iso-time", _moment, "a time of the day such as '10:15'"
)

OPTIONS: Final = (
    *(option.key for option in (_CACHE, _STRATEGY, _INTERVAL, _MODE, _MOMENT, _DAYS)),
    *(option.key for option in (_MAX_ROWS, _AFTER_WRITE, _AFTER_ACCESS, _MISSING)),
    "lookup.max-retries",
)
"""The options' names, which mean nothing where a table is read or written."""
