"""What all sink operators share: a writer for each epoch, whose committables go to the manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from firesteel.functions.sink import SinkWriter, WriterContext
from firesteel.runtime.operator import B, Epoch, Operator, OperatorReport

W = TypeVar("W", bound=SinkWriter[Any])


class WritingOperator(Operator[B], Generic[B, W]):
    """Writes a sink's input with one writer per epoch; see `firesteel.functions.sink` for the contract.

    The writer is opened with the first record, or at the end of the epoch if the previous writer left state (an open
    file must be rolled even if no more records arrive).
    """

    _open_writer: W | None = None

    def __init__(self, create_writer: Callable[[WriterContext], W], *, at_end: bool = False) -> None:
        self._create_writer = create_writer
        self._at_end = at_end

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._epoch = epoch
        self._open_writer = None

    @property
    def _writer(self) -> W:
        if self._open_writer is None:
            self._open_writer = self._create_writer(self._context_of_writer())
        return self._open_writer

    def end_epoch(self) -> OperatorReport:
        epoch = self._epoch
        ends = self._at_end and epoch.facts.final
        if self._open_writer is None and epoch.operator_state is None and not (epoch.inherited or ends):
            return OperatorReport()
        writer, self._open_writer = self._writer, None
        writer.advance_watermark(self.watermark)
        committables = writer.prepare_commit()
        state = writer.snapshot_state()
        return OperatorReport(
            operator_state=state, committables=committables, next_wakeup=writer.next_wakeup()
        )

    def close(self) -> None:
        if self._open_writer is not None:
            self._open_writer.abort()
            self._open_writer = None

    def _context_of_writer(self) -> WriterContext:
        context, epoch = self.context, self._epoch
        return WriterContext(
            job_id=context.job_id,
            operator_id=context.operator_id,
            subtask=context.subtask,
            parallelism=context.parallelism,
            facts=epoch.facts,
            state=epoch.operator_state,
            inherited=tuple(epoch.inherited),
            outputs=epoch.outputs,
        )
