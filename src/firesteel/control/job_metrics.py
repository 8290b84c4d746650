"""What is measured of a job as a whole: its epochs and their phases, checkpoints, restarts.

Contract: `carried_out` after each command of the machine, with the event it led to; `committed` in between. Names are
Flink's where Flink has one. A checkpoint is a committed epoch: its duration is the time in which state was stored, in
the subtask that took longest, and the manifest was written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from firesteel.common.errors import FiresteelError, shortened
from firesteel.common.metrics import Reading
from firesteel.control.events import Command, Event, Failed, Planned
from firesteel.control.rates import SPAN_MS, Events
from firesteel.control.views.failures import MOST, Failure
from firesteel.control.views.metrics import CheckpointFigures, EpochFigures, FailedCheckpoint, Restored
from firesteel.runtime.plan import SubtaskReport

PHASES: Final = {
    Command.PLAN: "epochPlanTime",
    Command.DRAIN: "epochPlanTime",
    Command.RUN: "epochRunTime",
    Command.COMMIT: "epochCommitTime",
    Command.PUBLISH: "epochPublishTime",
}
"""The commands that each epoch goes through, and the distributions of their times (milliseconds)."""

HISTORY: Final = 10
"""How many checkpoints are remembered (Flink: web.checkpoints.history)."""

EPOCHS: Final = 60
"""How many epochs are remembered with their phases."""

_MOST_DETAILS: Final = 8_000


class JobFigures:
    """The figures of one job since its driver started."""

    def __init__(self, now: int) -> None:
        self._started = now
        self._times: dict[str, Reading] = {}
        self._shares: dict[Command, Events] = {}
        self._counts: dict[str, int] = dict.fromkeys(_COUNTS, 0)
        self._gauges: dict[str, float] = {}
        self._waited = Events()
        self._waited_since_epoch = False
        self._failing_since: int | None = None
        self._persisted_ms = 0.0
        self._down_ms = 0
        self._epoch = 0
        self._committed: CheckpointFigures | None = None
        self._restored_at: int | None = None
        self.restored: Restored | None = None
        self.failed: FailedCheckpoint | None = None
        self.checkpoints: deque[CheckpointFigures] = deque(maxlen=HISTORY)
        self.epochs: deque[EpochFigures] = deque(maxlen=EPOCHS)
        self.failures: deque[Failure] = deque(maxlen=MOST)

    def carried_out(self, command: Command, event: Event, ms: float, now: int) -> None:
        """Note that a command took this long."""
        if command in PHASES and not _found_nothing(event):
            name = PHASES[command]
            time = Reading("distribution", (1, ms, ms, ms))
            before = self._times.get(name)
            self._times[name] = time if before is None else before.plus(time)
            self._shares.setdefault(command, Events()).add(ms, SPAN_MS, now)
        if command is Command.WAIT:
            self._waited.add(ms, SPAN_MS, now)
            self._waited_since_epoch = True
        elif command is Command.RUN:
            self._waited_since_epoch = False
            self._counts["totalNumberOfCheckpoints"] += 1
        elif command is Command.BACK_OFF:
            self._counts["numRestarts"] += 1
        elif command is Command.RESCALE:
            self._counts["numRescales"] += 1
        elif command is Command.COMMIT and not isinstance(event, Failed):
            took = round(self._persisted_ms + ms, 3)
            self._gauges["lastCheckpointDuration"] = took
            if self._committed is not None:
                self.checkpoints.append(msgspec.structs.replace(self._committed, duration=took))
        elif command is Command.RECOVER and not isinstance(event, Failed):
            self._gauges["lastCheckpointRestoreTimestamp"] = self._restored_at = now
            self._note_restored(self._epoch)
        self._note_failure(command, event, now)

    @property
    def goes_on_at_once(self) -> bool:
        """Whether the job has not waited since the last epoch."""
        return not self._waited_since_epoch

    def committed(
        self, epoch: int, reports: Sequence[SubtaskReport], operators: Sequence[str], now: int
    ) -> None:
        """Note the checkpoint that an epoch is; `operators` are the ids of those that the reports have by number."""
        if not self._epoch:
            self._note_restored(epoch - 1)
            if self.failed is not None:  # only now is its number known
                self.failed = msgspec.structs.replace(self.failed, epoch=epoch)
        self._epoch = epoch
        runs = [run for report in reports for run in report.runs]
        self._counts["numberOfCompletedCheckpoints"] += 1
        self._persisted_ms = max((report.usage.persist_ns for report in reports), default=0) / 1_000_000
        self._gauges |= {
            "lastCompletedCheckpointId": epoch,
            "lastCheckpointCompletedTimestamp": now,
            "lastCheckpointSize": sum(run.size for run in runs),
            "lastCheckpointEntries": sum(run.entries for run in runs),
            "lastCheckpointProcessedData": sum(report.usage.bytes_in for report in reports),
        }
        stored = _storing(operators, reports)
        self._committed = CheckpointFigures(epoch, now, self._persisted_ms, stored)

    def _note_restored(self, epoch: int) -> None:
        if epoch > 0 and self._restored_at is not None:
            self.restored = Restored(epoch, self._restored_at)

    def shares(self, now: int) -> Iterator[tuple[Command, float]]:
        """Yield how many milliseconds of each second the phases on the driver take."""
        for command, events in self._shares.items():
            if command is not Command.RUN:
                yield command, events.share(now, self._started)

    def waiting(self, now: int) -> float:
        """Return how many milliseconds of each second the job waits for input."""
        return self._waited.share(now, self._started)

    def readings(self, now: int) -> dict[str, Reading]:
        """Return all figures by name."""
        failing = 0 if self._failing_since is None else now - self._failing_since
        gauges = {
            **self._gauges,
            "uptime": now - self._started,
            "downtime": failing,
            "restartingTime": self._down_ms + failing,
            "runningTime": max(0, now - self._started - self._down_ms - failing),
            "waitingTimeMsPerSecond": self.waiting(now),
        }
        return {
            **{name: Reading("counter", (count,)) for name, count in self._counts.items()},
            **{name: Reading("gauge", (value,)) for name, value in gauges.items()},
            **self._times,
        }

    def _note_failure(self, command: Command, event: Event, now: int) -> None:
        if isinstance(event, Failed):
            if command is Command.RUN or command is Command.COMMIT:
                self._counts["numberOfFailedCheckpoints"] += 1
                self.failed = FailedCheckpoint(self._epoch + 1, now, str(event.error))
            if self._failing_since is None:
                self._failing_since = now
            self.failures.append(_failure(event.error, now))
        elif command is Command.PUBLISH and self._failing_since is not None:
            self._down_ms += now - self._failing_since
            self._failing_since = None


_COUNTS: Final = (
    "numRestarts",
    "numRescales",
    "totalNumberOfCheckpoints",
    "numberOfCompletedCheckpoints",
    "numberOfFailedCheckpoints",
)


def _failure(error: Exception, now: int) -> Failure:
    kind, text = f"{type(error).__module__}.{type(error).__qualname__}", str(error)
    if not isinstance(error, FiresteelError):
        return Failure(now, kind, text)
    details = "" if error.details is None else f"\n{shortened(error.details, _MOST_DETAILS)}"
    return Failure(now, kind, text + details, error.who)


def _storing(operators: Sequence[str], reports: Sequence[SubtaskReport]) -> dict[str, tuple[float, ...]]:
    """Return how long each subtask of the operators with state stored it (milliseconds)."""
    found: dict[str, list[tuple[int, float]]] = {}
    for report in reports:
        took = (report.subtask, report.usage.persist_ns / 1_000_000)
        found.setdefault(operators[report.operator], []).append(took)
    return {
        operator: tuple(ms for _, ms in sorted(times))
        for operator, times in found.items()
        if any(ms for _, ms in times)
    }


def _found_nothing(event: Event) -> bool:
    return isinstance(event, Planned) and not event.work
