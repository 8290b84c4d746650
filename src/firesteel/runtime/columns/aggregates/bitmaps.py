"""Aggregates of bitmaps: sets of the numbers of a group, and what the sets of a group have together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.bitmaps import Members, bitmap_of, members_of
from firesteel.runtime.columns.aggregates.contents import Contents, Results
from firesteel.state.arrangements.columns import Numbers

_Combine = Callable[[Sequence[Members], Numbers], Members]
"""Gives the members of a group's set by those of its rows and by how often each is there."""


def _joined(sets: Sequence[Members], _: Numbers) -> Members:
    return np.unique(np.concatenate(sets))


def _common(sets: Sequence[Members], _: Numbers) -> Members:
    return reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), sets)


def _odd(sets: Sequence[Members], weights: Numbers) -> Members:
    """Return what is in an odd number of sets."""
    counted = [members for members, weight in zip(sets, weights, strict=True) if weight % 2]
    if not counted:
        return np.empty(0, np.uint32)
    members, counts = np.unique(np.concatenate(counted), return_counts=True)
    odd: Members = members[counts % 2 == 1]
    return odd


_COMBINE: Final[dict[str, _Combine]] = {"AND": _common, "OR": _joined, "XOR": _odd}


def bitmaps_of(name: str, *, counts: bool) -> Results:
    """Return what gives each group's set, NULL without rows; `counts`: the number of its members.

    With BUILD, the column has the members, else sets that AND, OR or XOR puts together.
    """

    def members(contents: Contents, rows: slice) -> Members:
        column = contents.columns[0][rows]
        if name == "BUILD":
            return np.unique(column.to_numpy(zero_copy_only=False).astype(np.int64).astype(np.uint32))
        return _COMBINE[name]([members_of(data) for data in column.to_pylist()], contents.weights[rows])

    def result(contents: Contents) -> pa.Array:
        offsets = np.asarray(contents.offsets).tolist()
        groups = [slice(*pair) for pair in pairwise(offsets)]
        found = [members(contents, rows) if rows.start < rows.stop else None for rows in groups]
        if counts:
            return pa.array([None if one is None else len(one) for one in found], pa.int64())
        return pa.array([None if one is None else bitmap_of(one) for one in found], pa.binary())

    return result
