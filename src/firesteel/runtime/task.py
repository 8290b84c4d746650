"""A task: one subtask of every operator of a level, for one epoch.

`run_task` turns the rows that arrive from the level before into rows for the levels after. Contract:

- Rows come sorted by `(seq, channel)`; a row of an edge into a later level is passed on unchanged.
- Order of work: begin the epoch, take the rows with `seq` below 0 (broadcast records, so that all records of the epoch
  see them), fire processing-time timers, take all other rows, read sources, finish (in the last epoch), end the epoch,
  flush, report. Each step's rows are yielded before the next step, so a task holds a bounded number of rows.
- A report row (edge REPORT) carries the `TaskReport`. If anything fails, the only further row is a failure row (edge
  FAILURE), which sorts first, and a task that receives one only passes it on: the epoch is lost, but Spark sees no
  exception and the user no stack trace of the JVM.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from firesteel.common import pickles
from firesteel.common.errors import FiresteelError
from firesteel.functions.sink import OutputStore
from firesteel.runtime.blocks import decode_block
from firesteel.runtime.failures import RAISED, task_failure
from firesteel.runtime.outbox import Outbox, Row
from firesteel.runtime.plan import EdgeSpec, EpochPlan, OperatorSpec, Plan, SubtaskReport, TaskReport
from firesteel.runtime.routing import Router, make_router
from firesteel.runtime.sampling import Sampler
from firesteel.runtime.stack import allow_chain, with_room
from firesteel.runtime.subtask import LiveSubtask
from firesteel.runtime.task_logs import logging_for_task
from firesteel.runtime.usage import LatencyMarker, Stopwatch, Usage, worker_usage
from firesteel.state.arrangements.live import ArrangementStore
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.durable import RunRef, StateAddress, StateReader, StateVersion, StoreUse
from firesteel.state.live.handover import Changed
from firesteel.state.live.memory import Memory
from firesteel.state.values.chunks import Entry

REPORT: Final = -1
FAILURE: Final = -2
_AHEAD: Final = -1 << 62
_LAST: Final = 1 << 62


class TaskState(ArrangementStore, Protocol):
    """A task's access to durable state; `firesteel.checkpoint.attach.CheckpointedState` implements it."""

    @property
    def outputs(self) -> OutputStore:
        """Where sinks store output that they cannot prepare in their targets."""

    def attach(self, address: StateAddress, committed: int, run: RunRef | None) -> StateReader:
        """Return a reader of a subtask's state as of epoch `committed`."""

    def persist(
        self, address: StateAddress, epoch: int, attempt: str, changes: Iterable[Entry]
    ) -> RunRef | None:
        """Write a subtask's changes of an epoch; return the handle for the manifest; None if there are none."""

    def hand_over(
        self, address: StateAddress, before: StateVersion, after: StateVersion, changed: list[Changed] | None
    ) -> None:
        """Leave the changes of an epoch for processes whose caches are at version `before`; None: they are unknown."""

    def missed(
        self, address: StateAddress, since: StateVersion, until: StateVersion
    ) -> Sequence[Iterable[Changed]] | None:
        """Return what others have changed between two versions, epoch by epoch; None if that is not known."""

    def shared_directory(self, address: StateAddress) -> Path | None:
        """Return where processes of this machine share arrangements of a subtask; None if they do not."""

    def use_of(self, address: StateAddress) -> StoreUse:
        """Return how this task has used the working copy of a subtask."""

    def release(self) -> None:
        """Release the readers of this task."""


class Worker:
    """The live subtasks of one process, kept from epoch to epoch."""

    def __init__(self) -> None:
        self._live: dict[tuple[str, str, int, int, int], LiveSubtask] = {}

    def take(self, plan: Plan, spec: OperatorSpec, subtask: int, epoch: EpochPlan) -> LiveSubtask:
        """Return the live subtask for this run of the job, newly opened if this process has none that can continue; the
        caller owns it.
        """
        run = (epoch.job_id, epoch.driver, epoch.run)
        live = self._live.pop((*run, spec.index, subtask), None)
        if live is not None and live.spec == spec and live.can_continue(epoch):
            return live
        if live is not None:
            live.close()
        for key in [key for key in self._live if key[0] == epoch.job_id and key[:3] != run]:
            self._live.pop(key).close()
        return LiveSubtask(plan, spec, subtask, epoch)

    def keep(self, epoch: EpochPlan, live: LiveSubtask) -> None:
        """Keep a subtask whose epoch ended well for the next one."""
        self._live[(epoch.job_id, epoch.driver, epoch.run, live.spec.index, live.subtask)] = live

    def close(self) -> None:
        """Close all subtasks that are kept; then raise the first error."""
        failures = []
        while self._live:
            try:
                self._live.popitem()[1].close()
            except FiresteelError as error:
                failures.append(error)
        if failures:
            raise failures[0]


