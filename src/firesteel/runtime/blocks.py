"""Blocks: how batches of records travel between tasks.

A block is one codec byte and one pickle of `(values, timestamps, keys, marks)`:

- `values`: list of records;
- `timestamps`: bytes of an int64 array (milliseconds), a list where some records have none, or None where no
record has one;
- `keys`: list of state keys on a keyed edge, else None (a key that is also part of its value costs a back
reference);
- `marks`: list of `(index, watermark)`: after the first `index` records the channel's watermark is
`watermark`; None in
  place of the watermark says that the channel is idle from there on. So the place of a watermark among the
  records is exact, and neither side needs a block of its own for it.

Values of classes that live in the user's `__main__` cannot be pickled by reference in a worker; such a block
falls back to cloudpickle, which carries the class along.
"""

from __future__ import annotations

import pickle
from array import array
from typing import Any, Final, cast

import cloudpickle

from firesteel.common.errors import SerializationError

Mark = tuple[int, int | None]

_PICKLE: Final = b"\x01"
_CLOUDPICKLE: Final = b"\x02"


def encode_block(
    values: list[Any], timestamps: list[int | None] | None, keys: list[Any] | None, marks: list[Mark]
) -> bytes:
    """Pack records into a block. Raises SerializationError when a record cannot be pickled.

    >>> decode_block(encode_block(["a", "b"], [1, 2], None, [(2, 1)]))
    (['a', 'b'], [1, 2], None, [(2, 1)])
    """
    packed: bytes | list[int | None] | None = timestamps
    if timestamps is not None:
        try:
            packed = array("q", cast(list[int], timestamps)).tobytes()
        except TypeError:
            packed = timestamps
    content = (values, packed, keys, marks)
    try:
        return _PICKLE + pickle.dumps(content, 5)
    except (pickle.PicklingError, AttributeError, TypeError):
        return _CLOUDPICKLE + _cloudpickle(content)


def _cloudpickle(content: tuple[list[Any], Any, Any, Any]) -> bytes:
    try:
        dumped: bytes = cloudpickle.dumps(content, 5)
    except Exception as error:
        culprit = next((value for value in content[0] if not _can_pickle(value)), None)
        raise SerializationError(
            "emits records that travel to another task, so each must be picklable",
            got=f"a {type(culprit).__name__}: {error}",
            hint="emit plain values (tuples, rows, numbers, strings) and keep handles such as sockets in open()",
        ) from error
    return dumped


def _can_pickle(value: Any) -> bool:
    try:
        cloudpickle.dumps(value, 5)
    except Exception:  # whatever __reduce__ of a user's class raises
        return False
    return True


def decode_block(
    block: bytes,
) -> tuple[list[Any], list[int | None] | None, list[Any] | None, list[Mark]]:
    """Unpack a block made by `encode_block`."""
    values, packed, keys, marks = pickle.loads(memoryview(block)[1:])
    if isinstance(packed, bytes):
        timestamps = array("q")
        timestamps.frombytes(packed)
        return values, cast(list[int | None], timestamps.tolist()), keys, marks
    return values, packed, keys, marks
