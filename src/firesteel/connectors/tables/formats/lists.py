"""Lists whose elements became something else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def regrouped(column: pa.Array, elements: pa.Array) -> pa.Array:
    """Return the elements in the lists that those of `column` were in."""
    offsets = column.offsets.to_numpy()
    start = int(offsets[0]) if len(offsets) else 0
    ends = pa.array((offsets - start).astype(np.int32))
    lists = pa.ListArray.from_arrays(ends, elements)
    return pc.if_else(column.is_valid(), lists, None) if column.null_count else lists
