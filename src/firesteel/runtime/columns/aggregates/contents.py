"""The values of groups, for functions whose results are made of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConstraintError
from firesteel.common.logical_types import STRING, LogicalType
from firesteel.runtime.columns.aggregates.json_values import json_texts
from firesteel.runtime.columns.aggregates.segments import Segments, segments_of
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.hashing import hash_columns
from firesteel.state.arrangements.sorting import Positions

Results = Callable[["Contents"], pa.Array]
"""What makes a result for each group of its values."""


@dataclass(frozen=True)
class Contents:
    """The values of `groups` groups: row i belongs to group `owners[i]`, and counts `weights[i]` times.

    Owners ascend, and the rows of a group are in their order.
    """

    groups: int
    owners: Positions
    columns: Sequence[pa.Array]
    weights: Numbers

    def of(self, groups: Positions) -> Contents:
        """Return the contents of some groups, which ascend."""
        places = np.full(self.groups, -1)
        places[groups] = np.arange(len(groups))
        rows = np.flatnonzero(places[self.owners] >= 0)
        columns = [column.take(pa.array(rows)) for column in self.columns]
        return Contents(len(groups), places[self.owners[rows]], columns, self.weights[rows])

    @property
    def offsets(self) -> pa.Array:
        """Where the rows of each group begin, and the number of rows."""
        return pa.array(np.searchsorted(self.owners, np.arange(self.groups + 1)), pa.int32())

    def lists(self, values: pa.Array, *, none: bool) -> pa.ListArray:
        """Return for each group the list of its values; `none`: NULL instead of an empty list."""
        offsets = self.offsets
        if none:
            ends = np.asarray(offsets)
            empty = pa.array(np.append(ends[1:] == ends[:-1], False))
            offsets = pc.if_else(empty, None, offsets)
        return pa.ListArray.from_arrays(offsets, values)


def end_of(last: bool) -> Results:
    """Return what gives each group's last value, or its first one."""

    def result(contents: Contents) -> pa.Array:
        edges = np.asarray(contents.offsets)
        some = edges[1:] > edges[:-1]
        places = edges[1:] - 1 if last else edges[:-1]
        return contents.columns[0].take(pa.array(places, mask=~some))

    return result


def only_value(shown: str) -> Results:
    """Return what gives each group's only value; an error if it has several."""

    def result(contents: Contents) -> pa.Array:
        require_one(shown, np.bincount(contents.owners, contents.weights, contents.groups))
        return end_of(last=False)(contents)

    return result


def require_one(shown: str, counts: Numbers) -> None:
    """Raise ConstraintError if one of the groups of an aggregate has more than one row."""
    most = int(counts.max(initial=0))
    if most > 1:
        raise ConstraintError(
            "requires at most one row of a query that is a value",
            who=shown,
            got=str(most),
            hint="let the query give one row, for example by MAX(...), or by ORDER BY with LIMIT 1",
        )


def array_of(kind: pa.DataType) -> Results:
    """Return what gives the array of each group's values, NULL if it has none."""

    def result(contents: Contents) -> pa.Array:
        lists = contents.lists(contents.columns[0], none=True)
        return lists.cast(kind)

    return result


def multiset_of(kind: pa.DataType) -> Results:
    """Return what gives the map from each group's values to how often they are there."""

    def result(contents: Contents) -> pa.Array:
        weights = pa.array(contents.weights, pa.int32())
        return pa.MapArray.from_arrays(contents.offsets, contents.columns[0], weights, kind)

    return result


def joined(contents: Contents) -> pa.Array:
    """Return the texts of each group with the delimiter, the same for all, between them; NULL if there are none."""
    texts, *delimiters = contents.columns
    delimiter = delimiters[0][0] if delimiters and len(texts) else ","
    return pc.binary_join(contents.lists(texts, none=True), delimiter)


def json_array_of(kind: LogicalType) -> Results:
    """Return what gives the JSON array of each group's values, which are of this type."""

    def result(contents: Contents) -> pa.Array:
        values = pc.fill_null(json_texts(contents.columns[0], kind), "null")
        inner = pc.binary_join(contents.lists(values, none=False), ",")
        return pc.binary_join_element_wise("[", inner, "]", "")

    return result


def json_object_of(kind: LogicalType) -> Results:
    """Return what gives the JSON object of each group's keys, which are texts, and values, which are of this type."""

    def result(contents: Contents) -> pa.Array:
        keys, values = contents.columns
        texts = pc.fill_null(json_texts(values, kind), "null")
        pairs = pc.binary_join_element_wise(json_texts(keys, STRING), texts, ":")
        inner = pc.binary_join(contents.lists(pairs, none=False), ",")
        return pc.binary_join_element_wise("{", inner, "}", "")

    return result


def of_each_once(results: Results) -> Results:
    """Return what gives the results of the first of equal values."""

    def result(contents: Contents) -> pa.Array:
        rows = owned(contents.owners, contents.columns)
        firsts = np.sort(equal_rows(rows).firsts)
        columns = [column.take(pa.array(firsts)) for column in contents.columns]
        once = np.ones(len(firsts), np.int64)
        return results(Contents(contents.groups, contents.owners[firsts], columns, once))

    return result


def owned(owners: Positions, columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """Return values with the numbers of their groups as one batch."""
    return pa.RecordBatch.from_arrays(
        [pa.array(owners), *columns], names=[str(place) for place in range(len(columns) + 1)]
    )


def equal_rows(rows: pa.RecordBatch) -> Segments:
    """Return the groups of rows that are equal in all columns."""
    return segments_of(rows, hash_columns(rows.columns))
