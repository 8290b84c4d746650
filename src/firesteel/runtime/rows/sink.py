"""The sink operator: passes records to a writer, and the writer's committables to the manifest."""

from __future__ import annotations

from typing import Any

from firesteel.functions.sink import Sink, SinkWriter, WriterContext
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorReport


class SinkOperator(Operator[RowBatch]):
    """Writes a sink's input with one writer per epoch; see `firesteel.functions.sink` for the contract.

    The writer is opened with the first record, or at the end of the epoch if the previous writer left state (an open
    file must be rolled even if no more records arrive).
    """

    _writer: SinkWriter[Any] | None = None

    def __init__(self, sink: Sink[Any]) -> None:
        self._sink = sink

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._epoch = epoch
        self._writer = None

    def process(self, batch: RowBatch, port: int) -> None:
        if self._writer is None:
            self._writer = self._open()
        self._writer.write(batch.values, batch.timestamps)

    def end_epoch(self) -> OperatorReport:
        epoch = self._epoch
        if self._writer is None:
            if epoch.operator_state is None and not epoch.inherited:
                return OperatorReport()
            self._writer = self._open()
        writer, self._writer = self._writer, None
        committables = writer.prepare_commit()
        state = writer.snapshot_state()
        return OperatorReport(
            operator_state=state, committables=committables, next_wakeup=writer.next_wakeup()
        )

    def close(self) -> None:
        if self._writer is not None:
            self._writer.abort()
            self._writer = None

    def _open(self) -> SinkWriter[Any]:
        context, epoch = self.context, self._epoch
        return self._sink.create_writer(
            WriterContext(
                job_id=context.job_id,
                operator_id=context.operator_id,
                subtask=context.subtask,
                parallelism=context.parallelism,
                facts=epoch.facts,
                state=epoch.operator_state,
                inherited=tuple(epoch.inherited),
            )
        )
