"""The options of a table that say what is kept of rows that were looked up (Flink: LookupOptions)."""

from __future__ import annotations

import datetime as dt
from typing import Final

from firesteel.connectors.tables.options import Listed, Option, Options, choice, duration, number, truth
from firesteel.functions.columns.lookups import Cache, FullCache, PartialCache


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


_CACHE: Final = choice(
    "lookup.cache",
    *("NONE", "PARTIAL", "FULL"),
    about="What is kept of rows that were looked up: nothing, those of some keys, or the whole table. The default is "
    "NONE; for files it is FULL, and nothing else can be.",
)
_MAX_ROWS: Final = number(
    "lookup.partial-cache.max-rows",
    1,
    "Of how many keys PARTIAL keeps the rows; those go that were not used for longest.",
)
_AFTER_WRITE: Final = duration(
    "lookup.partial-cache.expire-after-write", "How long PARTIAL keeps rows after they were looked up."
)
_AFTER_ACCESS: Final = duration(
    "lookup.partial-cache.expire-after-access", "How long PARTIAL keeps rows after they were last used."
)
_MISSING: Final = truth(
    "lookup.partial-cache.cache-missing-key", "Whether PARTIAL remembers that a key has no rows."
).by_default("true")
_STRATEGY: Final = choice(
    "lookup.full-cache.reload-strategy",
    *("PERIODIC", "TIMED"),
    about="Whether FULL reads the table again after an interval or at a time of the day.",
).by_default("PERIODIC")
_INTERVAL: Final = duration(
    "lookup.full-cache.periodic-reload.interval",
    "After which time FULL with PERIODIC reads the table again. A database needs it; files are read once without it.",
)
_MODE: Final = choice(
    "lookup.full-cache.periodic-reload.schedule-mode",
    *("FIXED_DELAY", "FIXED_RATE"),
    about="Changes nothing: the interval begins when the table has been read.",
)
_MOMENT: Final = Option(
    "lookup.full-cache.timed-reload.iso-time",
    _moment,
    "a time of the day such as '10:15'",
    "When FULL with TIMED reads the table again: in the session's time zone, or with an offset such as '10:15Z'.",
)
_DAYS: Final = number(
    "lookup.full-cache.timed-reload.interval-in-days", 1, "How many days are between two such times."
).by_default("1")

MAX_RETRIES: Final = number(
    "lookup.max-retries", 0, "How often a query that fails is repeated. For files it changes nothing."
).by_default("3")

OF_CACHE: Final[Listed] = (
    *(_CACHE, _MAX_ROWS, _AFTER_WRITE, _AFTER_ACCESS, _MISSING),
    *(_STRATEGY, _INTERVAL, _MODE, _MOMENT, _DAYS),
)
"""The options that say what is kept."""

OPTIONS: Final[Listed] = (*OF_CACHE, MAX_RETRIES)
"""The options of lookups, which mean nothing where a table is read or written."""

_OLDER_ROWS: Final = number(
    "lookup.cache.max-rows",
    None,
    "An older way to ask for PARTIAL: as `lookup.partial-cache.max-rows`. Together with `lookup.cache.ttl`; neither "
    "counts if one of them is not above 0, or `lookup.cache` is PARTIAL or FULL.",
)
_OLDER_TTL: Final = duration(
    "lookup.cache.ttl",
    "With `lookup.cache.max-rows`: as `lookup.partial-cache.expire-after-write`.",
)
_OLDER_MISSING: Final = truth(
    "lookup.cache.caching-missing-key",
    "With `lookup.cache.max-rows`: as `lookup.partial-cache.cache-missing-key`.",
).by_default("true")

OLDER: Final[Listed] = (_OLDER_ROWS, _OLDER_TTL, _OLDER_MISSING)
"""What some of Flink's connectors called options of a cache before it had `lookup.cache`."""


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
    strategy, interval = options.get(_STRATEGY), options.get(_INTERVAL)
    moment, days = options.get(_MOMENT), options.get(_DAYS)
    options.get(_MODE)
    partial = PartialCache(
        options.get(_MAX_ROWS),
        options.get(_AFTER_WRITE),
        options.get(_AFTER_ACCESS),
        missing=options.get(_MISSING),
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


def older_cache(options: Options) -> Cache:
    """Return the cache that a table's options of older names ask for (Flink: JdbcDynamicTableFactory.getLookupCache).

    Raises ConfigurationError for values that cannot be read, and for one of rows and time without the other.
    """
    rows, ttl, missing = options.get(_OLDER_ROWS), options.get(_OLDER_TTL), options.get(_OLDER_MISSING)
    if rows is None and ttl is None:
        return None
    rows, ttl = options.required(_OLDER_ROWS), options.required(_OLDER_TTL)
    return PartialCache(rows, after_write=ttl, missing=missing) if rows > 0 and ttl > 0 else None
