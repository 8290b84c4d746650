"""Writers of exchange edges: they pick each record's target subtask, gather records into blocks, and number the blocks.

A `Router` writes one edge for one upstream subtask. Its blocks are numbered per target (`seq`), so that a receiver that
sorts by `(seq, channel)` sees each channel in order and all channels in step; blocks of an edge that its receiver takes
first have numbers below 0. Watermarks go to every target the router is connected to, at their exact place among the
records. Those with which the epoch begins have the first number to themselves, so that a receiver knows how far each
channel is before it takes any record. A block has at most `Batch.MOST` records and, unless it is a single one,
`BLOCK_BYTES`; the first ones are small, to learn the size of records.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Protocol

from firesteel.functions.base import RuntimeContext
from firesteel.runtime.batch import Batch
from firesteel.runtime.blocks import Mark, encode_block
from firesteel.runtime.outbox import Outbox
from firesteel.runtime.plan import Distribution, EdgeSpec
from firesteel.runtime.usage import LatencyMarker

BLOCK_BYTES: Final = 1 << 20
_FIRST: Final = 64


class EdgeFunctions(Protocol):
    """The user's functions of an edge that picks a target for each record: what `EdgeSpec.functions` holds.

    Contract: `open` once, then `direct` any number of times, then `close`. It works on the form of batch that the
    edge carries.
    """

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the functions."""

    def direct(self, batch: Any) -> tuple[Batch, Sequence[int] | None]:
        """Return the batch as its receivers get it, and the target of each record (None: all go to target 0)."""

    def close(self) -> None:
        """Close the functions."""


class _Buffer:
    """The records gathered for one target."""

    __slots__ = ("limit", "marks", "parts", "records", "seq")

    def __init__(self) -> None:
        self.parts: list[Batch] = []
        self.records = 0
        self.marks: list[Mark] = []
        self.seq = 0
        self.limit = _FIRST

    def empty(self) -> tuple[Batch | None, int, list[Mark]]:
        """Return what was gathered as one batch, the number of its records, and the marks among them."""
        parts, records, marks = self.parts, self.records, self.marks
        self.parts, self.records, self.marks = [], 0, []
        if len(parts) > 1:
            return parts[0].joined(parts[1:]), records, marks
        return parts[0] if parts else None, records, marks


class Router:
    """Writes one exchange edge into the task's outbox; subclasses choose targets. `bytes` counts what it has sent."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox) -> None:
        self._edge = edge
        self._channel = channel
        self._outbox = outbox
        self._buffers = [_Buffer() for _ in range(targets)]
        self._marked = channel
        self.bytes = 0

    def number_from(self, seq: int) -> None:
        """Number the first block of each channel with this; called before anything is received."""
        for buffer in self._buffers:
            buffer.seq = seq

    def announce(self) -> None:
        """Send the watermarks that came before all records ahead; no record has their number."""
        for target, buffer in enumerate(self._buffers):
            seq = buffer.seq
            if buffer.marks and not buffer.parts:
                self._send(target, buffer)
            buffer.seq = max(buffer.seq, seq + 1)

    def connected(self) -> range | list[int]:
        """Return the targets this router may send to; they all get its watermarks."""
        return range(len(self._buffers))

    @abstractmethod
    def receive(self, batch: Batch) -> None:
        """Distribute records to their targets."""

    def receive_watermark(self, watermark: int | None) -> None:
        """Record a watermark (None: idle) after the records received so far.

        It replaces one at the same position, but idleness does not: if all channels become idle, the highest watermark
        before that counts.
        """
        for target in self.connected():
            buffer = self._buffers[target]
            marks, position = buffer.marks, buffer.records
            last = marks[-1] if marks else (-1, None)
            takes_over = watermark is not None or last[1] is None
            if last[0] == position and takes_over and type(last[1]) is not LatencyMarker:
                marks[-1] = (position, watermark)
            else:
                marks.append((position, watermark))

    def receive_marker(self, marker: LatencyMarker) -> None:
        """Send a marker to one of the targets, in turn: it looks at one way of the records, not at all."""
        targets = self.connected()
        buffer = self._buffers[targets[self._marked % len(targets)]]
        self._marked += 1
        buffer.marks.append((buffer.records, marker))

    def flush(self) -> None:
        """Send all gathered records."""
        for target in self.connected():
            buffer = self._buffers[target]
            if buffer.parts or buffer.marks:
                self._send(target, buffer)

    def _add(self, target: int, batch: Batch) -> None:
        buffer = self._buffers[target]
        if buffer.parts and type(buffer.parts[-1]) is not type(batch):
            self._send(target, buffer)  # a block holds records of one form
        buffer.parts.append(batch)
        buffer.records += len(batch)
        if buffer.records >= buffer.limit:
            self._send(target, buffer)

    def _scatter(self, batch: Batch, targets: Sequence[int]) -> None:
        for target, part in batch.scatter(targets, len(self._buffers)):
            self._add(target, part)

    def _send(self, target: int, buffer: _Buffer) -> None:
        """Send the gathered records in blocks; a mark goes with the block that ends at or after it."""
        gathered, total, marks = buffer.empty()
        start, sent = 0, False
        while start < total or not sent:
            end = min(start + buffer.limit, total)
            here = [(index - start, mark) for index, mark in marks if index <= end]
            part = gathered
            if gathered is not None and end - start < total:
                part = gathered.slice(start, end)
            block = _block(buffer, part, end - start, here)
            if block is not None:
                self._outbox.send(target, self._edge, self._channel, buffer.seq, block)
                self.bytes += len(block)
                buffer.seq += 1
                marks = marks[len(here) :]
                start, sent = end, True


def _block(buffer: _Buffer, batch: Batch | None, count: int, marks: list[Mark]) -> bytes | None:
    """Return some records as a block, or None if it would be too large; learn the number for the next block."""
    block = encode_block(batch, marks)
    size = len(block)
    if batch is not None and count:
        fitting = max(1, count * BLOCK_BYTES // (2 * size))
        if size > BLOCK_BYTES and count > 1:
            buffer.limit = fitting
            return None
        buffer.limit = min(batch.MOST, max(fitting, buffer.limit // 2))
    return block


class ChoiceRouter(Router):
    """Sends each record to the target of the edge's functions: the owner of its key, or the choice of a partitioner."""

    def __init__(
        self, edge: int, channel: int, targets: int, outbox: Outbox, functions: EdgeFunctions
    ) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._direct = functions.direct

    def receive(self, batch: Batch) -> None:
        directed, targets = self._direct(batch)
        if targets is None:
            self._add(0, directed)
        else:
            self._scatter(directed, targets)


