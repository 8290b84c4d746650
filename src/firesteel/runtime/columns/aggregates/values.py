"""What becomes of stored values in an epoch: which are new or gone, what the extremes are, what the groups contain.

Each function gets the values that come and go: `owners` has the number of the group of each, `weights` how many come
(below 0: go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.chosen import Chosen, coded
from firesteel.runtime.columns.aggregates.contents import Contents, equal_rows, owned
from firesteel.runtime.columns.aggregates.segments import Segments, segments_of
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.sorting import Positions


@dataclass(frozen=True)
class Moves:
    """Values that come and go: `rows` have the columns of a store's layout, `owners` the numbers of their groups.

    Where several stores share a layout, `others` are the weights of all but the first.
    """

    rows: pa.RecordBatch
    owners: Positions
    weights: Numbers
    others: tuple[Numbers, ...] = ()

    def where(self, mask: Mask) -> Moves:
        """Return some of the values."""
        if mask.all():
            return self
        others = tuple(weights[mask] for weights in self.others)
        return Moves(self.rows.filter(pa.array(mask)), self.owners[mask], self.weights[mask], others)


class Transitions(NamedTuple):
    """The places of values that a group has now and had not (sign 1), or the other way round (-1)."""

    places: Positions
    signs: Numbers


def transitions(arrangement: Arrangement, moves: Moves, *, counts: bool) -> list[Transitions]:
    """Change a table of distinct values; return for each of its stores which are new and which are gone.

    They come in the order in which they came. `counts`: occurrences have to be counted, because values can go or their
    last write time matters.
    """
    groups = segments_of(moves.rows, arrangement.layout.hash_of(moves.rows))
    hashes = groups.hashes
    assert hashes is not None
    net = np.stack([groups.sums(weights) for weights in (moves.weights, *moves.others)])
    values = moves.rows.take(pa.array(groups.firsts))
    found = arrangement.get(values, hashes)
    before = np.zeros(net.shape, np.int64)
    before[:, found.keys] = [numbers(column) for column in found.rows.columns[values.num_columns :]]
    after = np.maximum(before + net, 0)
    changed = (before > 0) != (after > 0)
    there = (after > 0).any(axis=0)
    written = (net != 0 if counts else changed).any(axis=0) & (there | (before > 0).any(axis=0))
    if written.any():
        columns = [*values.columns, *map(pa.array, after)]
        rows = pa.RecordBatch.from_arrays(columns, schema=arrangement.layout.rows)
        arrangement.change(rows.filter(pa.array(written)), np.where(there, 1, -1)[written], hashes[written])
    return [
        _ordered(groups.firsts[new], signs[new]) for new, signs in zip(changed, _signs(after), strict=True)
    ]


def _signs(counts: Numbers) -> Numbers:
    return np.where(counts > 0, 1, -1)


def _ordered(places: Positions, signs: Numbers) -> Transitions:
    order = np.argsort(places)
    return Transitions(places[order], signs[order])


def extremes(
    part: Chosen, current: pa.Array, arrangement: Arrangement, moves: Moves, keys: pa.RecordBatch
) -> pa.Array:
    """Return each group's extreme after a change of its values, which `arrangement` has seen already.

    `current` are the extremes before. All values of a group are read only if its extreme has gone, and nothing as
    extreme has come.
    """
    value = coded(moves.rows.column(moves.rows.num_columns - 1))
    net = equal_rows(owned(moves.owners, [value]))
    weights = np.add.reduceat(moves.weights[net.order], net.starts) if len(net) else moves.weights
    owners, values = moves.owners[net.firsts], value.take(pa.array(net.firsts))
    come, gone = (
        _chosen(part, owners[chosen], values.filter(pa.array(chosen)), len(current))
        for chosen in (weights > 0, weights < 0)
    )
    (best,) = part.merge([current], [come])
    (most,) = part.merge([best], [gone])
    below = pc.and_(pc.equal(most, best), pc.or_(pc.not_equal(gone, best), _is(come, best)))
    fine = pc.or_(pc.is_null(gone), pc.fill_null(below, False))
    uncertain = np.flatnonzero(~np.asarray(fine))
    if not len(uncertain):
        return best
    found = arrangement.of(keys.take(pa.array(uncertain)))
    stored = coded(found.rows.column(found.rows.num_columns - 1))
    read = _chosen(part, uncertain[found.keys], stored, len(current))
    return pc.if_else(fine, best, read)


def _is(one: pa.Array, other: pa.Array) -> pa.Array:
    return pc.fill_null(pc.equal(one, other), False)


def _chosen(part: Chosen, owners: Positions, values: pa.Array, count: int) -> pa.Array:
    """Return the extreme value of each group, NULL for those that have none."""
    if not len(owners):
        return pa.nulls(count, part.types[0])
    groups = by_owner(owners)
    (chosen,) = part.combine([values], groups)
    places = np.full(count, -1)
    places[owners[groups.firsts]] = np.arange(len(groups))
    return chosen.take(pa.array(places, mask=places < 0))


def by_owner(owners: Positions) -> Segments:
    """Return the groups of rows with equal owners, in the order of the owners."""
    order = np.argsort(owners, kind="stable")
    ordered = owners[order]
    return Segments(order, np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(order)])


def bag_contents(arrangement: Arrangement, keys: pa.RecordBatch, moves: Moves) -> tuple[Contents, Contents]:
    """Return the contents of groups before and after a change of a bag, which does not know of it yet."""
    found = arrangement.of(keys)
    width = len(arrangement.layout.keys)
    columns = found.rows.columns[width:]
    old = netted(keys.num_rows, found.keys, columns, found.weights)
    owners = np.concatenate((found.keys, moves.owners))
    both = [pa.concat_arrays(pair) for pair in zip(columns, moves.rows.columns[width:], strict=True)]
    arrangement.change(moves.rows, moves.weights)
    return old, netted(keys.num_rows, owners, both, np.concatenate((found.weights, moves.weights)))


def netted(groups: int, owners: Positions, columns: list[pa.Array], weights: Numbers) -> Contents:
    """Return contents in which each value is there once."""
    if len(owners):
        equal = equal_rows(owned(owners, columns))
        weights = equal.sums(weights)
        alive = weights > 0
        places = equal.firsts[alive]
        order = np.argsort(owners[places], kind="stable")
        places, weights = places[order], weights[alive][order]
        owners, columns = owners[places], [column.take(pa.array(places)) for column in columns]
    return Contents(groups, owners, columns, weights)


def log_contents(arrangement: Arrangement, keys: pa.RecordBatch, moves: Moves) -> tuple[Contents, Contents]:
    """Return the contents of groups before and after a change of a log, which gets it; the moves are in order.

    A value that goes is the earliest of its equals, as in Flink.
    """
    width = len(arrangement.layout.keys)
    found = arrangement.of(keys)
    order = np.lexsort((numbers(found.rows.column(found.rows.num_columns - 1)), found.keys))
    stored, owners = found.rows.take(pa.array(order)), found.keys[order]
    columns = stored.columns[width:-1]
    old = Contents(keys.num_rows, owners, columns, np.ones(len(owners), np.int64))
    come, go = moves.where(moves.weights > 0), moves.where(moves.weights < 0)
    both = pa.concat_batches([stored, come.rows])
    all_owners = np.concatenate((owners, come.owners))
    kept = _kept(all_owners, both.columns[width:-1], go, width)
    arrangement.change(
        stored.filter(pa.array(~kept[: len(owners)])), np.full((~kept[: len(owners)]).sum(), -1)
    )
    arrangement.put(come.rows.filter(pa.array(kept[len(owners) :])))
    places = np.flatnonzero(kept)
    places = places[np.argsort(all_owners[places], kind="stable")]
    new = [column.take(pa.array(places)) for column in both.columns[width:-1]]
    return old, Contents(keys.num_rows, all_owners[places], new, np.ones(len(places), np.int64))


def _kept(owners: Positions, columns: list[pa.Array], go: Moves, width: int) -> Mask:
    """Return which values stay when, of equal ones, as many of the first go as `go` has."""
    count = len(owners)
    if not len(go.owners):
        return np.ones(count, np.bool_)
    every = [pa.concat_arrays(pair) for pair in zip(columns, go.rows.columns[width:-1], strict=True)]
    equal = equal_rows(owned(np.concatenate((owners, go.owners)), every))
    leaving = np.add.reduceat((equal.order >= count).astype(np.int64), equal.starts)
    rank = np.arange(len(equal.order)) - equal.starts[equal.groups]
    kept = np.ones(len(equal.order), np.bool_)
    kept[equal.order] = rank >= leaving[equal.groups]
    return kept[:count]
