"""The window operator: assigners, triggers, lateness, merging windows and window functions (Flink: WindowOperator).

Contract, for a pane (a key and a window): each record that is not too late is added to its panes and passed to the
trigger. If the trigger fires, the window function gets the contents, and its results get the window's largest timestamp
(the timestamp of the record or timer if the window has no end). A cleanup timer at the window's largest timestamp plus
the allowed lateness drops the contents, the trigger's state and, through `clear`, the function's own state. The
trigger's timers and the cleanup timer share one queue per time domain, under `(key, window)`.
"""

from __future__ import annotations

from typing import Any

from firesteel.functions.assigners import MergingWindowAssigner, WindowAssigner
from firesteel.functions.base import Function
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.triggers import Trigger
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.checkpointing import initialize_lists
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import Operator, OperatorContext, OperatorReport
from firesteel.runtime.rows.collector import Collector
from firesteel.runtime.rows.windows.by_record import RecordByRecord
from firesteel.runtime.rows.windows.context import (
    AssignerContext,
    PaneTriggerContext,
    ProcessContext,
    WindowRuntimeContext,
)
from firesteel.runtime.rows.windows.evaluation import (
    WindowLogic,
    WindowMode,
    make_contents,
    make_evaluation,
)
from firesteel.runtime.rows.windows.loops import Loops, specialised
from firesteel.runtime.rows.windows.merging import MergingWindowSet
from firesteel.runtime.rows.windows.panes import Panes
from firesteel.state.descriptors import ValueStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend


class WindowOperator(Operator[RowBatch]):
    """Windows a keyed stream; see the module for the contract, and `WindowLogic` for the functions and types.

    `allowed_lateness` is in milliseconds. Late records go to the side output of `late_tag`; without one they are
    dropped and counted (`numLateRecordsDropped`). Without keys (`keyed=False`) all records have the key 0.
    """

    def __init__(
        self,
        *,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any],
        mode: WindowMode,
        function: Any = None,
        window_function: Any = None,
        allowed_lateness: int = 0,
        late_tag: OutputTag | None = None,
        input_type: Any = None,
        accumulator_type: Any = None,
        keyed: bool = True,
    ) -> None:
        self._assigner = assigner
        self._trigger = trigger
        self._logic = WindowLogic(mode, function, window_function, input_type, accumulator_type, keyed)
        self._lateness = allowed_lateness
        self._late_tag = late_tag
        self._opened: list[Function] = []

    # Lifecycle

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.backend is not None
        backend = context.backend
        self._collector = Collector(context.output, context.side_outputs)
        runtime = WindowRuntimeContext(context)
        self._late_records = runtime.get_metrics_group().counter("numLateRecordsDropped")
        contents, folder = make_contents(self._logic, backend, context.who)
        self._panes = panes = Panes(
            context,
            self,
            self._collector,
            contents,
            event_time=self._assigner.is_event_time(),
            lateness=self._lateness,
        )
        merging = self._make_merging_set(backend)
        process_context = ProcessContext(self, backend, runtime, merging is not None)
        evaluation = make_evaluation(self._logic, process_context)
        panes.evaluate_with(evaluation, process_context, f"the window function of {self._logic.mode}()")
        self._open_functions([folder, evaluation.function], runtime)
        timers = panes.event_timers, panes.processing_timers
        self._general = RecordByRecord(
            panes,
            (self._assigner, AssignerContext(self, runtime)),
            (self._trigger, PaneTriggerContext(self, backend, timers, runtime.get_metrics_group())),
            merging,
            self._drop,
        )
        self._loops = self.choose_loops(panes, self._general)

    def choose_loops(self, panes: Panes, general: RecordByRecord) -> Loops:
        """Return the object that takes batches and fires timers: loops made for this assigner and trigger, or the
        general path.
        """
        return specialised(panes, general) or Loops(general.take, general.fire)

    def _open_functions(self, functions: list[Function | None], runtime: WindowRuntimeContext) -> None:
        there = [function for function in functions if function is not None]
        self._lists = initialize_lists(there, self.context, runtime)
        for function in there:
            function.open(runtime)
            self._opened.append(function)

    def close(self) -> None:
        for function in self._opened:
            function.close()

    def _make_merging_set(self, backend: KeyedStateBackend) -> MergingWindowSet | None:
        if not isinstance(self._assigner, MergingWindowAssigner):
            return None
        return MergingWindowSet(
            self._assigner, backend.value_state(ValueStateDescriptor("merging-window-set"))
        )

    def _drop(self, value: Any, timestamp: int | None) -> None:
        if self._late_tag is None:
            self._late_records.inc()
        else:
            self._collector.side(self._late_tag, value, timestamp)

    # Records

    def process(self, batch: RowBatch, port: int) -> None:
        keys = batch.keys if batch.keys is not None else [0] * len(batch.values)
        self._loops.take(keys, batch.values, batch.timestamps)
        self._collector.flush()
        self.advance_processing_time(self.processing_time)

    # Timers

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        due = self._panes.event_timers.next_due()
        if due is not None and due <= watermark:
            try:
                self._loops.fire(watermark)
            except RAISED as error:
                raise user_failure(error, self.context.who) from error
            self._collector.flush()
        self.emit_watermark(watermark)

    def advance_processing_time(self, now: int) -> None:
        self.processing_time = now
        due = self._panes.processing_timers.next_due()
        if due is None or due > now:
            return
        try:
            self._general.fire_processing_time(now)
        except RAISED as error:
            raise user_failure(error, self.context.who) from error
        self._collector.flush()

    def end_epoch(self) -> OperatorReport:
        self._loops.settle()
        self._collector.flush()
        return OperatorReport(operator_state=self._lists and self._lists.snapshot(self))