def run_task(
    plan: Plan,
    epoch: EpochPlan,
    level: int,
    subtask: int,
    rows: Iterable[Row],
    worker: Worker,
    state: TaskState,
) -> Iterator[Row]:
    """Run one task; see the module's contract."""
    task = _Task(plan, epoch, level, subtask, worker, state)
    allow_chain(len(plan.operators))
    with logging_for_task(plan, epoch, subtask, task.watch):
        try:
            yield from with_room(task.run(rows))
        except RAISED as error:
            task.abandon()
            yield from failed_task(error, subtask)
        finally:
            task.looked_at.close()
            state.release()


def failed_task(error: BaseException, subtask: int) -> Iterator[Row]:
    """Return the whole output of a failed task: one row, with its error."""
    return iter([(0, FAILURE, subtask, _AHEAD, pickle.dumps(task_failure(error, "a task")))])


class _Task:
    def __init__(
        self, plan: Plan, epoch: EpochPlan, level: int, subtask: int, worker: Worker, state: TaskState
    ) -> None:
        self._plan = plan
        self._epoch = epoch
        self._level = level
        self._subtask = subtask
        self._worker = worker
        self._state = state
        self._outbox = Outbox()
        self._routers: list[tuple[LiveSubtask, Router]] = []
        self._live: list[LiveSubtask] = []
        self._by_index: dict[int, LiveSubtask] = {}
        self._bytes_taken = 0
        self._width = plan.levels[level]
        self._began = time.time_ns()
        self.watch = Stopwatch(Usage())
        self._sampler: Sampler | None = None
        self.looked_at = ExitStack()

    def run(self, rows: Iterable[Row]) -> Iterator[Row]:
        specs = self._plan.at(self._level, self._subtask)
        started = timed = False
        for row in rows:
            if row[1] == FAILURE:
                yield row
                return
            if not started:
                started = True
                self._start(specs)
            if not timed and row[3] >= 0:
                timed = True
                yield from self._fire_timers()
            self._take(row)
            yield from self._outbox.drain()
        if not started:
            self._start(specs)
        if not timed:
            yield from self._fire_timers()
        yield from self._pump()
        if self._epoch.facts.final:
            for live in self._live:
                live.finish()
                yield from self._outbox.drain()
        yield from self._end()

    def abandon(self) -> None:
        """Discard these instances after a failure; none may be used again."""
        for live in self._live:
            try:
                live.close()
            except FiresteelError:  # the first failure is the one to report
                continue
        self._live = []
        self._outbox.close()

    def _start(self, specs: list[OperatorSpec]) -> None:
        plan, epoch = self._plan, self._epoch
        if epoch.sampling is not None:
            sampler = Sampler(epoch.sampling, self._subtask, self.watch)
            self._sampler = self.looked_at.enter_context(sampler)
        waiting = self.watch.owner
        for spec in specs:
            self.watch.switch(Usage(spec.index))  # for the log and for samples, which ask whose `open` runs
            self._live.append(self._worker.take(plan, spec, self._subtask, epoch))
        self.watch.switch(waiting)
        self._by_index = {live.spec.index: live for live in self._live}
        for live in self._live:
            self._wire(live)
        for live in self._live:
            reader, missed = None, None
            if live.spec.stateful:
                committed, address = self._committed(live.spec), self._address(live.spec)
                reader = self._state.attach(address, committed.epoch, committed.run)
                if live.version is not None:
                    missed = self._state.missed(address, live.version, committed)
            if live.arrangements:
                runs = epoch.arranged.get(live.spec.index, {}).get(self._subtask, {})
                address, now = self._address(live.spec), epoch.facts.processing_time
                shared = None if plan.at_once else self._state.shared_directory(address)
                before = len(epoch.watermarks.get(live.spec.index, ()))
                rescaled = before not in (0, live.spec.parallelism)
                live.arrangements.begin(
                    self._state, address, epoch.committed, runs, now, shared, rescaled=rescaled
                )
            live.begin(plan, epoch, reader, missed, self._state.outputs, self.watch)
        for live in self._live:
            live.announce()
        for _, router in self._routers:
            router.announce()

    def _fire_timers(self) -> Iterator[Row]:
        for live in self._live:
            live.advance_processing_time(self._epoch.facts.processing_time)
            yield from self._outbox.drain()

    def _wire(self, live: LiveSubtask) -> None:
        outputs = [(None, live.output), *live.side_outputs.items()]
        for tag, output in outputs:
            output.receivers = [
                self._by_index[edge.target].local_input(edge) if edge.local else self._router(edge, live)
                for edge in self._plan.outgoing(live.spec.index, tag)
            ]

    def _router(self, edge: EdgeSpec, sender: LiveSubtask) -> Router:
        functions = None if edge.functions is None else sender.edge_functions(edge)
        router = make_router(edge, sender.subtask, self._outbox, functions, self._epoch.facts.number)
        self._routers.append((sender, router))
        return router

    def _take(self, row: Row) -> None:
        _, index, channel, _, block = row
        self._bytes_taken += len(block)
        if index == REPORT:
            self._outbox.pass_on(row)
            return
        edge = self._plan.edges[index]
        if self._plan.operators[edge.target].level != self._level:
            self._outbox.pass_on(row)
            return
        self._deliver(self._by_index[edge.target], edge.port, (index, channel), block)

    def _deliver(self, live: LiveSubtask, port: int, channel: tuple[int, int], block: bytes) -> None:
        """Deliver a block's records and marks in the order in which they were sent."""
        before = self.watch.switch(live.usage)
        live.usage.bytes_in += len(block)
        batch, marks = decode_block(block)
        start, total = 0, 0 if batch is None else len(batch)
        for position, mark in marks:
            if position > start:
                assert batch is not None
                whole = start == 0 and position == total
                live.receive(batch if whole else batch.slice(start, position), port)
                start = position
            if isinstance(mark, LatencyMarker):
                live.receive_marker(mark)
            else:
                live.valve.update(channel, mark)
        if batch is not None and start < total:
            live.receive(batch if start == 0 else batch.slice(start, total), port)
        self.watch.switch(before)

    def _pump(self) -> Iterator[Row]:
        """Read the sources in turn, a batch each, so that they advance together."""
        if self._plan.latency_interval:
            for live in self._live:
                live.mark(self._plan.latency_interval)
        reading = self._live
        while reading:
            more = []
            for live in reading:
                if live.pump():
                    more.append(live)
                yield from self._outbox.drain()
            reading = more

    def _end(self) -> Iterator[Row]:
        reports = [live.end() for live in self._live]
        for live, router in self._routers:
            live.guard(router.flush)
            live.usage.bytes_out += router.bytes
        yield from self._outbox.drain()
        for live, report in zip(self._live, reports, strict=True):
            started = time.perf_counter_ns()
            if live.backend is not None:
                report.run = live.guard(partial(self._persist, live.spec, live.backend))
                live.usage.store = self._state.use_of(self._address(live.spec))
                live.version = self._hand_over(live.spec, live.backend, report.run)
                report.key_kinds = live.backend.key_kinds.names()
            if live.arrangements and (live.operator.is_read_by_others or not self._plan.at_once):
                report.arranged = live.guard(partial(self._store_arrangements, live))
                report.arrangements = live.arrangements.layouts(live.spec.id)
            live.usage.persist_ns = time.perf_counter_ns() - started
        yield self._report(self._task_report(reports))
        for live in self._live:
            if self._epoch.facts.final:
                live.close()
            else:
                self._worker.keep(self._epoch, live)
        self._live = []

    def _task_report(self, reports: list[SubtaskReport]) -> TaskReport:
        memory = Memory.of_process()
        return TaskReport(
            self._bytes_taken + self._outbox.bytes,
            reports,
            self._began // 1_000_000,
            time.time_ns() // 1_000_000,
            worker_usage(memory.kept, memory.limit),
            [] if self._sampler is None else self._sampler.samples(),
        )

    def _persist(self, spec: OperatorSpec, backend: KeyedStateBackend) -> RunRef | None:
        facts = self._epoch.facts
        return self._state.persist(self._address(spec), facts.number, facts.attempt, backend.changes())

    def _store_arrangements(self, live: LiveSubtask) -> list[RunRef]:
        facts = self._epoch.facts
        return live.arrangements.end(self._state, self._address(live.spec), facts.number, facts.attempt)

    def _hand_over(self, spec: OperatorSpec, backend: KeyedStateBackend, run: RunRef | None) -> StateVersion:
        facts = self._epoch.facts
        after = StateVersion(facts.lineage, self._subtask, facts.number, run)
        self._state.hand_over(self._address(spec), self._committed(spec), after, backend.changed())
        return after

    def _committed(self, spec: OperatorSpec) -> StateVersion:
        """Return the version of a subtask's state that this epoch starts from."""
        run = self._epoch.runs.get(spec.index, {}).get(self._subtask)
        return StateVersion(self._epoch.facts.lineage, self._subtask, self._epoch.committed, run)

    def _address(self, spec: OperatorSpec) -> StateAddress:
        groups = key_group_range(self._subtask, spec.parallelism, spec.max_parallelism)
        return StateAddress(
            self._epoch.facts.lineage,
            spec.id,
            self._subtask,
            groups.start,
            max(groups.start, groups.stop - 1),
            spec.max_parallelism,
        )

    def _report(self, report: TaskReport) -> Row:
        try:
            block = pickle.dumps(report, 5)
        except (pickle.PicklingError, AttributeError, TypeError):
            block = pickles.dumps(report)
        return (0, REPORT, self._subtask, _LAST, block)


def read_results(rows: Iterable[Row]) -> list[TaskReport]:
    """Return the tasks' reports among the rows of the last level; raise the failure if there is one."""
    reports = []
    for row in sorted(rows, key=lambda row: row[3]):
        if row[1] == FAILURE:
            raise pickle.loads(row[4])
        reports.append(pickle.loads(row[4]))
    return reports
