"""The columns that tell of windows: their start, their end, and the last millisecond, which is a time attribute."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from firesteel.runtime.columns.times import Times, instants, timestamps


def window_columns(
    properties: Sequence[str], starts: Times, ends: Times, types: Sequence[pa.DataType], zone: str
) -> list[pa.Array]:
    """Return a column of each property: "start", "end" or "time"; starts and ends are local times of `zone`.

    >>> import numpy as np
    >>> end, time = window_columns(
    ...     ["end", "time"], np.array([0]), np.array([10]), [pa.timestamp("us"), pa.timestamp("us", "UTC")], "+01:00"
    ... )
    >>> end.cast(pa.int64()).to_pylist(), time.cast(pa.int64()).to_pylist()
    ([10000], [-3599991000])
    """
    columns = []
    for name, kind in zip(properties, types, strict=True):
        if name == "time":
            columns.append(timestamps(instants(ends - 1, zone), kind))
        else:
            columns.append(timestamps(starts if name == "start" else ends, kind))
    return columns
