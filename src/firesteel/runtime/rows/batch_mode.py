"""BATCH mode: the order in which operators with keys or with broadcast state take their input.

Flink sorts the input of a keyed operator in BATCH mode by key and timestamp, keeps the watermark at its minimum while
it processes a key's records, and then fires the key's timers (Flink: execution mode, "Order of Processing"). An
operator with broadcast state reads its broadcast side to the end before it begins with the other side (Flink:
BatchCoBroadcastWithNonKeyedOperator). Here the records wait in keyed state until the input has ended, so a batch job is
as durable as a streaming job, and its memory is as bounded.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.output import Output
from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor
from firesteel.state.keys.groups import key_group, key_group_range

_WAITING: Final = "batch-input"


class _WaitingOperator(Operator[RowBatch]):
    """Runs `inner` on records that wait in keyed state until the input has ended, under the keys `_keys`."""

    def __init__(self, inner: Operator[Any]) -> None:
        self._inner = inner

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.backend is not None
        self._backend = context.backend
        self._scope = context.backend.keyed
        self._keys = TimerQueue(context.backend, "batch")
        self._inner.open(context)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._keys.begin()
        self._inner.begin_epoch(epoch)
        self._inner.watermark = MIN_WATERMARK

    def advance_processing_time(self, now: int) -> None:
        self._inner.advance_processing_time(now)

    def finish(self) -> None:
        self._inner.finish()

    def end_epoch(self) -> OperatorReport:
        return self._inner.end_epoch()

    def close(self) -> None:
        self._inner.close()


class BatchOperator(_WaitingOperator):
    """Runs `inner`, an operator with keyed input, as Flink does in BATCH mode; unkeyed ports are served first."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._waiting = self._backend.list_state(ListStateDescriptor(_WAITING, None))

    def process(self, batch: RowBatch, port: int) -> None:
        if batch.keys is None:
            self._inner.process(batch, port)
            return
        for key, value, stamp in zip(batch.keys, batch.values, batch.stamps(), strict=True):
            self._scope.current = key
            self._waiting.hold_all([(MIN_WATERMARK if stamp is None else stamp, port, value)])
            self._keys.register(MAX_WATERMARK, key)

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        if watermark == MAX_WATERMARK:
            with _Muted(self._inner):
                for _, key in self._keys.pop_due(MAX_WATERMARK):
                    self._run_key(key)
        self.emit_watermark(watermark)

    def _run_key(self, key: Any) -> None:
        self._scope.current = key
        records = sorted(self._waiting.held(), key=lambda record: record[0])
        self._waiting.clear()
        for port in sorted({port for _, port, _ in records}, reverse=True):
            mine = [(stamp, value) for stamp, at, value in records if at == port]
            stamps = [None if stamp == MIN_WATERMARK else stamp for stamp, _ in mine]
            self._inner.process(RowBatch([value for _, value in mine], stamps, [key] * len(mine)), port)
        self._inner.watermark = MIN_WATERMARK
        self._inner.advance_watermark(MAX_WATERMARK)
        self._inner.watermark = MIN_WATERMARK


class FirstPortOperator(_WaitingOperator):
    """Runs `inner`, an operator without keys, on all records of the port `first` before those of the other port.

    The latter wait in batches, in the order of arrival, under a key that the subtask owns.
    """

    def __init__(self, inner: Operator[Any], first: int) -> None:
        super().__init__(inner)
        self._first = first

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._waiting = self._backend.map_state(MapStateDescriptor(_WAITING, None, None))
        groups = key_group_range(context.subtask, context.parallelism, context.max_parallelism)
        self._key = next(key for key in count() if key_group(key, context.max_parallelism) in groups)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._batches = 0

    def process(self, batch: RowBatch, port: int) -> None:
        if port == self._first:
            self._inner.process(batch, port)
            return
        self._batches += 1
        place = self.epoch.to_bytes(8, "big") + self._batches.to_bytes(8, "big")
        self._scope.current = self._key
        self._waiting.put(place, (port, batch.values, batch.timestamps))
        self._keys.register(MAX_WATERMARK, self._key)

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        if watermark == MAX_WATERMARK:
            for _, key in self._keys.pop_due(MAX_WATERMARK):
                self._scope.current = key
                for port, values, stamps in self._waiting.values():
                    self._inner.process(RowBatch(values, stamps), port)
                    self._backend.relax()
                    self._scope.current = key
                self._waiting.clear()
        self._inner.advance_watermark(watermark)


class _Muted:
    """Suppresses the watermarks of an operator's outputs."""

    def __init__(self, operator: Operator[Any]) -> None:
        self._outputs: list[Output] = [operator.output, *operator.context.side_outputs.values()]

    def __enter__(self) -> None:
        for output in self._outputs:
            output.muted = True

    def __exit__(self, *error: object) -> None:
        for output in self._outputs:
            output.muted = False
