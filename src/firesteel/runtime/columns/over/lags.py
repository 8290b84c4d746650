"""LAG in streams: of a buffer of the last rows, which each row cuts to what its own distance needs.

A distance `d` leaves `d + 1` rows in the buffer. So a row with a longer distance than the rows before it may find too
few, and have its default, although there were enough rows: as in Flink.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import RecordError
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.runtime.columns.over.calls import offset
from firesteel.runtime.columns.over.due import Due
from firesteel.runtime.columns.over.placing import Blocks
from firesteel.state.arrangements.sorting import Positions

_LONGEST: Final = (1 << 31) - 1
"""Distances are cut to this one."""


def lag(
    call: Aggregation, due: Due, blocks: Blocks, values: pa.Array, before: Positions
) -> tuple[pa.Array, Positions]:
    """Return the result of each due row, and how many rows each one leaves in the buffer.

    `values` are those of the rows in `blocks`, `before` has how many rows were in the buffer of each key.
    Raises RecordError for a distance that is negative or NULL.
    """
    steps = _distances(call, due.rows)
    held = buffered(steps, due.codes, due.begins, before)
    return offset(call, due.rows, values, blocks.mine - steps, held <= steps), held


def buffered(distances: Positions, codes: Positions, begins: Positions, before: Positions) -> Positions:
    """Return how many rows are in the buffer after each row; rows are sorted by key, and `begins` has their firsts.

    >>> one_key = np.zeros(4, np.int64)
    >>> buffered(np.array([2, 0, 3, 3]), one_key, np.array([0]), np.array([1])).tolist()
    [2, 1, 2, 3]
    """
    if not len(distances):
        return distances
    places = np.arange(len(distances))
    most = distances + 1 - places
    most[begins] = np.minimum(most[begins], before + 1 - begins)
    # Later keys are moved below earlier ones, so that each has a minimum of its own.
    apart = codes * (int(most.max()) - int(most.min()) + 1)
    held: Positions = np.minimum.accumulate(most - apart) + apart + places
    return held


def _distances(call: Aggregation, rows: pa.RecordBatch) -> Positions:
    if len(call.arguments) == 1:
        return np.ones(rows.num_rows, np.int64)
    column = rows.column(call.arguments[1])
    found: Positions = np.asarray(pc.fill_null(column.cast(pa.int64()), -1))
    wrong = np.flatnonzero(found < 0)
    if len(wrong):
        given = column[int(wrong[0])].as_py()
        got = "NULL" if given is None else str(given)
        raise RecordError("requires a distance of at least 0", who=call.shown, got=got)
    return np.minimum(found, _LONGEST)
