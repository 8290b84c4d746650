"""Writers of exchange edges: they pick each record's target subtask, gather records into blocks, and number the blocks.

A `Router` writes one edge for one upstream subtask. Its blocks are numbered per target (`seq`), so that a
receiver that sorts by `(seq, channel)` sees each channel in order and all channels in step. Watermarks go to
every target the router is connected to, at their exact place among the records. A block has at most
`BLOCK_RECORDS` records and, unless it is a single one, `BLOCK_BYTES`; the first ones are small, to learn what
records weigh.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable
from itertools import compress
from typing import Any, Final

from firesteel.common.errors import RecordError
from firesteel.runtime.blocks import Mark, encode_block
from firesteel.runtime.failures import user_failure
from firesteel.runtime.keying import KeyExtractor, Targets
from firesteel.runtime.operator import Batch
from firesteel.runtime.outbox import Outbox

BLOCK_RECORDS: Final = 4096
BLOCK_BYTES: Final = 1 << 20
_FIRST: Final = 64
_FEW_TARGETS: Final = 4
_ONLY: Final = [bytes(byte == target for byte in range(256)) for target in range(_FEW_TARGETS)]
"""For each target, the table by which `bytes.translate` turns it into 1 and all others into 0."""


class _Buffer:
    """The records gathered for one target."""

    __slots__ = ("keys", "limit", "marks", "seq", "timestamps", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.timestamps: list[int | None] | None = None
        self.keys: list[Any] = []
        self.marks: list[Mark] = []
        self.seq = 0
        self.limit = _FIRST

    def extend(self, values: list[Any], timestamps: list[int | None] | None, keys: list[Any] | None) -> None:
        if timestamps is not None or self.timestamps is not None:
            mine = self.timestamps
            if mine is None:
                mine = self.timestamps = [None] * len(self.values)
            mine.extend(timestamps if timestamps is not None else [None] * len(values))
        if keys is not None:
            self.keys.extend(keys)
        self.values.extend(values)


class Router:
    """Writes one exchange edge into the task's outbox; subclasses choose targets."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox) -> None:
        self._edge = edge
        self._channel = channel
        self._outbox = outbox
        self._buffers = [_Buffer() for _ in range(targets)]

    def connected(self) -> range | list[int]:
        """Return the targets this router may send to; they all get its watermarks."""
        return range(len(self._buffers))

    @abstractmethod
    def receive(self, batch: Batch) -> None:
        """Take records and distribute them."""

    def receive_watermark(self, watermark: int | None) -> None:
        """Note a watermark (None: idle) behind the records taken so far.

        It takes the place of one at the same position, but idleness does not: where all channels turn idle,
        the highest watermark before that counts.
        """
        for target in self.connected():
            buffer = self._buffers[target]
            marks, position = buffer.marks, len(buffer.values)
            if marks and marks[-1][0] == position and (watermark is not None or marks[-1][1] is None):
                marks[-1] = (position, watermark)
            else:
                marks.append((position, watermark))

    def flush(self) -> None:
        """Send everything gathered."""
        for target in self.connected():
            buffer = self._buffers[target]
            if buffer.values or buffer.marks:
                self._send(target, buffer)

    def _add(
        self, target: int, values: list[Any], timestamps: list[int | None] | None, keys: list[Any] | None
    ) -> None:
        buffer = self._buffers[target]
        buffer.extend(values, timestamps, keys)
        if len(buffer.values) >= buffer.limit:
            self._send(target, buffer)

    def _scatter(self, batch: Batch, targets: list[int], keys: list[Any] | None) -> None:
        values, timestamps = batch.values, batch.timestamps
        for target, positions in _positions(targets).items():
            self._add(
                target,
                [values[position] for position in positions],
                None if timestamps is None else [timestamps[position] for position in positions],
                None if keys is None else [keys[position] for position in positions],
            )

    def _send(self, target: int, buffer: _Buffer) -> None:
        """Send what was gathered in blocks; a mark goes with the block that ends at or behind it."""
        total, start, sent = len(buffer.values), 0, False
        marks = buffer.marks
        while start < total or not sent:
            end = min(start + buffer.limit, total)
            here = [(index - start, mark) for index, mark in marks if index <= end]
            block = self._block(buffer, start, end, here)
            if block is not None:
                self._outbox.send(target, self._edge, self._channel, buffer.seq, block)
                buffer.seq += 1
                marks = marks[len(here) :]
                start, sent = end, True
        buffer.values, buffer.timestamps, buffer.keys, buffer.marks = [], None, [], []

    def _block(self, buffer: _Buffer, start: int, end: int, marks: list[Mark]) -> bytes | None:
        """Return some records as a block, or None if it would be too large; learn how many the next may take."""
        timestamps, keys = buffer.timestamps, buffer.keys
        block = encode_block(
            buffer.values[start:end],
            None if timestamps is None else timestamps[start:end],
            keys[start:end] if keys else None,
            marks,
        )
        count, size = end - start, len(block)
        if count:
            fitting = max(1, count * BLOCK_BYTES // (2 * size))
            if size > BLOCK_BYTES and count > 1:
                buffer.limit = fitting
                return None
            buffer.limit = min(BLOCK_RECORDS, max(fitting, buffer.limit // 2))
        return block


class KeyRouter(Router):
    """Sends a record to the subtask that owns its key's group."""

    def __init__(
        self,
        edge: int,
        channel: int,
        targets: int,
        outbox: Outbox,
        extractor: KeyExtractor,
        max_parallelism: int,
    ) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._extract = extractor.keys
        self._targets = Targets(targets, max_parallelism)

    def receive(self, batch: Batch) -> None:
        values, timestamps = batch.values, batch.timestamps
        keys = self._extract(values)
        count = len(self._buffers)
        if count == 1:
            self._add(0, values, timestamps, keys)
            return
        targets = self._targets.of(keys)
        if count > _FEW_TARGETS:
            self._scatter(batch, targets, keys)
            return
        chosen = bytes(targets)
        for target in range(count):
            if target in chosen:
                mask = chosen.translate(_ONLY[target])
                part = None if timestamps is None else list(compress(timestamps, mask))
                self._add(target, list(compress(values, mask)), part, list(compress(keys, mask)))


def _positions(targets: list[int]) -> dict[int, list[int]]:
    positions: dict[int, list[int]] = {}
    for position, target in enumerate(targets):
        if target in positions:
            positions[target].append(position)
        else:
            positions[target] = [position]
    return positions


class ChoiceRouter(Router):
    """Sends each record to the target that a function picks from the record, as user-defined partitioners do."""

    def __init__(
        self, edge: int, channel: int, targets: int, outbox: Outbox, partition: Callable[[Any, int], int],
        select: Callable[[Any], Any], who: str,
    ) -> None:  # fmt: skip
        super().__init__(edge, channel, targets, outbox)
        self._partition = partition
        self._select = select
        self._who = who

    def receive(self, batch: Batch) -> None:
        self._scatter(batch, self._choose(batch.values), None)

    def _choose(self, values: list[Any]) -> list[int]:
        partition, select, count = self._partition, self._select, len(self._buffers)
        iterator = iter(values)
        try:
            targets = [partition(select(value), count) for value in iterator]
        except Exception as error:
            raise user_failure(error, self._who, values, iterator) from error
        for value, target in zip(values, targets, strict=True):
            if type(target) is not int or not 0 <= target < count:
                raise RecordError(
                    f"requires its partitioner to return an int in [0, {count})",
                    who=self._who,
                    got=f"{target!r} for the record {value!r:.120}",
                )
        return targets


class RoundRobinRouter(Router):
    """Deals records out in turn to a group of targets: all (rebalance) or the nearest ones (rescale)."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, group: list[int]) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._group = group
        self._next = channel % len(group)

    def connected(self) -> list[int]:
        return self._group

    def receive(self, batch: Batch) -> None:
        values, timestamps = batch.values, batch.timestamps
        group, first = self._group, self._next
        count = len(group)
        for offset in range(min(count, len(values))):
            part = None if timestamps is None else timestamps[offset::count]
            self._add(group[(first + offset) % count], values[offset::count], part, None)
        self._next = (first + len(values)) % count


class ShuffleRouter(Router):
    """Sends records to targets at random; seeded by edge, channel and epoch, so a retry sends them alike."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, seed: int) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._random = random.Random(f"{seed}/{edge}/{channel}")

    def receive(self, batch: Batch) -> None:
        choices = self._random.choices(range(len(self._buffers)), k=len(batch.values))
        self._scatter(batch, choices, None)


class FixedRouter(Router):
    """Sends every record to the same targets: one (global, forward) or all (broadcast)."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, fixed: list[int]) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._fixed = fixed

    def connected(self) -> list[int]:
        return self._fixed

    def receive(self, batch: Batch) -> None:
        for target in self._fixed:
            self._add(target, batch.values, batch.timestamps, None)
