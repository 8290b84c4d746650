"""The rows of partitions as a rank keeps them: the first ones together, all others aside.

Contract: all rows that can be shown are among the first rows of their partition, and each of these comes before all
rows that are aside. So an epoch reads and changes the first rows of the partitions that it touches, however many others
they have. What happens to the others is a log: rows that come, and rows that go, in the order of their arrival. It is
read when a partition has lost so many of its first rows that others take their place, and when much of the log is of
rows that went. Each such reading takes in as many rows as have to go before the next one, so what it costs is spread
over them.

With a time to live, and where the last rank is that of a column, all rows of a partition are kept together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.ranks import Rank
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.arrivals import ARRIVAL
from firesteel.runtime.columns.batch import ColumnBatch, reduced
from firesteel.runtime.columns.materialize.entries import (
    Entries,
    entries_by_content,
    groups_of,
    unmet_retractions,
)
from firesteel.runtime.columns.materialize.tables import Applied, PartitionEntries
from firesteel.runtime.columns.over.partitions import RANKS, Partitions, sorting
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_SIGN: Final = pa.field("sign", pa.int64(), nullable=False)
_LOGGED: Final = pa.field("logged", pa.int64(), nullable=False)
_GONE: Final = pa.field("gone", pa.int64(), nullable=False)
FEW: Final = 1 << 10
"""How many rows that went may be in the log of any partition."""


class Ranking:
    """The order and the ranks of rows within their partitions."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank

    def of(self, rows: pa.RecordBatch, codes: Positions, arrivals: Numbers) -> tuple[Positions, Numbers]:
        """Return the order of rows, which begin with the rank's columns, and the rank of each row in that order."""
        return ranked(self._rank, codes, rows, arrivals)

    def reduced(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with what their ranks depend on alone."""
        kept = {key.column for key in self._rank.order}
        return reduced(rows, kept if self._rank.end_column is None else kept | {self._rank.end_column})


def ranked(
    rank: Rank, codes: Positions, rows: pa.RecordBatch, arrivals: Numbers
) -> tuple[Positions, Numbers]:
    """Return the order of rows by partition and rank, and the rank of each in that order.

    `codes` are the numbers of the partitions, `arrivals` tell in which order the rows came.
    """
    rows = reduced(rows, {key.column for key in rank.order})
    order = sorting(codes, rows, rank.order, -arrivals if rank.latest else arrivals)
    partitions = Partitions(codes[order], rows.take(pa.array(order)), rank.order)
    return order, np.asarray(RANKS[rank.function](partitions))


def last_ranks(rank: Rank, rows: pa.RecordBatch) -> Numbers:
    """Return the last rank that is shown in the partition of each row."""
    if rank.end_column is None:
        return np.full(rows.num_rows, rank.end)
    ends = rows.column(rank.end_column).cast(pa.int64()).fill_null(0)
    return np.maximum(numbers(ends), 0) + rank.end


def first_ranked(
    rank: Rank, codes: Positions, rows: pa.RecordBatch, arrivals: Numbers
) -> tuple[Positions, Numbers]:
    """Return the places of the rows whose rank is not above the last one, in the order of `ranked`, and their ranks."""
    order, ranks = ranked(rank, codes, rows, arrivals)
    first = ranks <= last_ranks(rank, rows)[order]
    return order[first], ranks[first]


class _Aside(NamedTuple):
    """For each partition, how many changes are in its log, and how many of them are of rows that went."""

    logged: Numbers
    gone: Numbers


class RankedRows:
    """The rows of all partitions of a subtask; `slack` is how many rows are kept among the first without need."""

    def __init__(self, rank: Rank, ranking: Ranking, slack: int) -> None:
        self._rank = rank
        self._ranking = ranking
        self._entries = PartitionEntries(rank.row, rank.keys, rank.time_to_live)
        self._kept = 2 * rank.end + slack
        self._splits = rank.sets_aside

    def declare(self, arrangements: LiveArrangements) -> None:
        """Declare the arrangements."""
        entries = self._entries
        self._first = arrangements.declare("rows", entries.layout)
        if self._splits:
            keys = [entries.stored.field(name) for name in entries.names]
            log = Layout(pa.schema([*entries.stored, _SIGN]), tuple(entries.names), Kind.MULTISET)
            self._log = arrangements.declare("others", log)
            sizes = Layout(pa.schema([*keys, _LOGGED, _GONE]), tuple(entries.names))
            self._sizes = arrangements.declare("others of partitions", sizes)

    def numbered(self, batch: ColumnBatch, first: int) -> pa.RecordBatch:
        """Return the rows of a batch as they are stored, numbered from `first` on."""
        return self._entries.numbered(batch, first)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the first rows of all partitions."""
        return self._first.rows()

    def apply(self, changes: pa.RecordBatch, signs: Numbers) -> Applied:
        """Return what changes make of the first rows of the partitions that they touch."""
        if not self._splits:
            return self._entries.apply(self._first, changes, signs)
        return _Change(self, changes, signs).applied()

    def store(self, applied: Applied, kept: Entries) -> None:
        """Replace the old first rows by others."""
        self._entries.store(self._first, applied, kept)
        if self._rank.time_to_live is not None:
            self._refresh(applied, kept.places)

    def _refresh(self, applied: Applied, kept: Positions) -> None:
        """Let rows live anew if others with their place in the order have come or gone.

        As in Flink, where rows that are equal in the order are one value of a map.
        """
        names = [*self._entries.names, *(f"c{key.column}" for key in self._rank.order)]
        groups = groups_of(applied.rows, names).numbers
        stays = np.zeros(applied.old, np.bool_)
        stays[kept[kept < applied.old]] = True
        written = np.zeros(int(groups.max(initial=-1)) + 1, np.bool_)
        written[groups[kept[kept >= applied.old]]] = True
        written[groups[: applied.old][~stays]] = True
        anew = np.flatnonzero(stays & written[groups[: applied.old]])
        self._first.change(applied.rows.take(pa.array(anew)), np.zeros(len(anew), np.int64))


class _Change:
    """The changes of an epoch; codes are the numbers of the partitions that they touch."""

    def __init__(self, state: RankedRows, changes: pa.RecordBatch, signs: Numbers) -> None:
        self._state = state
        self._changes = changes
        self._signs = signs
        entries = state._entries
        groups = groups_of(changes, entries.names)
        self._codes = np.empty(changes.num_rows, np.int64)
        self._codes[groups.order] = groups.groups
        self._keys = changes.select(entries.names).take(pa.array(groups.firsts))
        found = state._first.of(self._keys)
        by_arrival = np.argsort(numbers(found.rows.column(ARRIVAL)), kind="stable")
        self._old = found.rows.take(pa.array(by_arrival))
        self._old_codes = found.keys[by_arrival]
        self._aside = self._known_aside()

    def applied(self) -> Applied:
        """Return what the changes make of the first rows; those aside are stored."""
        old = self._old.num_rows
        beyond = self._beyond() & (self._signs > 0)
        inside = np.flatnonzero(~beyond)
        rows = pa.concat_batches([self._old, self._changes.take(pa.array(inside))])
        codes = np.concatenate((self._old_codes, self._codes[inside]))
        signs = np.concatenate((np.ones(old, np.int64), self._signs[inside]))
        groups = self._identities(rows)
        left = entries_by_content(groups, signs, _arrivals(rows))
        unmet = inside[unmet_retractions(groups, signs) - old]
        unmet = unmet[self._aside.logged[self._codes[unmet]] > 0]
        logged = np.sort(np.concatenate((np.flatnonzero(beyond), unmet)))
        return self._completed(Applied(rows, codes, old, left), logged)

    def _completed(self, applied: Applied, logged: Positions) -> Applied:
        """Return the first rows with others where some are missing, and without those that are too many."""
        count = self._keys.num_rows
        before, codes = self._aside, self._codes[logged]
        size = before.logged + np.bincount(codes, minlength=count)
        gone = before.gone + np.bincount(codes[self._signs[logged] < 0], minlength=count)
        lacking = size > 0
        if lacking.any():
            lacking &= self._lacking(applied) | (gone > np.maximum(FEW, size // 2))
        fresh = _with_signs(self._changes.take(pa.array(logged)), self._signs[logged])
        if not lacking.any() and not self._crowded(applied).any():
            self._state._log.put(fresh)
            self._store_sizes(size, gone)
            return applied
        return self._moved(applied, fresh, codes, lacking, size, gone)

    def _moved(
        self,
        applied: Applied,
        fresh: pa.RecordBatch,
        fresh_codes: Positions,
        lacking: Mask,
        size: Numbers,
        gone: Numbers,
    ) -> Applied:
        """Return the first rows after others have come in, or gone aside; the log says so, too."""
        state = self._state
        read = np.flatnonzero(lacking)
        found = state._log.of(self._keys.take(pa.array(read)))
        mine = lacking[fresh_codes]
        log = pa.concat_batches([found.rows, fresh.filter(pa.array(mine))])
        log_codes = np.concatenate((read[found.keys], fresh_codes[mine]))
        log = log.take(pa.array(by_arrival := np.argsort(_arrivals(log), kind="stable")))
        log_codes, stored = log_codes[by_arrival], by_arrival < found.rows.num_rows
        rows = log.select(log.schema.names[:-1])
        left = entries_by_content(self._identities(rows), numbers(log.column(_SIGN.name)), _arrivals(rows))
        width = applied.rows.num_rows
        every = Applied(
            pa.concat_batches([applied.rows, rows]),
            np.concatenate((applied.codes, log_codes)),
            applied.old,
            Entries(
                np.concatenate((applied.entries.places, left.places + width)),
                np.concatenate((applied.entries.arrivals, left.arrivals)),
            ),
        )
        stays = self._first_enough(every, lacking | self._crowded(every))
        out = every.entries.places[~stays]
        aside = np.zeros(log.num_rows, np.bool_)
        aside[out[out >= width] - width] = True
        state._log.delete(log.filter(pa.array(stored & ~aside)))
        state._log.put(log.filter(pa.array(~stored & aside)))
        state._log.put(fresh.filter(pa.array(~mine)))
        pushed = out < width
        moved = every.rows.take(pa.array(out[pushed]))
        columns = [*moved.columns[:-1], pa.array(every.entries.arrivals[~stays][pushed])]
        moved = pa.RecordBatch.from_arrays(columns, schema=moved.schema)
        state._log.put(_with_signs(moved, np.ones(moved.num_rows, np.int64)))
        size, gone = np.where(lacking, 0, size), np.where(lacking, 0, gone)
        counted = pushed | lacking[every.codes[out]]
        size += np.bincount(every.codes[out[counted]], minlength=len(size))
        self._store_sizes(size, gone)
        places, arrivals = every.entries
        return every._replace(entries=Entries(places[stays], arrivals[stays]))

    def _first_enough(self, applied: Applied, trimmed: Mask) -> Mask:
        """Return which entries are among the first ones; of partitions that are `trimmed` there are not too many."""
        places = applied.entries.places
        order, ranks = self._ranks(applied)
        codes = applied.codes[places[order]]
        number = np.arange(len(order)) - np.searchsorted(codes, codes, "left")
        shown = np.bincount(codes[ranks <= self._state._rank.end], minlength=self._keys.num_rows)
        first = (number < self._state._kept) | (number <= shown[codes])
        stays = np.ones(len(places), np.bool_)
        stays[order[~first & trimmed[codes]]] = False
        return stays

    def _crowded(self, applied: Applied) -> Mask:
        """Return which partitions have very many first rows."""
        counts = np.bincount(applied.codes[applied.entries.places], minlength=self._keys.num_rows)
        return counts > 2 * self._state._kept

    def _lacking(self, applied: Applied) -> Mask:
        """Return which partitions have so few first rows that others could be shown."""
        rank = self._state._rank
        order, ranks = self._ranks(applied)
        codes = applied.codes[applied.entries.places[order]]
        last = np.zeros(self._keys.num_rows, np.int64)
        np.maximum.at(last, codes, ranks)
        return last < rank.end if rank.function == "ROW_NUMBER" else last <= rank.end

    def _ranks(self, applied: Applied) -> tuple[Positions, Numbers]:
        places, arrivals = applied.entries
        return self._state._ranking.of(applied.rows.take(pa.array(places)), applied.codes[places], arrivals)

    def _beyond(self) -> Mask:
        """Return which changes come after all first rows of a partition that has others aside."""
        found = np.zeros(len(self._codes), np.bool_)
        concerned = np.flatnonzero(self._aside.logged[self._codes] > 0)
        if not len(concerned):
            return found
        order, _ = self._state._ranking.of(self._old, self._old_codes, _arrivals(self._old))
        codes = self._old_codes[order]
        lasts = order[np.append(codes[1:] != codes[:-1], True)] if len(codes) else order
        rows = pa.concat_batches([self._old.take(pa.array(lasts)), self._changes.take(pa.array(concerned))])
        codes = np.concatenate((self._old_codes[lasts], self._codes[concerned]))
        order, _ = self._state._ranking.of(rows, codes, _arrivals(rows))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        bound = np.full(self._keys.num_rows, -1)
        bound[codes[: len(lasts)]] = place[: len(lasts)]
        found[concerned] = place[len(lasts) :] > bound[self._codes[concerned]]
        return found

    def _known_aside(self) -> _Aside:
        found = self._state._sizes.get(self._keys)
        logged, gone = (np.zeros(self._keys.num_rows, np.int64) for _ in range(2))
        logged[found.keys] = numbers(found.rows.column(_LOGGED.name))
        gone[found.keys] = numbers(found.rows.column(_GONE.name))
        return _Aside(logged, gone)

    def _store_sizes(self, size: Numbers, gone: Numbers) -> None:
        before, sizes = self._aside, self._state._sizes
        changed = (size != before.logged) | (gone != before.gone)
        columns = [*self._keys.columns, pa.array(size), pa.array(gone)]
        rows = pa.RecordBatch.from_arrays(columns, schema=sizes.layout.rows)
        sizes.put(rows.filter(pa.array(changed & (size > 0))))
        sizes.delete(rows.filter(pa.array(changed & (size == 0))))

    def _identities(self, rows: pa.RecordBatch) -> Segments:
        return groups_of(rows, rows.schema.names[:-1])


def _arrivals(rows: pa.RecordBatch) -> Numbers:
    return numbers(rows.column(ARRIVAL))


def _with_signs(rows: pa.RecordBatch, signs: Numbers) -> pa.RecordBatch:
    schema = pa.schema([*rows.schema, _SIGN])
    return pa.RecordBatch.from_arrays([*rows.columns, pa.array(signs)], schema=schema)
