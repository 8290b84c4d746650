"""The partial matches of keys, in arrangements.

What a key has is one value, as long as that is short: its partial matches with their links and rows. What a long match
has is a row of another arrangement for each link and each row, so that an epoch writes what is new in it, and reads
what somebody looks at. A third one has the times at which partial matches are too late, by time.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.stores import hashed_within
from firesteel.runtime.columns.matching.values import plain
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.patterns.matches import KeyMatches, Tables
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_TIME: Final = "time"
_PARTS: Final = len(Tables._fields)
_SHORT: Final = 64
"""The most links, rows and counts of a key that are one value."""

_MOST_KEYS: Final = 1 << 15
"""The number of keys whose matches are kept in memory before they are written."""

_FIRST_READ: Final = 64
_LONGEST_READ: Final = 1 << 12
"""How many entries of a long match are read at a time: more each time that it goes on."""


class Entries:
    """A `Table` of a key: entries in memory, and others that are stored one by one, if the key is `long`."""

    __slots__ = ("_absent", "_key", "_part", "_read", "changed", "known", "removed")

    def __init__(self, key: HeldKey, part: int, known: dict[int, Any]) -> None:
        self._key = key
        self._part = part
        self._absent: set[int] = set()
        self._read = _FIRST_READ
        self.known = known
        self.changed: dict[int, Any] = {}
        self.removed: set[int] = set()

    def get(self, number: int) -> Any:
        """Return an entry; None if there is none."""
        found = self.known.get(number)
        if found is None and self._key.long and number not in self._absent:
            self._fetch(number)
            found = self.known.get(number)
        return found

    def put(self, number: int, entry: Any) -> None:
        """Write an entry."""
        self.known[number] = self.changed[number] = entry
        self.removed.discard(number)

    def remove(self, number: int) -> None:
        """Remove an entry, if there is one."""
        self.known.pop(number, None)
        self.changed.pop(number, None)
        self.removed.add(number)
        self._absent.add(number)

    def _fetch(self, number: int) -> None:
        """Read the entry and those before it, which a match is likely to be asked for next."""
        numbers = [
            one
            for one in range(max(0, number - self._read + 1), number + 1)
            if one not in self.known and one not in self._absent
        ]
        self._read = min(4 * self._read, _LONGEST_READ)
        for one, entry in self._key.stored(self._part, numbers):
            self.known[one] = entry
        self._absent.update(one for one in numbers if one not in self.known)


class HeldKey:
    """The matches of a key in memory; `timer` is the first time for which one of them is noted to be too late."""

    __slots__ = ("_owner", "batch", "changed", "fresh", "long", "matches", "place", "tables", "timer")

    def __init__(self, owner: HeldMatches, batch: pa.RecordBatch, place: int, stored: bytes | None) -> None:
        self._owner = owner
        self.batch = batch
        self.place = place
        summary, self.timer, self.long, entries = (
            (None, None, False, ({},) * _PARTS) if stored is None else pickle.loads(stored)
        )
        self.tables = Tables(*(Entries(self, part, dict(known)) for part, known in enumerate(entries)))
        self.matches = KeyMatches(self.tables, summary)
        self.fresh = stored is None
        self.changed = False

    def stored(self, part: int, numbers: Sequence[int]) -> Iterable[tuple[int, Any]]:
        """Yield entries that are stored one by one, with their numbers."""
        return self._owner.entries(self, part, numbers)


class HeldMatches:
    """The matches of the keys that a step of work touches.

    Contract: `begin` each epoch; `hold` keys before they are worked on; `note_timer` whenever a key has matches;
    `settle` at the end of the epoch, or when `full`. `due` takes out the keys with a timer up to a time.
    """

    def __init__(self, arrangements: LiveArrangements, keys: Keys, groups: int) -> None:
        self._names = keys.names
        value = pa.field("value", pa.binary())
        part, number = pa.field("part", pa.int8()), pa.field("number", pa.int64())
        self._short = arrangements.declare(
            "matches", Layout(pa.schema([*keys.fields, value]), tuple(keys.names))
        )
        self._long = arrangements.declare(
            "entries",
            Layout(
                pa.schema([*keys.fields, part, number, value]),
                (*keys.names, "part", "number"),
                hashed=partial(hashed_within, keys=len(keys.names), groups=groups),
            ),
        )
        self._timers = arrangements.declare(
            "timers",
            Layout(pa.schema([pa.field(_TIME, pa.int64()), *keys.fields]), tuple(keys.names), leading=_TIME),
        )
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

    def hold(self, keys: pa.RecordBatch) -> list[HeldKey | None]:
        """Return what is known of some keys, each of which occurs once; None of keys without matches."""
        words = _words(keys)
        missing = [place for place, word in enumerate(words) if word not in self._held]
        if missing:
            asked = keys if len(missing) == len(words) else keys.take(pa.array(missing))
            found = self._short.get(asked)
            for place, value in zip(found.keys.tolist(), found.rows.column("value").to_pylist(), strict=True):
                at = missing[place]
                self._held[words[at]] = HeldKey(self, keys, at, value)
        return [self._held.get(word) for word in words]

    def make(self, keys: pa.RecordBatch, place: int) -> HeldKey:
        """Return a key that has no matches yet."""
        made = HeldKey(self, keys, place, None)
        self._held[_words(keys.slice(place, 1))[0]] = made
        return made

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
        words = _words(keys)
        firsts = {word: place for place, word in reversed([*enumerate(words)])}
        return keys.take(pa.array(sorted(firsts.values())))

    def next_timer(self) -> int | None:
        """Return a time before which no key is due; None if none is noted."""
        self._write_timers()
        return self._timers.least()

    def entries(self, key: HeldKey, part: int, numbers: Sequence[int]) -> Iterable[tuple[int, Any]]:
        """Yield stored entries of a long key, with their numbers."""
        if not numbers:
            return
        asked = _rows(self._long, key.batch, np.full(len(numbers), key.place), [part] * len(numbers), numbers)
        found = self._long.get(asked)
        for place, value in zip(found.keys.tolist(), found.rows.column("value").to_pylist(), strict=True):
            yield numbers[place], pickle.loads(value)

    def settle(self) -> None:
        """Write what has changed, and forget what is in memory."""
        self._write_timers()
        kept = [key for key in self._held.values() if key.changed]
        self._held.clear()
        put: list[tuple[HeldKey, bytes]] = []
        gone: list[HeldKey] = []
        for key in kept:
            value = self._settled(key)
            if value is not None:
                put.append((key, value))
            elif not key.fresh:
                gone.append(key)
        if put:
            rows = _keys_of([key for key, _ in put])
            values = pa.array([value for _, value in put], pa.binary())
            self._short.put(
                pa.RecordBatch.from_arrays([*rows.columns, values], schema=self._short.layout.rows)
            )
        if gone:
            rows = _keys_of(gone)
            values = pa.nulls(rows.num_rows, pa.binary())
            self._short.delete(
                pa.RecordBatch.from_arrays([*rows.columns, values], schema=self._short.layout.rows)
            )

    def _settled(self, key: HeldKey) -> bytes | None:
        """Return what is written of a key, None if it has no matches any more."""
        summary = key.matches.settle()
        tables: Sequence[Entries] = key.tables  # type: ignore[assignment]
        if not key.long and sum(len(table.known) for table in tables) <= _SHORT:
            if summary is None:
                return None
            return pickle.dumps((summary, key.timer, False, tuple(table.known for table in tables)))
        if not key.long:
            key.long = True
            for table in tables:
                table.changed = dict(table.known)
                table.removed.clear()
        self._write_entries(key, tables)
        return None if summary is None else pickle.dumps((summary, key.timer, True, ({},) * _PARTS))

    def _write_entries(self, key: HeldKey, tables: Sequence[Entries]) -> None:
        changed = [(part, number) for part, table in enumerate(tables) for number in table.changed]
        values = [pickle.dumps(entry) for table in tables for entry in table.changed.values()]
        removed = [(part, number) for part, table in enumerate(tables) for number in table.removed]
        for entries, weight in ((changed, 1), (removed, -1)):
            if not entries:
                continue
            parts, numbers = zip(*entries, strict=True)
            column = pa.array(values, pa.binary()) if weight > 0 else pa.nulls(len(entries), pa.binary())
            places = np.full(len(entries), key.place)
            rows = _rows(self._long, key.batch, places, parts, numbers, column)
            self._long.change(rows, np.full(len(entries), weight, np.int64))

    def _write_timers(self) -> None:
        if self._noted:
            keys = _keys_of([key for _, key in self._noted])
            times = pa.array([time for time, _ in self._noted], pa.int64())
            self._noted.clear()
            self._timers.put(
                pa.RecordBatch.from_arrays([times, *keys.columns], schema=self._timers.layout.rows)
            )


def _rows(
    arrangement: Arrangement,
    keys: pa.RecordBatch,
    places: Positions,
    parts: Sequence[int],
    numbers: Sequence[int],
    values: pa.Array | None = None,
) -> pa.RecordBatch:
    """Return rows of the arrangement of entries; without values, only its keys."""
    schema = arrangement.layout.rows
    taken = keys.take(pa.array(places)).columns
    columns = [*taken, pa.array(parts, pa.int8()), pa.array(numbers, pa.int64())]
    if values is None:
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema([*schema][:-1]))
    return pa.RecordBatch.from_arrays([*columns, values], schema=schema)


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
