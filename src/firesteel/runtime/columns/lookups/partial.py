"""A cache of what was looked up last, in columns: a whole batch of keys is found in it, and added to it, at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.lookups import LookedUp, PartialCache
from firesteel.runtime.columns.batch import empty
from firesteel.runtime.columns.lookups.finding import Finder
from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.matching import Hashed, spread
from firesteel.state.arrangements.sorting import Positions


class RecentRows:
    """Keeps rows by their keys: those of key `i` are `_counts[i]` rows from `_starts[i]` on."""

    def __init__(self, finder: Finder, cache: PartialCache, keys: pa.Schema, rows: pa.Schema) -> None:
        self._finder = finder
        self._cache = cache
        self._known = Hashed.of(empty(keys))
        self._rows = empty(rows)
        self._starts: Positions = np.zeros(0, np.int64)
        self._counts: Positions = np.zeros(0, np.int64)
        self._written: Times = np.zeros(0, np.int64)
        self._used: Times = np.zeros(0, np.int64)

    def find(self, keys: pa.RecordBatch, now: int) -> LookedUp:
        """Return what is kept, and look up and keep the rest."""
        mine, places = self._known.matches(keys)
        live = self._live(now)[places]
        mine, places = mine[live], places[live]
        self._used[places] = now
        counts = self._counts[places]
        found = LookedUp(
            np.repeat(mine, counts), self._rows.take(pa.array(spread(self._starts[places], counts)))
        )
        missing = np.setdiff1d(np.arange(keys.num_rows), mine)
        if not len(missing):
            return found
        wanted = keys.take(pa.array(missing))
        more = self._finder.find(wanted, now)
        self._keep(wanted, more, now)
        return LookedUp(
            np.concatenate((found.keys, missing[more.keys])), pa.concat_batches([found.rows, more.rows])
        )

    def _live(self, now: int) -> Mask:
        live: Mask = np.ones(len(self._written), np.bool_)
        if self._cache.after_write is not None:
            live &= now < self._written + self._cache.after_write
        if self._cache.after_access is not None:
            live &= now < self._used + self._cache.after_access
        return live

    def _keep(self, keys: pa.RecordBatch, found: LookedUp, now: int) -> None:
        """Add keys with their rows, and drop what has expired or is too much."""
        order = np.argsort(found.keys, kind="stable")
        counts = np.bincount(found.keys, minlength=keys.num_rows)
        starts = self._rows.num_rows + np.cumsum(counts) - counts
        times = np.full(keys.num_rows, now)
        all_keys = pa.concat_batches([self._known.keys, keys])
        all_rows = pa.concat_batches([self._rows, found.rows.take(pa.array(order))])
        kept = np.append(self._live(now), (counts > 0) | self._cache.missing)
        all_counts, used = np.append(self._counts, counts), np.append(self._used, times)
        places = np.flatnonzero(kept)
        most = self._cache.max_keys
        if most is not None and len(places) > most:
            places = np.sort(places[np.argsort(-used[places], kind="stable")[:most]])
        taken = spread(np.append(self._starts, starts)[places], all_counts[places])
        self._rows = all_rows.take(pa.array(taken))
        self._known = Hashed.of(all_keys.take(pa.array(places)))
        self._counts = all_counts[places]
        self._starts = np.cumsum(self._counts) - self._counts
        self._written, self._used = np.append(self._written, times)[places], used[places]
