"""Outputs: where an operator's records and watermarks go.

An `Output` fans out to its **receivers**: inputs of operators in the same task (`firesteel.runtime.subtask`)
and writers of exchange edges (`firesteel.runtime.routing`). A `Collector` gathers what user functions emit,
record by record, seals it, sends `yield tag, value` to side outputs, and hands whole batches to its output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol

from firesteel.common.errors import RecordError
from firesteel.functions.output_tag import OutputTag
from firesteel.runtime.operator import Batch
from firesteel.runtime.sealing import ATOMS, Seal, seal

MAX_BATCH: Final = 4096
"""Records after which a collector hands its batch on."""


class Receiver(Protocol):
    """One way out of an output."""

    def receive(self, batch: Batch) -> None:
        """Take the next records."""

    def receive_watermark(self, watermark: int | None) -> None:
        """Take a watermark (milliseconds), or None: the sender is idle until it sends again."""


class Output:
    """Fans batches and watermarks out; copies what is mutable for all receivers but the last."""

    __slots__ = ("muted", "receivers", "records", "seal")

    def __init__(self, receivers: list[Receiver], coerce: Seal | None = None) -> None:
        self.receivers = receivers
        self.seal: Seal = coerce or seal
        self.records = 0
        self.muted = False

    def emit(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        """Send sealed values; `timestamps` in milliseconds, or None where no record has one."""
        if not values:
            return
        self.records += len(values)
        receivers = self.receivers
        for receiver in receivers[:-1]:
            receiver.receive(Batch([seal(value) for value in values], timestamps))
        if receivers:
            receivers[-1].receive(Batch(values, timestamps))

    def emit_watermark(self, watermark: int | None) -> None:
        """Send a watermark, or None for idleness; nothing while `muted`."""
        if self.muted:
            return
        for receiver in self.receivers:
            receiver.receive_watermark(watermark)


class Collector:
    """Gathers the results of user functions for one output and its side outputs.

    Records of different outputs keep their order within each output only.
    """

    __slots__ = ("_coerce", "_output", "_side_outputs", "_sides", "_timestamps", "_typed", "_values")

    def __init__(self, output: Output, side_outputs: dict[str, Output]) -> None:
        self._output = output
        self._coerce = output.seal
        self._typed = output.seal is not seal
        self._side_outputs = side_outputs
        self._values: list[Any] = []
        self._timestamps: list[int | None] = []
        self._sides: dict[str, tuple[list[Any], list[int | None]]] = {}

    def extend(self, results: Iterable[Any], timestamp: int | None) -> None:
        """Take all that a function returned or yields; each record gets `timestamp`."""
        values = self._values
        append = values.append
        count = len(values)
        if self._typed:
            coerce = self._coerce
            for value in results:
                if type(value) is tuple and value and type(value[0]) is OutputTag:
                    self._to_side(value[0], value[1], timestamp)
                else:
                    append(coerce(value))
        else:
            for value in results:
                kind = type(value)
                if kind in ATOMS or (kind is tuple and ATOMS.issuperset(map(type, value))):
                    append(value)
                elif kind is tuple and value and type(value[0]) is OutputTag:
                    self._to_side(value[0], value[1], timestamp)
                else:
                    append(seal(value))
        emitted = len(values) - count
        if emitted == 1:
            self._timestamps.append(timestamp)
        elif emitted:
            self._timestamps.extend([timestamp] * emitted)
        if count > MAX_BATCH:
            self.flush()

    def add(self, value: Any, timestamp: int | None) -> None:
        """Take one record that a function yields."""
        kind = type(value)
        if kind is tuple and value and type(value[0]) is OutputTag:
            self._to_side(value[0], value[1], timestamp)
            return
        if self._typed:
            value = self._coerce(value)
        elif kind not in ATOMS and not (kind is tuple and ATOMS.issuperset(map(type, value))):
            value = seal(value)
        self._values.append(value)
        self._timestamps.append(timestamp)
        if len(self._values) > MAX_BATCH:
            self.flush()

    def side(self, tag: OutputTag, value: Any, timestamp: int | None) -> None:
        """Send one record to a side output; a tag nobody asked for drops it, as in Flink."""
        self._to_side(tag, value, timestamp)

    def _to_side(self, tag: OutputTag, value: Any, timestamp: int | None) -> None:
        output = self._side_outputs.get(tag.tag_id)
        if output is None:
            return
        values, timestamps = self._sides.setdefault(tag.tag_id, ([], []))
        values.append(output.seal(value))
        timestamps.append(timestamp)

    def flush(self) -> None:
        """Hand on what was gathered."""
        if self._values:
            values, self._values = self._values, []
            timestamps, self._timestamps = self._timestamps, []
            self._output.emit(values, timestamps if _any_set(timestamps) else None)
        if self._sides:
            sides, self._sides = self._sides, {}
            for tag_id, (values, timestamps) in sides.items():
                self._side_outputs[tag_id].emit(values, timestamps if _any_set(timestamps) else None)


def _any_set(timestamps: list[int | None]) -> bool:
    return timestamps[0] is not None or any(timestamp is not None for timestamp in timestamps)


def not_iterable_error(result: Any, who: str, method: str) -> RecordError:
    """The error for a function that must return an iterable and did not."""
    return RecordError(
        f"requires {method} to return an iterable, to yield, or to return None",
        who=who,
        got=f"a {type(result).__name__}: {result!r:.80}",
        hint="return a list, or use yield",
    )