class RoundRobinRouter(Router):
    """Sends records in turn to a group of targets: all (rebalance) or the nearest ones (rescale)."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, group: list[int]) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._group = group
        self._next = channel % len(group)

    def connected(self) -> list[int]:
        return self._group

    def receive(self, batch: Batch) -> None:
        group, first = self._group, self._next
        count, total = len(group), len(batch)
        for offset in range(min(count, total)):
            self._add(group[(first + offset) % count], batch.slice(offset, total, count))
        self._next = (first + total) % count


class ShuffleRouter(Router):
    """Sends records to targets at random; seeded by edge, channel and epoch, so that a retry picks the same targets."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, seed: int) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._random = random.Random(f"{seed}/{edge}/{channel}")

    def receive(self, batch: Batch) -> None:
        self._scatter(batch, self._random.choices(range(len(self._buffers)), k=len(batch)))


class FixedRouter(Router):
    """Sends every record to the same targets: one (global, forward) or all (broadcast)."""

    def __init__(self, edge: int, channel: int, targets: int, outbox: Outbox, fixed: list[int]) -> None:
        super().__init__(edge, channel, targets, outbox)
        self._fixed = fixed

    def connected(self) -> list[int]:
        return self._fixed

    def receive(self, batch: Batch) -> None:
        for target in self._fixed:
            self._add(target, batch)


def make_router(
    edge: EdgeSpec, channel: int, outbox: Outbox, functions: EdgeFunctions | None, seed: int
) -> Router:
    """Return the writer of an exchange edge for one upstream subtask, `channel`; `seed` is the epoch's."""
    router = _router(edge, channel, outbox, functions, seed)
    router.number_from(edge.first_seq)
    return router


def _router(
    edge: EdgeSpec, channel: int, outbox: Outbox, functions: EdgeFunctions | None, seed: int
) -> Router:
    arguments = (edge.index, channel, edge.target_parallelism, outbox)
    kind = edge.distribution
    if functions is not None:
        return ChoiceRouter(*arguments, functions)
    if kind is Distribution.SHUFFLE:
        return ShuffleRouter(*arguments, seed)
    if kind in (Distribution.REBALANCE, Distribution.RESCALE):
        return RoundRobinRouter(*arguments, edge.targets_of(channel))
    return FixedRouter(*arguments, edge.targets_of(channel))
