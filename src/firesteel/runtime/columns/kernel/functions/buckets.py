"""Values dealt out over buckets, by a hash that never changes: results of it are keys of state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import VectorFunction
from firesteel.state.arrangements.hashing import hash_columns


def _bucket(kind: str, count: str) -> VectorFunction:
    """Return the function from values of a type of DuckDB's to numbers below `count`; NULL has none."""

    def compute(column: pa.ChunkedArray) -> pa.Array:
        values = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
        numbers = (hash_columns([values]) % np.uint64(int(count))).astype(np.int32)
        return pa.array(numbers, pa.int32(), mask=np.asarray(values.is_null()))

    return VectorFunction(compute, (kind,), "INTEGER")


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {"bucket": _bucket}
