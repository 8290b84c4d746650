"""Functions of BITMAP; see `firesteel.common.bitmaps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from firesteel.common.bitmaps import Members, bitmap_of, bitmap_text, members_of
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_LIST: Final = pa.list_(pa.int32())


def _built(numbers: list[int | None]) -> bytes:
    return bitmap_of(np.array([number for number in numbers if number is not None], np.int64))


def _checked(data: bytes) -> bytes:
    """Return the bytes of a bitmap that others have written, as ours are."""
    try:
        return bitmap_of(members_of(data))
    except ValueError as error:
        raise ComputeError(f"BITMAP_FROM_BYTES requires Roaring's portable format: {error}") from None


def _combined(combine: Callable[[Members, Members], Members]) -> Callable[[], VectorFunction]:
    def both(one: bytes, other: bytes) -> bytes:
        return bitmap_of(combine(members_of(one), members_of(other)))

    return lambda: by_row(both, ("BLOB", "BLOB"), "BLOB", pa.binary())


def _family(
    function: Callable[[Any], Any], given: str, result: str, arrow: pa.DataType
) -> Callable[[], VectorFunction]:
    return lambda: by_row(function, (given,), result, arrow)


COMBINED: Final[dict[str, Callable[[Members, Members], Members]]] = {
    "and": lambda one, other: np.intersect1d(one, other, assume_unique=True),
    "or": np.union1d,
    "xor": lambda one, other: np.setxor1d(one, other, assume_unique=True),
    "andnot": lambda one, other: np.setdiff1d(one, other, assume_unique=True),
}
FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "bitmap_build": _family(_built, "INTEGER[]", "BLOB", pa.binary()),
    "bitmap_from_bytes": _family(_checked, "BLOB", "BLOB", pa.binary()),
    "bitmap_cardinality": _family(lambda data: len(members_of(data)), "BLOB", "BIGINT", pa.int64()),
    "bitmap_to_array": _family(lambda data: members_of(data).view(np.int32), "BLOB", "INTEGER[]", _LIST),
    "bitmap_to_string": _family(bitmap_text, "BLOB", "VARCHAR", pa.string()),
    **{f"bitmap_{name}": _combined(combine) for name, combine in COMBINED.items()},
}
