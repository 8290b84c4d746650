"""Batches: records that move together between operators and between tasks.

Tasks, subtasks, outputs, routers and blocks know only the protocol `Batch`; an operator works on one form of it, and so
does the function that keys an edge. `RowBatch` is the form for functions that see one record at a time. Another form
implements the protocol and adds its codec to `firesteel.runtime.blocks.FORMS`; the properties of single records (keys,
timestamps, kinds of change) are a part of the form.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import Any, ClassVar, Final, Protocol, Self, cast

from firesteel.common import pickles
from firesteel.common.errors import SerializationError
from firesteel.common.sealing import seal
from firesteel.runtime.failures import summary

MAX_BATCH: Final = 4096
"""The number of gathered records after which they are sent as a batch."""

PICKLED: Final = 1
CLOUDPICKLED: Final = 2

_FEW_TARGETS: Final = 4
_ONLY: Final = [bytes(byte == target for byte in range(256)) for target in range(_FEW_TARGETS)]
"""For each target, the table with which `bytes.translate` turns it into 1 and all others into 0."""


class Batch(Protocol):
    """Records in order.

    Contract: a batch never changes once it has been emitted; `slice`, `take`, `scatter` and `joined` may share records
    with it, `copy` shares nothing that can be changed. `encode` and the form's entry in
    `firesteel.runtime.blocks.FORMS` are inverse to each other. `MOST` is the largest number of records in a block.
    """

    MOST: ClassVar[int]

    def __len__(self) -> int:
        """Return the number of records."""

    def slice(self, start: int, stop: int, step: int = 1) -> Self:
        """Return every `step`th record from `start` to `stop` (exclusive)."""

    def take(self, positions: Sequence[int]) -> Self:
        """Return the records at these positions, in their order."""

    def scatter(self, targets: Any, count: int) -> Iterable[tuple[int, Self]]:
        """Return the records of each target that gets any, in their order; there are `count` targets.

        `targets` has the target of each record: a sequence of numbers, or what the form's `EdgeFunctions` return.
        """

    def joined(self, others: Sequence[Self]) -> Self:
        """Return this batch's records and then those of the others; `others` is not empty."""

    def copy(self) -> Self:
        """Return the same records for one more receiver."""

    def encode(self) -> tuple[int, bytes]:
        """Return the codec and the records as bytes. Raises SerializationError."""


def _positions(targets: Sequence[int]) -> dict[int, list[int]]:
    positions: dict[int, list[int]] = {}
    for position, target in enumerate(targets):
        if target in positions:
            positions[target].append(position)
        else:
            positions[target] = [position]
    return positions


class RowBatch:
    """Records in parallel lists: `values`, their `timestamps` (milliseconds; None if none has one), `keys` if keyed.

    Its bytes are a pickle of the three. Timestamps travel as an array if all records have one. Values of classes
    that live in the program's `__main__` cannot be pickled by reference in a worker; such a batch falls back to
    cloudpickle, which carries the class along.
    """

    MOST: ClassVar[int] = 4096

    __slots__ = ("keys", "timestamps", "values")

    def __init__(
        self,
        values: list[Any],
        timestamps: list[int | None] | None = None,
        keys: list[Any] | None = None,
    ) -> None:
        self.values = values
        self.timestamps = timestamps
        self.keys = keys

    def __len__(self) -> int:
        return len(self.values)

    def slice(self, start: int, stop: int, step: int = 1) -> RowBatch:
        """Return every `step`th record from `start` to `stop` (exclusive)."""
        stamps, keys = self.timestamps, self.keys
        return RowBatch(
            self.values[start:stop:step],
            None if stamps is None else stamps[start:stop:step],
            None if keys is None else keys[start:stop:step],
        )

    def take(self, positions: Sequence[int]) -> RowBatch:
        """Return the records at these positions, in their order."""
        stamps, keys = self.timestamps, self.keys
        return RowBatch(
            list(map(self.values.__getitem__, positions)),
            None if stamps is None else list(map(stamps.__getitem__, positions)),
            None if keys is None else list(map(keys.__getitem__, positions)),
        )

    def scatter(self, targets: Sequence[int], count: int) -> Iterator[tuple[int, RowBatch]]:
        """Yield the records of each target that gets any; there are `count`, and `targets` has that of each record.

        >>> [(target, part.values) for target, part in RowBatch(["a", "b", "c"]).scatter([1, 0, 1], 2)]
        [(0, ['b']), (1, ['a', 'c'])]
        """
        if count > _FEW_TARGETS:
            for target, positions in _positions(targets).items():
                yield target, self.take(positions)
            return
        chosen = bytes(targets)
        for target in range(count):
            if target in chosen:
                yield target, self.where(chosen.translate(_ONLY[target]))

    def where(self, mask: bytes) -> RowBatch:
        """Return the records at whose position the mask is not 0."""
        stamps, keys = self.timestamps, self.keys
        return RowBatch(
            list(compress(self.values, mask)),
            None if stamps is None else list(compress(stamps, mask)),
            None if keys is None else list(compress(keys, mask)),
        )

    def joined(self, others: Sequence[RowBatch]) -> RowBatch:
        """Return this batch's records and then those of the others."""
        parts = (self, *others)
        stamps: list[int | None] | None = None
        if any(part.timestamps is not None for part in parts):
            stamps = list(chain.from_iterable(part.stamps() for part in parts))
        return RowBatch(
            list(chain.from_iterable([part.values for part in parts])),
            stamps,
            None if self.keys is None else list(chain.from_iterable([part.keys or () for part in parts])),
        )

    def copy(self) -> RowBatch:
        """Return the same records for one more receiver, sealed again."""
        return RowBatch(list(map(seal, self.values)), self.timestamps, self.keys)

    def stamps(self) -> list[int | None]:
        """Return the timestamps, as a list of None if no record has one."""
        return self.timestamps if self.timestamps is not None else [None] * len(self.values)

    def encode(self) -> tuple[int, bytes]:
        """Return the codec and a pickle. Raises SerializationError with the record that cannot be pickled."""
        stamps: bytes | list[int | None] | None = self.timestamps
        if self.timestamps is not None:
            try:
                stamps = array("q", cast(list[int], self.timestamps)).tobytes()
            except TypeError:
                stamps = self.timestamps
        content = (self.values, stamps, self.keys)
        try:
            return PICKLED, pickle.dumps(content, 5)
        except Exception:  # whatever a record's own __reduce__ raises
            return CLOUDPICKLED, self._cloudpickle(content)

    @staticmethod
    def decode(data: memoryview) -> RowBatch:
        """Return the batch that `encode` turned into `data`."""
        values, stamps, keys = pickle.loads(data)
        if isinstance(stamps, bytes):
            unpacked = array("q")
            unpacked.frombytes(stamps)
            stamps = unpacked.tolist()
        return RowBatch(values, stamps, keys)

    def _cloudpickle(self, content: tuple[Any, ...]) -> bytes:
        try:
            return pickles.dumps(content)
        except Exception as error:
            culprit = next((value for value in self.values if not _can_pickle(value)), None)
            raise SerializationError(
                "emits records that travel to another task, so each must be picklable",
                got=f"a {type(culprit).__name__}: {error}",
                hint="emit plain values (tuples, rows, numbers, strings) and keep handles such as sockets in open()",
                details=f"record: {summary(culprit)}",
            ) from error


def _can_pickle(value: Any) -> bool:
    try:
        pickles.dumps(value)
    except Exception:  # whatever __reduce__ of a user's class raises
        return False
    return True
