"""The ways to find rows by keys: asking the table each time, again for keys without a row, or keeping all rows."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from firesteel.common.zones import java_zone
from firesteel.functions.columns.lookups import FullCache, LookedUp, Retry, ScannableLookup, TableLookup
from firesteel.runtime.columns.batch import empty
from firesteel.state.arrangements.matching import Hashed

_DAY: Final = dt.timedelta(days=1)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_START: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Finder(Protocol):
    """Finds rows by keys, at a processing time (milliseconds) that never falls."""

    def find(self, keys: pa.RecordBatch, now: int) -> LookedUp:
        """Return the rows that have some keys, each of which is there once and has no NULL."""


class Asking:
    """Asks the table each time."""

    def __init__(self, lookup: TableLookup) -> None:
        self._lookup = lookup

    def find(self, keys: pa.RecordBatch, now: int) -> LookedUp:
        """Return what the table has."""
        return self._lookup.look_up(keys)


class Retrying:
    """Asks again for keys that have no row; `wait` waits for some seconds."""

    def __init__(self, finder: Finder, retry: Retry, wait: Callable[[float], None] = time.sleep) -> None:
        self._finder = finder
        self._retry = retry
        self._wait = wait

    def find(self, keys: pa.RecordBatch, now: int) -> LookedUp:
        """Return what is there, at the latest after the last attempt."""
        found = self._finder.find(keys, now)
        for _ in range(self._retry.attempts):
            missing = np.setdiff1d(np.arange(keys.num_rows), found.keys)
            if not len(missing):
                break
            self._wait(self._retry.delay / 1000)
            more = self._finder.find(keys.take(pa.array(missing)), now)
            found = LookedUp(
                np.concatenate((found.keys, missing[more.keys])), pa.concat_batches([found.rows, more.rows])
            )
        return found


class AllRows:
    """Keeps all rows of a table; those that are kept are at most as old as the cache says."""

    def __init__(self, lookup: ScannableLookup, cache: FullCache, keys: list[str], schema: pa.Schema) -> None:
        self._lookup = lookup
        self._cache = cache
        self._keys = keys
        self._schema = schema
        self._due: int | None = 0

    def find(self, keys: pa.RecordBatch, now: int) -> LookedUp:
        """Return the rows that are kept, after reading them again if it is time to."""
        if self._due is not None and now >= self._due:
            self._rows = all_rows(self._lookup, self._schema)
            self._known = Hashed.of(self._rows.select(self._keys))
            self._due = next_reload(self._cache, now)
        mine, places = self._known.matches(keys)
        return LookedUp(mine, self._rows.take(pa.array(places)))


def all_rows(lookup: ScannableLookup, schema: pa.Schema) -> pa.RecordBatch:
    """Return all rows that a table has now, with the columns of a schema."""
    batches = [rows.cast(schema) for rows in lookup.rows()]
    return pa.concat_batches(batches) if batches else empty(schema)


def next_reload(cache: FullCache, now: int) -> int | None:
    """Return when rows that are read now are read again; None: never.

    >>> caches = FullCache(at=3_600_000), FullCache(interval=10), FullCache()
    >>> [next_reload(cache, 5_000_000) for cache in caches]
    [90000000, 5000010, None]
    """
    if cache.interval is not None:
        return now + cache.interval
    if cache.at is None:
        return None
    zone = java_zone(cache.zone, "the time zone of a lookup cache")
    local = (_START + now * _MILLISECOND).astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    moment = midnight + cache.at * _MILLISECOND
    if moment <= local.replace(tzinfo=None):
        moment += cache.days * _DAY
    return (moment.replace(tzinfo=zone) - _START) // _MILLISECOND
