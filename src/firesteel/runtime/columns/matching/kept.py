"""The partial matches of keys, in arrangements.

What a key has is one value, as long as that is short: its partial matches with their links and rows. What a long match
has is a row of another arrangement for each link and each row, so that an epoch writes what is new in it, and reads
what somebody looks at. A third one has the times at which partial matches are too late, by time. With the first one
stands what is needed to show them.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.stores import hashed_within
from firesteel.runtime.columns.matching.entries import FIRST_READ, LongEntries, ShortEntries
from firesteel.runtime.columns.matching.noted import ENTRIES, MATCHES
from firesteel.runtime.columns.matching.plain_values import plain
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.patterns.matches import KeyMatches
from firesteel.runtime.patterns.shelves import Tables
from firesteel.state.arrangements.arrangement import Found
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements

_TIME: Final = "time"
_PARTS: Final = range(len(Tables._fields))
_SHORT: Final = 256
"""The most links, rows and counts of a key that are one value."""

_MOST_KEYS: Final = 1 << 15
"""The number of keys whose matches are kept in memory before they are written."""


class HeldKey:
    """The matches of a key in memory: that at `place` of `batch`.

    `timer` is the first time for which a match of the key is noted to be too late; `fresh` keys are not stored.
    """

    __slots__ = ("batch", "changed", "fresh", "long", "matches", "newest", "place", "tables", "timer")

    def __init__(self, owner: HeldMatches, batch: pa.RecordBatch, place: int, stored: bytes | None) -> None:
        self.batch = batch
        self.place = place
        self.fresh = stored is None
        self.changed = False
        self.timer: int | None
        summary, self.timer, entries = (None, None, ((),) * 4) if stored is None else pickle.loads(stored)
        self.long = entries is None
        self.tables: Tables
        if self.long:
            self.tables = Tables(*(LongEntries(partial(owner.read, self, part)) for part in _PARTS))
        else:
            self.tables = Tables(*map(ShortEntries, entries))
        # The numbers below which all links and rows are, in the order of the tables.
        self.newest = (0,) * 4 if summary is None else (summary[1], summary[0]) * 2
        self.matches = KeyMatches(self.tables, summary)


class HeldMatches:
    """The matches of the keys that a step of work touches.

    Contract: `begin` each epoch; `hold` keys before they are worked on; `note_timer` whenever a key has matches;
    `settle` at the end of the epoch, or when `full`. `due` takes out the keys with a timer up to a time.
    """

    def __init__(self, arrangements: LiveArrangements, keys: Keys, groups: int, note: bytes) -> None:
        names = self._names = keys.names
        value = pa.field("value", pa.binary())
        entry = [pa.field("part", pa.int8()), pa.field("number", pa.int64())]
        rows = pa.schema([*keys.fields, value])
        self._short = arrangements.declare(MATCHES, Layout(rows, tuple(names), note=note))
        hashed = partial(hashed_within, keys=len(names), groups=groups)
        schema = pa.schema([*keys.fields, *entry, value])
        self._long = arrangements.declare(ENTRIES, Layout(schema, (*names, "part", "number"), hashed=hashed))
        timers = pa.schema([pa.field(_TIME, pa.int64()), *keys.fields])
        self._timers = arrangements.declare("timers", Layout(timers, tuple(names), leading=_TIME))
        self._held: dict[Any, HeldKey] = {}
        self._noted: list[tuple[int, HeldKey]] = []

    @property
    def full(self) -> bool:
        """Whether so many keys are in memory that they should be written."""
        return len(self._held) > _MOST_KEYS

    def begin(self) -> None:
        """Forget what an epoch that was lost has held."""
        self._held.clear()
        self._noted.clear()

    # Keys

    def hold(self, keys: pa.RecordBatch) -> list[HeldKey | None]:
        """Return what is known of some keys, each of which occurs once; None of keys without matches."""
        words = _words(keys)
        missing = [place for place, word in enumerate(words) if word not in self._held]
        if missing:
            asked = keys if len(missing) == len(words) else keys.take(pa.array(missing))
            found = self._short.get(asked)
            long: list[HeldKey] = []
            for place, value in zip(found.keys.tolist(), _values(found), strict=True):
                at = missing[place]
                held = self._held[words[at]] = HeldKey(self, keys, at, value)
                if held.long:
                    long.append(held)
            if long:
                self._read_ends(long)
        return [self._held.get(word) for word in words]

    def make(self, keys: pa.RecordBatch, place: int) -> HeldKey:
        """Return a key that has no matches yet."""
        made = HeldKey(self, keys, place, None)
        self._held[_words(keys.slice(place, 1))[0]] = made
        return made

    # Time

    def note_timer(self, key: HeldKey, deadline: int | None) -> None:
        """Let a key be due when its first match is too late."""
        if deadline is not None and (key.timer is None or deadline < key.timer):
            key.timer = deadline
            key.changed = True
            self._noted.append((deadline, key))

    def due(self, until: int) -> pa.RecordBatch | None:
        """Take out the keys with a timer up to a time, each once; None if there are none."""
        self._write_timers()
        rows = self._timers.up_to(until)
        if not rows.num_rows:
            return None
        self._timers.drop_up_to(until)
        keys = rows.select(self._names)
        firsts = {word: place for place, word in reversed([*enumerate(_words(keys))])}
        return keys.take(pa.array(sorted(firsts.values())))

    def next_timer(self) -> int | None:
        """Return a time before which no key is due; None if none is noted."""
        self._write_timers()
        return self._timers.least()

    def _write_timers(self) -> None:
        if self._noted:
            keys = _keys_of([key for _, key in self._noted])
            times = pa.array([time for time, _ in self._noted], pa.int64())
            self._noted.clear()
            schema = self._timers.layout.rows
            self._timers.put(pa.RecordBatch.from_arrays([times, *keys.columns], schema=schema))

    # Reading

    def read(self, key: HeldKey, part: int, numbers: Sequence[int]) -> Mapping[int, Any]:
        """Return stored entries of a long key by their numbers."""
        found = self._entries([(key, part)], [numbers]) if numbers else [{}]
        return found[0]

    def _read_ends(self, keys: Sequence[HeldKey]) -> None:
        """Read the last entries of long keys, which are most likely to be asked for, all at once."""
        tables = [(key, part) for key in keys for part in _PARTS]
        asked = [range(max(0, key.newest[part] - FIRST_READ), key.newest[part]) for key, part in tables]
        for (key, part), numbers, found in zip(tables, asked, self._entries(tables, asked), strict=True):
            table = key.tables[part]
            assert isinstance(table, LongEntries)
            table.take(numbers, found)

    def _entries(
        self, tables: Sequence[tuple[HeldKey, int]], asked: Sequence[Sequence[int]]
    ) -> list[dict[int, Any]]:
        """Return stored entries of tables of long keys by their numbers."""
        owners = np.repeat(np.arange(len(tables)), [len(numbers) for numbers in asked])
        numbers = np.fromiter(chain.from_iterable(asked), np.int64, len(owners))
        parts = np.array([part for _, part in tables], np.int8)[owners]
        keys = _keys_of([key for key, _ in tables]).take(pa.array(owners))
        names = [*self._names, "part", "number"]
        columns = [*keys.columns, pa.array(parts), pa.array(numbers)]
        found = self._long.get(pa.RecordBatch.from_arrays(columns, names=names))
        entries: list[dict[int, Any]] = [{} for _ in tables]
        places = zip(owners[found.keys].tolist(), numbers[found.keys].tolist(), strict=True)
        for (owner, number), value in zip(places, _values(found), strict=True):
            entries[owner][number] = pickle.loads(value)
        return entries

    # Writing

    def settle(self) -> None:
        """Write what has changed, and forget what is in memory."""
        self._write_timers()
        changed = [key for key in self._held.values() if key.changed]
        self._held.clear()
        values = [self._value(key) for key in changed]
        self._write_entries([key for key in changed if key.long])
        put = [(key, value) for key, value in zip(changed, values, strict=True) if value is not None]
        gone = [key for key, value in zip(changed, values, strict=True) if value is None and not key.fresh]
        schema = self._short.layout.rows
        if put:
            column = pa.array([value for _, value in put], pa.binary())
            rows = _keys_of([key for key, _ in put])
            self._short.put(pa.RecordBatch.from_arrays([*rows.columns, column], schema=schema))
        if gone:
            rows = _keys_of(gone)
            column = pa.nulls(len(gone), pa.binary())
            self._short.delete(pa.RecordBatch.from_arrays([*rows.columns, column], schema=schema))

    def _value(self, key: HeldKey) -> bytes | None:
        """Return what is written of a key, None if it has no matches any more."""
        summary = key.matches.settle()
        entries: tuple[dict[int, Any], ...] | None = None
        if not key.long:
            entries = tuple(dict(table) for table in key.tables if isinstance(table, ShortEntries))
            if summary is not None and sum(map(len, entries)) > _SHORT:
                key.long, entries = True, None
        return None if summary is None else pickle.dumps((summary, key.timer, entries))

    def _write_entries(self, keys: Sequence[HeldKey]) -> None:
        """Write what has changed of long keys: all that they have, if they have just become long."""
        put: list[tuple[int, int, int, bytes | None]] = []
        gone: list[tuple[int, int, int, bytes | None]] = []
        for owner, key in enumerate(keys):
            for part, table in enumerate(key.tables):
                new = table.changed if isinstance(table, LongEntries) else table
                assert isinstance(new, dict)
                put += [(owner, part, number, pickle.dumps(entry)) for number, entry in new.items()]
                if isinstance(table, LongEntries):
                    gone += [(owner, part, number, None) for number in table.removed]
        for entries, weight in ((put, 1), (gone, -1)):
            if entries:
                owners, parts, numbers, values = zip(*entries, strict=True)
                rows = _keys_of(keys).take(pa.array(owners))
                columns = [*rows.columns, pa.array(parts, pa.int8()), pa.array(numbers, pa.int64())]
                columns.append(pa.array(values, pa.binary()))
                batch = pa.RecordBatch.from_arrays(columns, schema=self._long.layout.rows)
                self._long.change(batch, np.full(len(entries), weight, np.int64))


def _values(found: Found) -> list[bytes]:
    values: list[bytes] = found.rows.column("value").to_pylist()
    return values


def _keys_of(held: Sequence[HeldKey]) -> pa.RecordBatch:
    """Return the key columns of some keys, in their order."""
    batches: dict[int, tuple[pa.RecordBatch, list[int], list[int]]] = {}
    for order, key in enumerate(held):
        _, mine, orders = batches.setdefault(id(key.batch), (key.batch, [], []))
        mine.append(key.place)
        orders.append(order)
    parts = [batch.take(pa.array(mine)) for batch, mine, _ in batches.values()]
    places = np.argsort(np.concatenate([np.array(orders) for _, _, orders in batches.values()]))
    return pa.concat_batches(parts).take(pa.array(places))


def _words(keys: pa.RecordBatch) -> list[Any]:
    """Return each key as a value that equals no other key's; of floating point numbers that is their bits."""
    columns = []
    for column in keys.columns:
        kind = column.type
        if pa.types.is_floating(kind):
            column = column.view(pa.int64() if kind.bit_width == 64 else pa.int32())
        values = plain(column)
        columns.append(list(map(repr, values)) if pa.types.is_nested(kind) else values)
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
