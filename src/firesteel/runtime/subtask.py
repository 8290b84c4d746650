"""A live subtask: an operator with its state, timers, outputs and valve, kept in a worker over many epochs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import cloudpickle

from firesteel.common.errors import FiresteelError, StateEvolutionRequired
from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.sink import OutputStore
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.batch import Batch
from firesteel.runtime.context import TaskRuntimeContext
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.output import Output
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan, SubtaskReport
from firesteel.runtime.routing import EdgeFunctions
from firesteel.runtime.timers import TimerQueue
from firesteel.runtime.usage import LatencyMarker, Stopwatch, Usage
from firesteel.runtime.watermarks import WatermarkValve
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.keys.groups import key_group_range
from firesteel.state.keys.main_classes import find_classes_in
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.durable import StateReader, StateVersion
from firesteel.state.live.handover import Changed
from firesteel.state.live.memory import allow_state_memory
from firesteel.state.live.operator_lists import OperatorLists


class LiveSubtask:
    """One subtask of one operator in one worker process.

    Contract: `open` happens in the constructor; `begin(epoch, reader, keep)` starts an epoch, after which batches
    arrive through the inputs made by `local_input` or by calls of `receive`; `finish` and `end` close the epoch;
    `close` ends the instance. After any exception the instance must be closed and discarded.
    """

    def __init__(self, plan: Plan, spec: OperatorSpec, subtask: int, epoch: EpochPlan) -> None:
        self.spec = spec
        self.subtask = subtask
        self.records_in = 0
        self.usage = Usage(spec.index)
        self._watch = Stopwatch(self.usage)
        self._marked_at = 0
        self.version: StateVersion | None = None
        self.operator: Operator[Any] = cloudpickle.loads(spec.factory)()
        typed = spec.output_type is not None
        self.output = Output([], cloudpickle.loads(spec.output_type).compile_coercer() if typed else None)
        self.side_outputs = {tag: Output([]) for tag in plan.side_outputs(spec.index)}
        self.backend: KeyedStateBackend | None = None
        self.timers: list[TimerQueue] = []
        if spec.stateful:
            groups = key_group_range(subtask, spec.parallelism, spec.max_parallelism)
            allow_state_memory(plan.state_memory)
            find_classes_in(partial(_load_functions, plan))
            self.backend = KeyedStateBackend(spec.max_parallelism, WINDOW_CODEC, groups=groups)
            self.backend.restore_schemas(epoch.schemas.get(spec.index, {}))
        if spec.keyed and self.backend is not None:
            self.timers = [TimerQueue(self.backend, "event"), TimerQueue(self.backend, "processing")]
        event_timers, processing_timers = self.timers or (None, None)
        self.arrangements = LiveArrangements(spec.who, epoch.arrangements.get(spec.index, {}))
        self._lists_version: str | None = None
        self._metrics = MetricGroup([plan.job_name, spec.name, str(subtask)])
        self._context = OperatorContext(
            job_id=epoch.job_id,
            job_name=plan.job_name,
            operator_id=spec.id,
            name=spec.name,
            who=spec.who,
            subtask=subtask,
            parallelism=spec.parallelism,
            max_parallelism=spec.max_parallelism,
            attempt=epoch.run - 1,
            job_parameters=plan.job_parameters,
            watermark_interval=plan.watermark_interval,
            output=self.output,
            side_outputs=self.side_outputs,
            metrics=self._metrics,
            typed_output=typed,
            backend=self.backend,
            event_timers=event_timers,
            processing_timers=processing_timers,
            arrangements=self.arrangements,
            restored_epoch=epoch.committed if spec.index in epoch.watermarks else None,
            restored_lists=_lists_of(epoch, spec, subtask),
        )
        self._edge_functions: dict[int, EdgeFunctions] = {}
        self.guard(lambda: self.operator.open(self._context))

    def can_continue(self, epoch: EpochPlan) -> bool:
        """Return whether this instance has the committed list state: it may have missed epochs."""
        lists = _lists_of(epoch, self.spec, self.subtask)
        return lists is None or (lists.version is not None and lists.version == self._lists_version)

    def begin(
        self,
        plan: Plan,
        epoch: EpochPlan,
        reader: StateReader | None,
        missed: Sequence[Iterable[Changed]] | None,
        outputs: OutputStore,
        watch: Stopwatch,
    ) -> None:
        """Bind state at the last committed version and start the epoch.

        `missed` is what others changed since this instance's last epoch; None if that is not known. `outputs` is for
        what sinks prepare. `watch` counts the time of this task.
        """
        marks = epoch.watermarks.get(self.spec.index)
        start = _watermark_of(marks, self.subtask, self.spec.parallelism)
        self.records_in = 0
        self.usage, self._watch = Usage(self.spec.index), watch
        for output in (self.output, *self.side_outputs.values()):
            output.records = 0
        if self.backend is not None:
            assert reader is not None
            self.backend.begin(reader, missed is not None, epoch.facts.processing_time)
            for changes in missed or ():
                self.backend.adopt(changes)
            for queue in self.timers:
                queue.begin()
        channels = [
            (edge.index, channel)
            for edge in plan.incoming(self.spec.index)
            for channel in edge.channels_of(self.subtask)
        ]
        self.valve = WatermarkValve(channels, start, self._on_watermark)
        self.guard(
            lambda: self.operator.begin_epoch(
                Epoch(
                    epoch.facts,
                    watermark=start,
                    operator_state=epoch.operator_states.get(self.spec.index, {}).get(self.subtask),
                    inherited=epoch.inherited.get(self.spec.index, {}).get(self.subtask, ()),
                    input=epoch.inputs.get(self.spec.index, {}).get(self.subtask, []),
                    outputs=outputs,
                )
            )
        )

    def receive(self, batch: Batch, port: int) -> None:
        """Pass records to the operator; its exceptions are raised with its name."""
        self.records_in += len(batch)
        before = self._watch.switch(self.usage)
        try:
            self.operator.process(batch, port)
            if self.backend is not None:
                self.backend.relax()
        except RAISED as error:
            raise self._failure(error) from error
        self._watch.switch(before)

    def receive_marker(self, marker: LatencyMarker) -> None:
        """Note that a marker has come, and pass it on."""
        self.usage.arrivals.append((marker, time.time_ns() // 1_000_000))
        self.output.emit_marker(marker)

    def mark(self, interval_ms: int) -> None:
        """Send a marker, if this is a source and the last one is that long ago."""
        now = time.time_ns() // 1_000_000
        if not self.spec.ports and now - self._marked_at >= interval_ms:
            self._marked_at = now
            self.output.emit_marker(LatencyMarker(now, self.spec.index, self.subtask))

    def announce(self) -> None:
        """Send the current watermark."""
        self.guard(self.operator.announce)

    def advance_processing_time(self, now: int) -> None:
        self.guard(lambda: self.operator.advance_processing_time(now))

    def pump(self) -> bool:
        """Read a part of the operator's own input; return whether there is more."""
        more: bool = self.guard(self.operator.pump)
        return more

    def finish(self) -> None:
        self.guard(self.operator.finish)

    def end(self) -> SubtaskReport:
        """End the epoch; the caller persists `backend.changes()` and fills in the run."""
        report: OperatorReport = self.guard(self.operator.end_epoch)
        if isinstance(report.operator_state, OperatorLists):
            self._lists_version = report.operator_state.version
        return SubtaskReport(
            operator=self.spec.index,
            subtask=self.subtask,
            watermark=self.operator.watermark,
            operator_state=report.operator_state,
            committables=list(report.committables),
            splits=list(report.splits),
            schemas=None if self.backend is None else self.backend.schemas(),
            next_wakeup=self._next_wakeup(report.next_wakeup),
            idle_deadline=report.idle_deadline,
            records_in=self.records_in,
            records_out=sum(output.records for output in (self.output, *self.side_outputs.values())),
            metrics=self.guard(self._metrics.take),
            usage=self._measured(),
        )

    def _measured(self) -> Usage:
        usage = self.usage
        if self.backend is not None:
            usage.state_memory, usage.spilled = self.backend.memory, self.backend.spilled
        if self.arrangements:
            usage.arranged_rows = self.arrangements.rows
        return usage

    def close(self) -> None:
        """Close the operator and the functions of its edges, and release the resources of an unfinished epoch."""
        if self.backend is not None:
            self.backend.close()
        self.guard(self.operator.close)
        for functions in self._edge_functions.values():
            self.guard(functions.close)

    def edge_functions(self, edge: EdgeSpec) -> EdgeFunctions:
        """Return the opened functions of an edge that this subtask sends to (or receives from locally)."""
        if edge.index not in self._edge_functions:
            assert edge.functions is not None
            functions: EdgeFunctions = cloudpickle.loads(edge.functions)
            functions.open(TaskRuntimeContext(self._context, keyed=False))
            self._edge_functions[edge.index] = functions
        return self._edge_functions[edge.index]

    def local_input(self, edge: EdgeSpec) -> LocalInput:
        """Return the receiver for an edge whose sender runs in the same task."""
        if edge.distribution is not Distribution.HASH:
            return LocalInput(self, edge.index, edge.port)
        return KeyedLocalInput(self, edge.index, edge.port, self.edge_functions(edge))

    def _on_watermark(self, watermark: int | None) -> None:
        before = self._watch.switch(self.usage)
        try:
            if watermark is None:
                self.operator.advance_idle()
            else:
                self.operator.advance_watermark(watermark)
        except RAISED as error:
            raise user_failure(error, self.spec.who) from error
        self._watch.switch(before)

    def _next_wakeup(self, asked: int | None) -> int | None:
        due = [] if asked is None else [asked]
        if self.timers:
            timer = self.timers[1].next_due()
            if timer is not None:
                due.append(timer)
        return min(due, default=None)

    def guard(self, call: Callable[[], Any]) -> Any:
        """Make a call that may run user code or handle its records; exceptions are raised with the operator's name."""
        before = self._watch.switch(self.usage)
        try:
            return call()
        except RAISED as error:
            raise self._failure(error) from error
        finally:
            self._watch.switch(before)

    def _failure(self, error: BaseException) -> FiresteelError:
        if isinstance(error, StateEvolutionRequired):
            error.operator_id, error.operator = self.spec.id, self.spec.who
        return user_failure(error, self.spec.who)


