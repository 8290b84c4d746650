"""Outputs: the destinations of an operator's records and watermarks.

An `Output` fans out to its **receivers**: inputs of operators in the same task (`firesteel.runtime.subtask`) and
writers of exchange edges (`firesteel.runtime.routing`).
"""

from __future__ import annotations

from typing import Protocol

from firesteel.common.sealing import Seal, seal
from firesteel.runtime.batch import Batch
from firesteel.runtime.usage import LatencyMarker


class Receiver(Protocol):
    """One destination of an output."""

    def receive(self, batch: Batch) -> None:
        """Receive the next records."""

    def receive_watermark(self, watermark: int | None) -> None:
        """Receive a watermark (milliseconds), or None: the sender is idle until it sends again."""

    def receive_marker(self, marker: LatencyMarker) -> None:
        """Receive a marker of latency, which comes after the records before it."""


class Output:
    """Fans batches and watermarks out; all receivers but the last get copies.

    An operator applies `seal` to each value it emits: it protects the value from later changes and, if the output has a
    declared type, converts it to that type.
    """

    __slots__ = ("muted", "receivers", "records", "seal")

    def __init__(self, receivers: list[Receiver], coerce: Seal | None = None) -> None:
        self.receivers = receivers
        self.seal: Seal = coerce or seal
        self.records = 0
        self.muted = False

    def emit(self, batch: Batch) -> None:
        """Send sealed records."""
        count = len(batch)
        if not count:
            return
        self.records += count
        receivers = self.receivers
        for receiver in receivers[:-1]:
            receiver.receive(batch.copy())
        if receivers:
            receivers[-1].receive(batch)

    def emit_watermark(self, watermark: int | None) -> None:
        """Send a watermark, or None for idleness; nothing while `muted`."""
        if self.muted:
            return
        for receiver in self.receivers:
            receiver.receive_watermark(watermark)

    def emit_marker(self, marker: LatencyMarker) -> None:
        """Send a marker of latency on."""
        for receiver in self.receivers:
            receiver.receive_marker(marker)
