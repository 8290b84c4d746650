"""Blocks: how batches travel between tasks.

A block is a head, the marks and the records. The head is one byte that names the codec of the records (0: there are
none) and the size of the marks. Head and marks end at a multiple of 8 bytes, so that columns are aligned. The marks are
a pickled list of `(index, watermark)`: after the first `index` records the channel's watermark is `watermark`, or the
channel is idle from there if that is None. In place of a watermark there may be a `LatencyMarker`. So the place of a
watermark among the records is exact, and a watermark does not need a separate block.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from struct import Struct
from typing import Final

from firesteel.runtime.batch import CLOUDPICKLED, PICKLED, Batch, RowBatch
from firesteel.runtime.columns.batch import COLUMNS, ColumnBatch
from firesteel.runtime.usage import LatencyMarker

Mark = tuple[int, int | LatencyMarker | None]

FORMS: Final[dict[int, Callable[[memoryview], Batch]]] = {
    PICKLED: RowBatch.decode,
    CLOUDPICKLED: RowBatch.decode,
    COLUMNS: ColumnBatch.decode,
}
"""Codec -> the function from bytes to a batch; another form of batch has its own codec (1 to 255)."""

_HEAD: Final = Struct("<BxxxI")
_NO_RECORDS: Final = 0


def encode_block(batch: Batch | None, marks: list[Mark]) -> bytes:
    """Pack records and marks into a block. Raises SerializationError if a record cannot be packed.

    >>> batch, marks = decode_block(encode_block(RowBatch(["a", "b"], [1, 2]), [(2, 1)]))
    >>> batch.values, batch.timestamps, marks
    (['a', 'b'], [1, 2], [(2, 1)])
    """
    codec, records = (_NO_RECORDS, b"") if batch is None else batch.encode()
    packed = pickle.dumps(marks, 5) if marks else b""
    padded = packed.ljust(-(-len(packed) // 8) * 8, b"\0")
    return b"".join((_HEAD.pack(codec, len(padded)), padded, records))


def decode_block(block: bytes) -> tuple[Batch | None, list[Mark]]:
    """Unpack a block made by `encode_block`."""
    codec, size = _HEAD.unpack_from(block)
    view = memoryview(block)
    start = _HEAD.size + size
    marks: list[Mark] = pickle.loads(view[_HEAD.size : start]) if size else []
    return None if codec == _NO_RECORDS else FORMS[codec](view[start:]), marks