def _watermark_of(marks: list[int] | None, subtask: int, parallelism: int) -> int:
    """Return the watermark with which a subtask starts an epoch; after a change of parallelism the lowest old one."""
    if not marks:
        return MIN_WATERMARK
    return marks[subtask] if len(marks) == parallelism else min(marks)


def _load_functions(plan: Plan) -> None:
    """Unpickle every function of the program, which defines the classes of its script."""
    for blob in [*(spec.factory for spec in plan.operators), *(edge.functions for edge in plan.edges)]:
        if blob is not None:
            cloudpickle.loads(blob)


def _lists_of(epoch: EpochPlan, spec: OperatorSpec, subtask: int) -> OperatorLists | None:
    state = epoch.operator_states.get(spec.index, {}).get(subtask)
    return state if isinstance(state, OperatorLists) else None


class LocalInput:
    """The receiving end of an edge within a task."""

    __slots__ = ("_channel", "_port", "_subtask")

    def __init__(self, subtask: LiveSubtask, edge: int, port: int) -> None:
        self._subtask = subtask
        self._channel = (edge, subtask.subtask)
        self._port = port

    def receive(self, batch: Batch) -> None:
        self._subtask.receive(batch, self._port)

    def receive_watermark(self, watermark: int | None) -> None:
        self._subtask.valve.update(self._channel, watermark)

    def receive_marker(self, marker: LatencyMarker) -> None:
        self._subtask.receive_marker(marker)


class KeyedLocalInput(LocalInput):
    """The receiving end of a key_by within a task (one subtask to one subtask)."""

    __slots__ = ("_direct",)

    def __init__(self, subtask: LiveSubtask, edge: int, port: int, functions: EdgeFunctions) -> None:
        super().__init__(subtask, edge, port)
        self._direct = functions.direct

    def receive(self, batch: Batch) -> None:
        self._subtask.receive(self._direct(batch)[0], self._port)
