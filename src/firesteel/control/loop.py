"""The epoch loop: it carries out the machine's commands, one at a time, on the job's own thread."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future

from firesteel.common.errors import EngineError, FiresteelError, StateEvolutionRequired
from firesteel.common.job_status import JobStatus
from firesteel.common.log_context import at_epoch
from firesteel.control.admission import FIRST, Admission
from firesteel.control.clock import Clock, JobTime, Moment
from firesteel.control.cost import Load
from firesteel.control.events import (
    Command,
    Committed,
    EpochRan,
    Event,
    EvolutionNeeded,
    Evolved,
    Failed,
    Phase,
    Planned,
    Published,
    Recovered,
    RequestEvent,
    Rescaled,
    RescaleRequested,
    Saved,
    SavepointRequested,
    StopRequested,
    Woken,
)
from firesteel.control.executor import Executor
from firesteel.control.flame_sampling import FlameSampling
from firesteel.control.job_sources import EpochInput, JobSources
from firesteel.control.journal import Journal
from firesteel.control.listeners import EpochStats, lag_of, tell
from firesteel.control.machine import Job, step
from firesteel.control.maintenance import Maintenance
from firesteel.control.metrics import Metrics
from firesteel.control.pacing import Pacing
from firesteel.control.pending import Pending
from firesteel.control.program import Program
from firesteel.control.publishing import Publishing
from firesteel.control.settings import JobSettings
from firesteel.control.state_conversion import evolve
from firesteel.control.turn import Turn
from firesteel.control.views.metrics import JobMetrics
from firesteel.control.wakeups import Wakeups

_log = logging.getLogger("firesteel.control")


class EpochLoop:
    """Drives one job to its end; `run()` returns the machine's last state.

    `stop`, `cancel`, `savepoint`, `checkpoint` and `rescale` may be called from any thread; everything else happens on
    the thread that called `run`. They return a future: of the savepoint's URL if one is taken, otherwise of a message
    about what was done. Savepoints, checkpoints and changes of parallelism happen before the next epoch, when all
    committed output has been published. No epoch is planned while `held_back` returns that a reader must catch up
    first; call `wake` if this may have changed.
    """

    def __init__(
        self,
        program: Program,
        executor: Executor,
        journal: Journal,
        maintenance: Maintenance,
        settings: JobSettings,
        clock: Clock,
        samples: FlameSampling,
        held_back: Callable[[], bool] = lambda: False,
    ) -> None:
        self._program = program
        self._executor = executor
        self._journal = journal
        self._maintenance = maintenance
        self._settings = settings
        self._clock = clock
        self._held_back = held_back
        self._samples = samples
        self._time = JobTime(clock)
        self._pending = Pending()
        self._to_keep: set[int] = set()
        most = settings.max_epoch_records
        self._admission = Admission(settings.epoch_ms, most, min(FIRST, most), settings.max_epoch_bytes)
        self._pacing = Pacing(settings.epoch_interval_ms)
        self._metrics = Metrics(program.plan, clock.now())
        self.failures = self._metrics.failures
        self._job = Job(settings.restart)
        self._wakeup = threading.Event()
        self._lock = threading.Lock()
        self._token = uuid.uuid4().hex[:8]
        self._tries = 0
        self._runs = 0
        self._wakeups = Wakeups()
        self._turn: Turn | None = None
        self._unpublished: Turn | None = None
        self._publishing = Publishing()
        self._change: StateEvolutionRequired | None = None
        self._handlers: dict[Command, Callable[[], Event]] = {
            Command.RECOVER: self._recover,
            Command.PUBLISH: self._publish,
            Command.SAVE: self._save,
            Command.RESCALE: self._rescale,
            Command.PLAN: self._plan,
            Command.DRAIN: self._drain,
            Command.RUN: self._run_epoch,
            Command.COMMIT: self._commit,
            Command.EVOLVE: self._evolve,
            Command.WAIT: self._wait,
            Command.BACK_OFF: self._back_off,
        }

    @property
    def job(self) -> Job:
        """The state of the machine."""
        return self._job

    @property
    def epoch(self) -> int:
        """The last committed epoch."""
        return self._journal.epoch

    @property
    def parallelism(self) -> int:
        """The default parallelism at which the job runs."""
        return self._program.parallelism

    def metrics(self) -> JobMetrics | None:
        """Return the operators' metrics over all committed epochs; None before the first."""
        return self._metrics.view(self._clock.now())

    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]:
        """End the job after the running epoch; with a savepoint below a directory, if given ("": the job's own).

        With `drain` one more epoch ends the sources at their current positions, and fires all timers and windows: the
        job is then finished for good.
        """
        answer = self._pending.end(savepoint)
        self._request(StopRequested(JobStatus.FINISHED, drain))
        return answer

    def cancel(self) -> Future[str]:
        """End the job now and discard the running epoch."""
        answer = self._pending.end(None)
        self._request(StopRequested(JobStatus.CANCELED))
        return answer

    @property
    def caution(self) -> str | None:
        """A warning about a savepoint of the job if the job continues; None if there is none."""
        return self._program.savepoint_caution

    def savepoint(self, target: str | None = None) -> Future[str]:
        """Take a savepoint below a directory (None or "": the job's own) while the job runs."""
        answer = self._pending.savepoint(target or None)
        self._request(SavepointRequested())
        return answer

    def checkpoint(self) -> Future[str]:
        """Return the number of an epoch that has all that was read until now, once its output is visible."""
        answer = self._pending.checkpoint()
        self._request(SavepointRequested())
        return answer

    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]:
        """Change the parallelism from the next epoch on. Operators with their own parallelism keep it."""
        if keep:
            self._to_keep.add(parallelism)
        answer = self._pending.rescale(parallelism)
        self._request(RescaleRequested())
        return answer

    def sample(self, seconds: float) -> Future[str]:
        """Look for so long where tasks are; the result is the name of the file with the samples."""
        return self._samples.ask(seconds)

    def wake(self) -> None:
        """End a wait now and look again."""
        self._wakeup.set()

    def run(self) -> Job:
        """Run the job to its end."""
        command: Command | None = Command.RECOVER
        try:
            while command is not None and command is not Command.END:
                command = self._advance(self._carry_out(command))
        finally:
            self._publishing.close()
            self._pending.close(self._job, self._journal, self._maintenance)
            for source in self._program.sources.values():
                source.close()
        return self._job

    def _request(self, event: RequestEvent) -> None:
        """Feed the machine at once: the loop's thread sees the result at its next event, or is woken for it."""
        with self._lock:
            self._job, commands = step(self._job, event)
            self._wakeup.set()
        if Command.INTERRUPT in commands:
            self._executor.interrupt()

    def _advance(self, event: Event) -> Command | None:
        """Feed the machine; return the next command, or None if the job was ended in the meantime."""
        with self._lock:
            self._wakeup.clear()
            self._job, commands = step(self._job, event)
        if Command.PUBLISH_BESIDE in commands:
            self._publishing.begin(self._publish_last)
        return commands[-1] if commands else None

    def _carry_out(self, command: Command) -> Event:
        started = time.perf_counter()
        try:
            event = self._handlers[command]()
        except FiresteelError as error:
            event = Failed(error)
        except Exception as error:
            wrapped = EngineError(f"the epoch loop met an unexpected {type(error).__name__}: {error}")
            wrapped.__cause__ = error
            event = Failed(wrapped)
        took = (time.perf_counter() - started) * 1000
        self._metrics.carried_out(command, event, took, self._clock.now())
        return event

    def _recover(self) -> Event:
        self._journal.recover()
        self._start_run()
        return Recovered(self._journal.finished)

    def _start_run(self) -> None:
        """Reopen operators, and continue sources from their committed positions."""
        self._runs += 1
        self._fresh = True
        self._pacing.resume()
        last = self._journal.last
        if last is None:
            self._time.resume(0, 0)
        else:
            # Manifests of earlier versions have no steady time; theirs was near processing time.
            self._time.resume(last.processing_time, last.steady_time or last.processing_time)
        self._sources = JobSources(self._program.sources, self._program.plan, self._journal)

    def _save(self) -> Event:
        self._pending.take_savepoints(self._journal, self._maintenance)
        if self.caution is not None:
            _log.warning("%s", self.caution)
        return Saved()

    def _rescale(self) -> Event:
        self._pending.change_parallelism(self._go_on_at)
        return Rescaled()

    def _plan(self) -> Event:
        began = time.perf_counter()
        if self._pacing.rest(self._clock.monotonic()) or self._held_back():
            self._wakeups = Wakeups()
            return Planned(work=False)
        now = self._time.now()
        at_once = self._program.plan.at_once
        found = self._sources.plan(None if at_once else self._admission.limit, now)
        wakeups = self._journal.wakeups
        begins = found.work or wakeups.left(now) == 0
        if not (found.final or (begins and not at_once)):
            self._wakeups = wakeups
            return Planned(work=False)
        self._begin_epoch(now, found, began)
        return Planned(work=True)

    def _drain(self) -> Event:
        """Plan the job's last epoch: it reads nothing more, and ends the sources at their current positions."""
        self._begin_epoch(self._time.now(), self._sources.rest(), time.perf_counter())
        return Planned(work=True)

    def _begin_epoch(self, now: Moment, found: EpochInput, began: float) -> None:
        self._tries += 1
        self._pacing.began(self._clock.monotonic(), found.more)
        epoch = self._journal.next_epoch(
            driver=self._token,
            attempt=f"{self._token}-{self._tries}",
            run=self._runs,
            moment=now,
            final=found.final,
            inputs=found.splits,
            budget=self._settings.max_epoch_bytes,
        )
        self._turn = Turn(epoch, time.perf_counter(), began, self._admission.limit)
        at_epoch(epoch.facts.number)

    def _run_epoch(self) -> Event:
        assert self._turn is not None
        plan, tasks = self._program.plan, []
        try:
            tasks = self._executor.run(plan, self._samples.on(self._turn.epoch))
        except StateEvolutionRequired as change:
            self._turn, self._change = None, change
            return EvolutionNeeded()
        finally:
            self._samples.took(plan, tasks)
        self._turn.ran(tasks, time.perf_counter())
        return EpochRan()

    def _evolve(self) -> Event:
        assert self._change is not None
        evolve(self._journal, self._executor, self._change)
        return Evolved()

    def _go_on_at(self, parallelism: int) -> None:
        program = self._program.at(parallelism)
        self._journal.go_on_with(program.plan)
        self._program = program
        if parallelism in self._to_keep:
            self._to_keep.discard(parallelism)
            self._journal.keep_parallelism(self._settings.parallelism, parallelism)
        self._metrics.start(program.plan, self._clock.now())
        self._start_run()

    def _commit(self) -> Event:
        assert self._turn is not None
        turn = self._turn
        positions = self._sources.positions(turn.reports)
        compaction = self._maintenance.take_compaction(turn.epoch.facts.lineage)
        self._journal.commit(turn.epoch, turn.reports, positions, compaction)
        turn.records = self._sources.committed(turn.reports)
        self._metrics.add(turn.epoch.facts.number, turn.reports, self._clock.now())
        turn.committed = time.perf_counter()
        turn.beside = self._journal.publishes_beside(self._program.sinks)
        if turn.beside:
            self._metrics.made_way(turn.tasks, self._clock.now())
        self._turn, self._unpublished = None, turn
        return Committed(turn.epoch.facts.final, turn.beside)

    def _publish_last(self) -> None:
        self._journal.publish(self._program.sinks, self._executor.carry_out)

    def _publish(self) -> Event:
        began = time.perf_counter()
        published = self._publishing.finish(self._publish_last)
        if self._turn is not None:
            self._turn.waited = time.perf_counter() - began
        turn, self._unpublished = self._unpublished, None
        if turn is not None:
            if not turn.beside:
                self._metrics.made_way(turn.tasks, self._clock.now())
            at = self._clock.now() - int((time.perf_counter() - published) * 1000)
            load = Load(turn.largest, turn.among_its_like(published) * 1000, turn.busiest, self._fresh)
            self._fresh = False
            self._admission = self._admission.after(load)
            self._metrics.published(turn.tasks, turn.figures(published, at, self._admission))
            self._report(turn, (published - turn.started) * 1000)
            if self._journal.last is not None:
                self._maintenance.after_epoch(self._journal.last)
        return Published()

    def _report(self, turn: Turn, duration_ms: float) -> None:
        watermark = self._sources.watermark(turn.reports)
        out = sum(report.records_in for report in turn.reports if report.operator in self._program.sinks)
        stats = EpochStats(
            epoch=turn.epoch.facts.number,
            records_in=turn.records,
            records_out=out,
            duration_ms=duration_ms,
            watermark=watermark,
            lag_ms=lag_of(watermark, self._clock.now()),
            finished=turn.epoch.facts.final,
            metrics=self.metrics,
        )
        tell(self._settings.listeners, stats)

    def _wait(self) -> Event:
        timeout = self._pacing.pause(self._clock.monotonic())
        left = self._wakeups.left(self._time.now())
        self._clock.wait(timeout if left is None else min(timeout, left), self._wakeup)
        return Woken()

    def _back_off(self) -> Event:
        self._turn = self._unpublished = None
        _log.warning("after epoch %d the job is restarted: %s", self._journal.epoch, self._job.error)
        until = self._clock.monotonic() + self._job.delay_ms
        # A request for a savepoint wakes the loop, but does not shorten the delay; a request to end does.
        while not self._to_end() and (left := until - self._clock.monotonic()) > 0:
            self._clock.wait(left, self._wakeup)
            self._wakeup.clear()
        return Woken()

    def _to_end(self) -> bool:
        return self._job.ending is not None or self._job.phase is Phase.ENDED
