"""Rows of a query that have one primary key in the sink, in the order of their arrival, and how changes change them.

Source: Flink's SinkUpsertMaterializer. A row that is added comes last; with an upsert key it takes the place of the row
that has this key. A row that is retracted is the first one that is equal, or has this key; if there is none, nothing
happens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.segments import Segments, segments_of
from firesteel.state.arrangements.columns import Mask, Numbers
from firesteel.state.arrangements.hashing import hash_columns
from firesteel.state.arrangements.sorting import Positions


class Entries(NamedTuple):
    """The entries that changes leave: row `places[i]` of all, which came as number `arrivals[i]`."""

    places: Positions
    arrivals: Numbers


def groups_of(rows: pa.RecordBatch, names: list[str]) -> Segments:
    """Return the groups of rows that are equal in some columns."""
    keys = rows.select(names)
    return segments_of(keys, hash_columns(keys.columns))


def entries_by_key(groups: Segments, signs: Numbers, arrivals: Numbers) -> Entries:
    """Return the entries left by changes; of the rows of a group, which have one upsert key, there is at most one.

    Rows come in the order of their arrival: those that were there, then the changes, with 1 or -1 as their sign.

    >>> rows = pa.RecordBatch.from_pydict({"k": [7, 8, 7, 8, 9]})
    >>> entries_by_key(groups_of(rows, ["k"]), np.array([1, 1, 1, -1, 1]), np.arange(5))
    Entries(places=array([2, 4]), arrivals=array([0, 4]))
    """
    order, count = groups.order, len(groups.order)
    at = np.arange(count)
    starts = np.repeat(groups.starts, groups.lengths)
    since = np.maximum.accumulate(np.where(signs[order] < 0, at + 1, starts))
    ends = groups.starts + groups.lengths - 1
    left = ends[signs[order[ends]] > 0]
    return _by_arrival(order[left], arrivals[order[since[left]]])


def entries_by_content(groups: Segments, signs: Numbers, arrivals: Numbers) -> Entries:
    """Return the entries left by changes; the rows of a group are equal, and each retraction takes the first of them.

    >>> rows = pa.RecordBatch.from_pydict({"k": [7, 7, 7, 8]})
    >>> entries_by_content(groups_of(rows, ["k"]), np.array([1, 1, -1, -1]), np.arange(4))
    Entries(places=array([1]), arrivals=array([1]))
    """
    order = groups.order
    added = signs[order] > 0
    before: Numbers = np.cumsum(added, dtype=np.int64) - added
    ranks = before - np.repeat(before[groups.starts], groups.lengths)
    taken = np.repeat(_effective(groups, added), groups.lengths)
    left: Mask = added & (ranks >= taken)
    return _by_arrival(order[left], arrivals[order[left]])


def entries_left(rows: pa.RecordBatch, names: list[str], signs: Numbers, arrivals: Numbers) -> Entries:
    """Return what `entries_by_content` does of rows that are told apart by some columns; inserts leave all rows."""
    if (signs > 0).all():
        return Entries(np.arange(len(arrivals)), arrivals)
    return entries_by_content(groups_of(rows, names), signs, arrivals)


def unmet_retractions(groups: Segments, signs: Numbers) -> Positions:
    """Return the places of the retractions that find no row to take, in their order.

    >>> rows = pa.RecordBatch.from_pydict({"k": [7, 8, 7, 7, 7]})
    >>> unmet_retractions(groups_of(rows, ["k"]), np.array([1, -1, -1, -1, 1])).tolist()
    [1, 3]
    """
    if not len(signs):
        return groups.order
    steps = np.where(signs[groups.order] > 0, 1, -1)
    sums = np.cumsum(steps)
    sums -= np.repeat(sums[groups.starts] - steps[groups.starts], groups.lengths)
    level = np.repeat(-np.arange(len(groups.starts)) * (2 * len(steps) + 2), groups.lengths)
    lowest = np.minimum.accumulate(np.minimum(sums, 0) + level)
    before = np.append(0, lowest[:-1])
    before[groups.starts] = level[groups.starts]
    return np.sort(groups.order[sums + level < before])


def _effective(groups: Segments, added: Mask) -> Numbers:
    """Return how many retractions of each group had a row to take; a row that comes after one is not for it.

    How far the sum of the changes so far falls below zero is how many had none.
    """
    steps = np.where(added, 1, -1)
    sums = np.cumsum(steps)
    sums -= np.repeat(sums[groups.starts] - steps[groups.starts], groups.lengths)
    short = np.maximum(0, -np.minimum.reduceat(sums, groups.starts)) if len(sums) else sums
    return np.add.reduceat(~added, groups.starts) - short if len(sums) else short


def _by_arrival(places: Positions, arrivals: Numbers) -> Entries:
    order = np.argsort(arrivals, kind="stable")
    return Entries(places[order], arrivals[order])
