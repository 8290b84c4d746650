"""The bytes of columns of texts, as numpy sees them, without copies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]


def places(texts: pa.Array) -> npt.NDArray[np.int32]:
    """Return where each text begins in the column's data, and where the last one ends."""
    return np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1, 4 * texts.offset)


def characters(texts: pa.Array) -> Bytes:
    """Return the bytes of all texts together.

    >>> characters(pa.array(["ab", None, "c"])).tolist()
    [97, 98, 99]
    """
    data = texts.buffers()[2]
    if data is None or not len(texts):
        return np.empty(0, np.uint8)
    ends = places(texts)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def matrix(texts: pa.Array) -> Bytes | None:
    """Return the bytes of texts that all have the same number of them, a row each; None for others.

    >>> matrix(pa.array(["ab", "cd"])).tolist(), matrix(pa.array(["ab", "c"]))
    ([[97, 98], [99, 100]], None)
    """
    count = len(texts)
    if not count or texts.null_count or texts.type != pa.string():
        return None
    ends = places(texts)
    width = int(ends[1] - ends[0])
    if width == 0 or not (np.diff(ends) == width).all():
        return None
    return characters(texts).reshape(count, width)
