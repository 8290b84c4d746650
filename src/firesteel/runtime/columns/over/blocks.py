"""Rows of partitions in the order of a window, in blocks, so that changes read the stretches around them only.

A partition of more than a few hundred rows is a list of blocks, each of which has the rows between two others in the
order of the window. The list says with which row a block begins (its fence), how many rows it has, and the accumulators
of these, if they are all that calls need of earlier rows; a small partition is one block, and has no list. A block that
has grown to twice its size is cut, and neighbours that are nearly empty are put together, so that a change costs a
block, and not the partition. A row that goes may be in any of the blocks that have rows equal to it in the order.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import Distance, OverPartitions, PartitionFrame
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.aggregates.stores import hashed_within
from firesteel.runtime.columns.arrivals import ARRIVAL
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.materialize.entries import Entries, entries_left, groups_of
from firesteel.runtime.columns.materialize.tables import PartitionEntries
from firesteel.runtime.columns.over.framing import Earlier, FramedCalls
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.over.reach import reach_of
from firesteel.runtime.columns.over.slots import BLOCK, COUNT, Cut, Slots, cut
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions


class Stretches(NamedTuple):
    """The rows around some changes, then the changes; `codes` are the numbers of the stretches that they are in.

    A stretch is as long as the calls see. What they give near its ends may be wrong, but is the same `before` and
    `after` the changes, unless it is what they give in the whole partition.
    """

    rows: pa.RecordBatch
    codes: Positions
    before: Entries
    after: Entries
    earlier: Earlier | None
    """The accumulators of the rows before stretches, by the numbers of these; None: no call needs them."""


class BlockedRows:
    """The rows of all partitions of a subtask, in blocks of about `size` rows."""

    size: ClassVar[int] = 256

    def __init__(self, over: OverPartitions, calls: FramedCalls) -> None:
        self.calls = calls if calls.adds_up else None
        self._entries = PartitionEntries(over.input, over.keys)
        stored = self._entries.stored
        self.names = self._entries.names
        self.reach = reach_of(over)
        self.fenced = [*dict.fromkeys(f"c{key.column}" for key in over.order), ARRIVAL]
        self.order = tuple(
            SortColumn(self.fenced.index(f"c{key.column}"), key.ascending, key.nulls_first)
            for key in over.order
        )
        fences = [pa.field(f"from {name}", stored.field(name).type) for name in self.fenced]
        self.sums = [] if self.calls is None else self.calls.accumulators
        self._stored = pa.schema([*stored, BLOCK])
        self.listing = pa.schema(
            [*(stored.field(name) for name in self.names), *fences, BLOCK, COUNT, *self.sums]
        )

    def declare(self, arrangements: LiveArrangements, groups: int) -> None:
        """Declare the arrangements; there are so many key `groups`."""
        hashed = partial(hashed_within, keys=len(self.names), groups=groups)
        keys = (*self.names, BLOCK.name)
        self._rows = arrangements.declare("rows", Layout(self._stored, keys, Kind.MULTISET, hashed=hashed))
        self._lists = arrangements.declare("blocks", Layout(self.listing, tuple(self.names), Kind.MULTISET))

    def numbered(self, batch: ColumnBatch, first: int) -> pa.RecordBatch:
        """Return the rows of a batch as they are stored, numbered from `first` on."""
        return self._entries.numbered(batch, first)

    def apply(self, changes: pa.RecordBatch, signs: Numbers) -> Stretches:
        """Store what changes make of the rows, and return the rows around them."""
        change = _Change(self, changes, signs)
        change.store()
        return change.stretches

    def slots(self, keys: pa.RecordBatch) -> Slots:
        """Return the blocks of some partitions."""
        found = self._lists.of(keys)
        without = np.ones(keys.num_rows, np.bool_)
        without[found.keys] = False
        bare = keys.take(pa.array(np.flatnonzero(without)))
        zero = pa.array(np.zeros(bare.num_rows, np.int64))
        known = {self.listing.names[len(self.names) + len(self.fenced) - 1], BLOCK.name, COUNT.name}
        others = [
            zero if field.name in known else pa.nulls(bare.num_rows, field.type)
            for field in [*self.listing][len(self.names) :]
        ]
        more = pa.RecordBatch.from_arrays([*bare.columns, *others], schema=self.listing)
        partitions = np.concatenate((found.keys, np.flatnonzero(without)))
        if not found.rows.num_rows:
            return Slots(partitions, more, np.zeros(len(partitions), np.bool_))
        rows = pa.concat_batches([found.rows, more])
        order = self.sorted(partitions, self.fences(rows))
        return Slots(partitions[order], rows.take(pa.array(order)), order < found.rows.num_rows)

    def fences(self, listing: pa.RecordBatch) -> pa.RecordBatch:
        """Return where blocks begin."""
        columns = listing.columns[len(self.names) : len(self.names) + len(self.fenced)]
        return pa.RecordBatch.from_arrays(columns, names=self.fenced)

    def sorted(self, codes: Positions, fenced: pa.RecordBatch) -> Positions:
        """Return the places of rows, of which there are the columns of fences, by code and order."""
        return sorting(codes, fenced, self.order, numbers(fenced.column(ARRIVAL)))

    def read(self, keys: pa.RecordBatch, blocks: Numbers) -> tuple[pa.RecordBatch, Positions]:
        """Return the rows of a block of each key in the order of their arrival, and whose they are."""
        wanted = pa.RecordBatch.from_arrays(
            [*keys.columns, pa.array(blocks)], names=[*self.names, BLOCK.name]
        )
        found = self._rows.of(wanted)
        order = np.argsort(numbers(found.rows.column(ARRIVAL)), kind="stable")
        rows = found.rows.take(pa.array(order)).select(self._entries.stored.names)
        return rows, found.keys[order]

    def replace(self, gone: tuple[pa.RecordBatch, Numbers], fresh: tuple[pa.RecordBatch, Numbers]) -> None:
        """Delete rows from blocks, and put others into blocks."""
        for change, (rows, blocks) in ((self._rows.delete, gone), (self._rows.put, fresh)):
            change(pa.RecordBatch.from_arrays([*rows.columns, pa.array(blocks)], schema=self._stored))

    def list(self, gone: pa.RecordBatch, fresh: pa.RecordBatch) -> None:
        """Take blocks out of the lists, and list others."""
        self._lists.delete(gone)
        self._lists.put(fresh)


class _Change:
    """The changes of an epoch, the blocks that they touch, and those around these."""

    def __init__(self, state: BlockedRows, changes: pa.RecordBatch, signs: Numbers) -> None:
        self._state = state
        partitions = groups_of(changes, state.names)
        self._keys = changes.select(state.names).take(pa.array(partitions.firsts))
        self._slots = slots = state.slots(self._keys)
        first, last = self._located(changes, partitions.numbers, signs < 0)
        marks = (
            np.bincount(first, minlength=len(slots.ids))
            - np.bincount(last + 1, minlength=len(slots.ids) + 1)[:-1]
        )
        self._touched: Mask = np.cumsum(marks) > 0
        seen = self._seen()
        chosen = np.flatnonzero(seen)
        before, old_slots = self._read(chosen)
        self._old = before.num_rows
        rows = pa.concat_batches([before, changes])
        self._slot_of = np.concatenate((old_slots, last))
        stretches = self._stretches(chosen)
        arrivals = numbers(rows.column(ARRIVAL))
        every = np.concatenate((np.ones(self._old, np.int64), signs))
        # As in Flink, the first of equal rows goes.
        left = entries_left(rows, rows.schema.names[:-1], every, arrivals)
        known = Entries(np.arange(self._old), arrivals[: self._old])
        earlier = self._earlier(seen, stretches)
        self.stretches = Stretches(rows, stretches[self._slot_of], known, left, earlier)

    def store(self) -> None:
        """Write the rows that are left, and the lists of blocks."""
        rows, places = self.stretches.rows, self.stretches.after.places
        made = self._cut(self._slot_of[places])
        ids = np.append(self._slots.ids, made.ids)
        was, target = self._slots.ids[self._slot_of], ids[made.slots]
        stays = np.zeros(len(was), np.bool_)
        stays[places] = (target == was[places]) & (places < self._old)
        gone = np.flatnonzero(~stays[: self._old])
        fresh = np.flatnonzero(~stays[places])
        self._state.replace(
            (rows.take(pa.array(gone)), was[gone]), (rows.take(pa.array(places[fresh])), target[fresh])
        )
        self._list(made, np.bincount(made.slots, minlength=len(ids)))

    def _located(
        self, changes: pa.RecordBatch, partitions: Positions, gone: Mask
    ) -> tuple[Positions, Positions]:
        """Return the first and the last block in which the row of each change may be; a row that comes has one."""
        state, slots = self._state, self._slots
        if not slots.listed.any():
            return partitions, partitions
        count, leaving = len(slots.ids), np.flatnonzero(gone)
        mine = changes.select(state.fenced)
        earliest = mine.take(pa.array(leaving))
        earliest = earliest.set_column(len(state.fenced) - 1, ARRIVAL, pa.array(np.full(len(leaving), -1)))
        every = pa.concat_batches(
            [part.select(state.fenced) for part in (state.fences(slots.rows), mine, earliest)]
        )
        codes = np.concatenate((slots.partitions, partitions, partitions[leaving]))
        order = state.sorted(codes, every)
        place = np.empty(len(order), np.int64)
        place[order] = np.cumsum(order < count) - 1
        lowest, highest = (np.searchsorted(slots.partitions, codes, side) for side in ("left", "right"))
        place = np.clip(place, lowest, highest - 1)[count:]
        first, last = place[: len(partitions)].copy(), place[: len(partitions)]
        first[leaving] = place[len(partitions) :]
        return first, last

    def _seen(self) -> Mask:
        """Return which blocks the calls need."""
        reach, seen = self._state.reach, self._touched.copy()
        if reach.whole and self._state.calls is None:
            return np.ones(len(seen), np.bool_)
        if reach.rows:
            seen |= self._near(reach.rows)
        if reach.distance is not None:
            seen |= self._within(reach.distance)
        if not reach.whole:
            return seen
        partitions, places = self._slots.partitions, np.flatnonzero(seen)
        first = np.full(self._keys.num_rows, len(seen))
        np.minimum.at(first, partitions[places], places)
        onward: Mask = np.arange(len(seen)) >= first[partitions]
        return onward

    def _earlier(self, seen: Mask, stretches: Positions) -> Earlier | None:
        """Return the accumulators of the rows before the blocks that are seen, which are the last ones."""
        state, slots, hidden = self._state, self._slots, np.flatnonzero(~seen)
        if state.calls is None or not len(hidden):
            return None
        partitions = slots.partitions[hidden]
        begins = np.flatnonzero(np.append(True, np.diff(partitions) > 0))
        sums = slots.rows.select([field.name for field in state.sums]).take(pa.array(hidden))
        last = np.searchsorted(slots.partitions, partitions[begins], "right") - 1
        groups = Segments(np.arange(len(hidden)), begins)
        return Earlier(stretches[last], state.calls.combine(sums.columns, groups))

    def _near(self, rows: int) -> Mask:
        """Return which blocks have rows up to so many from a block that is touched."""
        partitions, touched = self._slots.partitions, np.flatnonzero(self._touched)
        others = np.where(self._touched, 0, self._slots.counts)
        until, places = np.cumsum(others), np.arange(len(others))
        following = np.searchsorted(touched, places, "left")
        after = touched[np.minimum(following, len(touched) - 1)]
        before = touched[np.maximum(following - 1, 0)]
        behind = (before < places) & (until - others - until[before] < rows)
        ahead = (after > places) & (until[after] - until < rows)
        near: Mask = (behind & (partitions[before] == partitions)) | (
            ahead & (partitions[after] == partitions)
        )
        return near

    def _within(self, distance: Distance) -> Mask:
        """Return which blocks may have values up to a distance from those of a block that is touched."""
        partitions, touched = self._slots.partitions, np.flatnonzero(self._touched)
        fences = Partitions(partitions, self._state.fences(self._slots.rows), self._state.order)
        frames = fences.frames(PartitionFrame(False, -distance, distance))
        first = np.maximum(frames.starts[touched] - 1, fences.first[touched])
        following = np.minimum(touched + 1, fences.last[touched])
        last = np.where(following > touched, frames.ends[following], touched)
        marks = np.bincount(np.minimum(first, touched), minlength=len(partitions) + 1)
        marks = marks - np.bincount(last + 1, minlength=len(partitions) + 1)
        found: Mask = np.cumsum(marks[:-1]) > 0
        return found

    def _read(self, chosen: Positions) -> tuple[pa.RecordBatch, Positions]:
        """Return the rows of some blocks, and the blocks that they are in."""
        keys = self._keys.take(pa.array(self._slots.partitions[chosen]))
        rows, blocks = self._state.read(keys, self._slots.ids[chosen])
        return rows, chosen[blocks]

    def _stretches(self, chosen: Positions) -> Positions:
        """Return the number of the stretch of each block, of those that follow each other."""
        partitions = self._slots.partitions[chosen]
        begins = np.append(True, (np.diff(chosen) > 1) | (np.diff(partitions) > 0))[: len(chosen)]
        found = np.zeros(len(self._slots.ids), np.int64)
        found[chosen] = np.cumsum(begins) - 1
        return found

    def _cut(self, slots: Positions) -> Cut:
        """Return in which blocks the rows that are left shall be, which are in these now."""
        state, (places, _) = self._state, self.stretches.after

        def by_order(some: Positions, codes: Positions) -> Positions:
            """Return the order of some rows."""
            return state.sorted(codes, self.stretches.rows.select(state.fenced).take(pa.array(places[some])))

        return cut(self._slots, self._touched, slots, state.size, by_order)

    def _list(self, made: Cut, counts: Numbers) -> None:
        """Write the lists of the partitions that have one, or have several blocks now."""
        slots, state, known = self._slots, self._state, len(self._slots.ids)
        counts[:known] = np.where(self._touched, counts[:known], slots.counts)
        partitions = np.append(slots.partitions, made.partitions)
        listed = np.append(slots.listed, np.zeros(len(made.ids), np.bool_))
        with_list = np.zeros(self._keys.num_rows, np.bool_)
        with_list[partitions[listed]] = with_list[made.partitions] = True
        changed = ~listed
        changed[:known] |= self._touched if state.sums else slots.counts != counts[:known]
        changed &= with_list[partitions]
        gone, fresh = np.flatnonzero(changed & listed), np.flatnonzero(changed & (counts > 0))
        if not len(gone) and not len(fresh):
            return
        left = self.stretches.rows.select(state.fenced).take(pa.array(self.stretches.after.places))
        fences = pa.concat_batches([state.fences(slots.rows), left])
        begins = np.where(listed, np.arange(len(listed)), known + made.firsts)
        columns = [
            *self._keys.take(pa.array(partitions[fresh])).columns,
            *fences.take(pa.array(begins[fresh])).columns,
            pa.array(np.append(slots.ids, made.ids)[fresh]),
            pa.array(counts[fresh]),
            *self._sums(made.slots, fresh),
        ]
        listing = pa.RecordBatch.from_arrays(columns, schema=state.listing)
        state.list(slots.rows.take(pa.array(gone)), listing)

    def _sums(self, slots: Positions, listed: Positions) -> list[pa.Array]:
        """Return the accumulators of some blocks, if calls need them; `slots` are those of the rows that are left."""
        state, rows = self._state, self.stretches.rows
        if state.calls is None:
            return []
        number = np.full(int(slots.max(initial=-1)) + 1, -1)
        number[listed] = np.arange(len(listed))
        some = np.flatnonzero(number[slots] >= 0)
        codes = number[slots[some]]
        mine = rows.take(pa.array(self.stretches.after.places[some]))
        order = state.sorted(codes, mine.select(state.fenced))
        lifted = state.calls.lift(mine.take(pa.array(order)))
        return state.calls.combine(
            lifted, Segments(np.arange(len(some)), np.searchsorted(codes[order], np.arange(len(listed))))
        )
