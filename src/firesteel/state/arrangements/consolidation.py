"""Consolidation: of rows with one identity, one is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.columns import Mask, Numbers, numbers, rows_at, same_rows
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.layout import HASH, IDENTITY, WEIGHT, Kind, Layout
from firesteel.state.arrangements.lifetimes import summed
from firesteel.state.arrangements.sorting import Positions, order_by, same_as_next, sorted_words


class Survivors(NamedTuple):
    """What consolidation leaves: the places of rows in the order of the layout, and their weights.

    In a multiset with a time to live, `times` are their write times, as `Layout.times` names them.
    """

    places: Positions
    weights: Numbers
    times: tuple[Numbers, ...] = ()


def consolidated(layout: Layout, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return stored changes, given oldest first, in the order of the layout and each identity once.

    An upsert keeps the last row of an identity. A multiset keeps one with the sum of the weights; those with sum 0 go.
    With a time to live they stay, since they are written all the same; see `lifetimes`.
    """
    return left_of(layout, batch, survivors(layout, batch))


def left_of(layout: Layout, batch: pa.RecordBatch, left: Survivors) -> pa.RecordBatch:
    """Return what consolidation leaves of stored changes."""
    batch = rows_at(batch, left.places)
    if layout.kind is Kind.UPSERT:
        return batch
    for name, column in zip((*layout.times, WEIGHT), (*left.times, left.weights), strict=True):
        batch = batch.set_column(
            batch.schema.get_field_index(name), layout.stored.field(name), pa.array(column)
        )
    return batch


def survivors(layout: Layout, batch: pa.RecordBatch) -> Survivors:
    """Return the rows that consolidation leaves."""
    order, equal = _order(layout, batch)
    if equal.any():
        order, equal = _exactly(layout, batch, order, equal)
    weights = numbers(batch.column(WEIGHT))
    if layout.kind is Kind.UPSERT:
        lasts = order[np.append(~equal, True)[: len(order)]] if equal.any() else order
        return Survivors(lasts, weights[lasts])
    weights = weights[order]
    starts = np.flatnonzero(np.append(True, ~equal))[: len(order)]
    if layout.time_to_live is not None:
        since, written = (numbers(batch.column(name))[order] for name in layout.times)
        places, sums, *times = summed(starts, weights, since, written, layout.time_to_live)
        return Survivors(order[places], sums, tuple(times))
    if len(starts) < len(order):
        order, weights = order[starts], np.add.reduceat(weights, starts)
    alive = weights != 0
    return Survivors(order, weights) if alive.all() else Survivors(order[alive], weights[alive])


def _order(layout: Layout, batch: pa.RecordBatch) -> tuple[Positions, Mask]:
    """Return the order of rows by their words, and which of them have the same words as the next one."""
    leading = None if layout.leading is None else numbers(batch.column(layout.leading))
    order, hashes = order_by(leading, batch.column(HASH).to_numpy())
    equal = same_as_next(None if leading is None else leading[order], hashes)
    if layout.kind is Kind.MULTISET and equal.any():
        return _order_by_identity(order, equal, batch.column(IDENTITY).to_numpy())
    return order, equal


def _order_by_identity(order: Positions, equal: Mask, identities: Words) -> tuple[Positions, Mask]:
    """Refine an order: rows of one key (`equal`) by their identities.

    The number of the key and the high bits of the identity make one word. Identities that differ in the low bits only
    count as equal; `_exactly` settles that, as any other collision.
    """
    keys = np.concatenate(([0], np.cumsum(~equal))).astype(np.uint64)
    bits = np.uint64(max(int(keys[-1]).bit_length(), 1))
    words = keys << (np.uint64(64) - bits) | identities[order] >> bits
    refined, words = sorted_words(words)
    return order[refined], words[1:] == words[:-1]


def _exactly(layout: Layout, batch: pa.RecordBatch, order: Positions, equal: Mask) -> tuple[Positions, Mask]:
    """Settle which neighbours with equal words are equal rows.

    Rows that differ all the same are collisions of hashes. Stretches with collisions are brought into an order in which
    equal rows are neighbours.
    """
    if layout.kind is Kind.UPSERT and layout.exact and not batch.column(layout.keys[0]).null_count:
        return order, equal
    places = np.flatnonzero(equal)
    same = _same_at(layout, batch, order, places)
    if same.all():
        return order, equal
    order, equal = order.copy(), equal.copy()
    edges = np.flatnonzero(np.diff(np.concatenate(([0], equal.view(np.int8), [0]))))
    for start, stop in edges.reshape(-1, 2):
        stretch = order[start : stop + 1]
        order[start : stop + 1] = stretch[_by_first_appearance(layout, batch.take(pa.array(stretch)))]
    equal[places] = _same_at(layout, batch, order, places)
    return order, equal


def _same_at(layout: Layout, batch: pa.RecordBatch, order: Positions, places: Positions) -> Mask:
    """Return for each place whether the rows there and after it are equal."""
    rows = batch.select(list(layout.identifying))
    here, next_one = (rows.take(pa.array(order[at])) for at in (places, places + 1))
    return same_rows(here, next_one, layout.identifying)


def _by_first_appearance(layout: Layout, rows: pa.RecordBatch) -> Positions:
    """Return an order in which equal rows are neighbours, and else stay in their order."""
    left = np.arange(rows.num_rows)
    order: list[int] = []
    while len(left):
        first = rows.take(pa.array(np.full(len(left), left[0])))
        same = same_rows(first, rows.take(pa.array(left)), layout.identifying)
        order.extend(left[same].tolist())
        left = left[~same]
    return np.array(order, np.int64)
