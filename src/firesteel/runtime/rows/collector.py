"""Collectors: they gather the records that user functions emit, and pass them on as batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from firesteel.common.errors import RecordError
from firesteel.common.sealing import ATOMS, seal
from firesteel.functions.output_tag import OutputTag
from firesteel.runtime.batch import MAX_BATCH, RowBatch
from firesteel.runtime.output import Output


class Collector:
    """Gathers the results of user functions for one output and its side outputs.

    Records keep their order within each output only. Batches are passed on as they fill, even while a function still
    yields: memory does not depend on how much one call emits.
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
        """Take all records that a function returned or yields; each gets `timestamp`."""
        coerce, typed = self._coerce, self._typed
        values = self._values
        append = values.append
        count = len(values)
        for value in results:
            kind = type(value)
            if not typed and (kind in ATOMS or (kind is tuple and ATOMS.issuperset(map(type, value)))):
                append(value)
            elif kind is tuple and value and type(value[0]) is OutputTag:
                self._to_side(value[0], value[1], timestamp)
            else:
                append(coerce(value))
            if len(values) > MAX_BATCH:
                self._timestamps.extend([timestamp] * (len(values) - count))
                self.flush()
                values, count = self._values, 0
                append = values.append
        emitted = len(values) - count
        if emitted == 1:
            self._timestamps.append(timestamp)
        elif emitted:
            self._timestamps.extend([timestamp] * emitted)

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
        """Send one record to a side output; it is dropped if nobody uses the tag, as in Flink."""
        self._to_side(tag, value, timestamp)

    def _to_side(self, tag: OutputTag, value: Any, timestamp: int | None) -> None:
        output = self._side_outputs.get(tag.tag_id)
        if output is None:
            return
        values, timestamps = self._sides.setdefault(tag.tag_id, ([], []))
        values.append(output.seal(value))
        timestamps.append(timestamp)
        if len(values) > MAX_BATCH:
            del self._sides[tag.tag_id]
            _emit(output, values, timestamps)

    def flush(self) -> None:
        """Pass the gathered records on."""
        if self._values:
            values, self._values = self._values, []
            timestamps, self._timestamps = self._timestamps, []
            _emit(self._output, values, timestamps)
        if self._sides:
            sides, self._sides = self._sides, {}
            for tag_id, (values, timestamps) in sides.items():
                _emit(self._side_outputs[tag_id], values, timestamps)


def _emit(output: Output, values: list[Any], timestamps: list[int | None]) -> None:
    timed = timestamps[0] is not None or any(timestamp is not None for timestamp in timestamps)
    output.emit(RowBatch(values, timestamps if timed else None))


def not_iterable_error(result: Any, who: str, method: str) -> RecordError:
    """Return the error for a function that must return an iterable and did not."""
    return RecordError(
        f"requires {method} to return an iterable, to yield, or to return None",
        who=who,
        got=f"a {type(result).__name__}: {result!r:.80}",
        hint="return a list, or use yield",
    )
