"""PERCENTILE: the values below which given shares of a group are, between two values by their distance.

Source: Flink's PercentileAggFunction.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConstraintError
from firesteel.runtime.columns.aggregates.contents import Contents, Results
from firesteel.state.arrangements.columns import Numbers

_Values = npt.NDArray[np.float64]


def percentiles_of(shown: str) -> Results:
    """Return what gives each group's percentiles.

    The columns are the values, the shares of each group (numbers, or lists of them), and perhaps how often a value
    counts.
    """

    def result(contents: Contents) -> pa.Array:
        values = pc.cast(contents.columns[0], pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        weights = contents.weights
        if len(contents.columns) > 2:
            weights = weights * np.maximum(contents.columns[2].to_numpy(zero_copy_only=False), 0)
        order = np.lexsort((values, contents.owners))
        sums = np.cumsum(weights[order])
        edges = np.concatenate(([0], sums))[np.asarray(contents.offsets)]
        shares = _shares_of_groups(contents)
        lists = pa.types.is_list(shares.type)
        wanted = shares.flatten() if lists else shares
        number = pc.fill_null(pc.list_value_length(shares), 0).to_numpy() if lists else _ones(contents)
        groups = np.repeat(np.arange(contents.groups), number)
        known = (np.diff(edges) > 0)[groups]
        asked = wanted.to_numpy(zero_copy_only=False)
        _require_shares(asked, shown)
        found = np.zeros(len(groups))
        found[known] = _between(asked[known], groups[known], values[order], sums, edges)
        column = pa.array(found, mask=~known)
        return _listed(column, number, np.diff(edges) > 0) if lists else column

    return result


def _ones(contents: Contents) -> Numbers:
    return np.ones(contents.groups, np.int64)


def _shares_of_groups(contents: Contents) -> pa.Array:
    """Return the shares in the first row of each group, NULL for groups without rows."""
    offsets = np.asarray(contents.offsets)
    empty = offsets[1:] == offsets[:-1]
    return contents.columns[1].take(pa.array(offsets[:-1], mask=empty))


def _require_shares(shares: _Values, shown: str) -> None:
    wrong = shares[(shares < 0) | (shares > 1)]
    if len(wrong):
        raise ConstraintError("requires a share from 0 to 1", who=shown, got=str(wrong[0]))


def _between(shares: _Values, groups: Numbers, values: _Values, sums: Numbers, edges: Numbers) -> _Values:
    """Return the percentile of each share, of a group that has rows.

    `values` are in order within each group, `sums` how many there are up to each of them in all groups, and `edges` how
    many before each group.
    """
    before = edges[groups]
    positions = shares * (edges[groups + 1] - before - 1) + 1
    lower, higher = np.floor(positions).astype(np.int64), np.ceil(positions).astype(np.int64)
    first, second = (np.searchsorted(sums, before + place) for place in (lower, higher))
    mixed = (higher - positions) * values[first] + (positions - lower) * values[second]
    found: _Values = np.where(first == second, values[first], mixed)
    return found


def _listed(column: pa.Array, number: Numbers, known: npt.NDArray[np.bool_]) -> pa.Array:
    """Return the percentiles of each group as a list, NULL for groups without rows and for no shares."""
    ends = np.cumsum(number)
    empty = np.append(~known | (number == 0), False)
    offsets = pa.array(np.concatenate(([0], ends)).astype(np.int32), mask=empty)
    return pa.ListArray.from_arrays(offsets, column)
