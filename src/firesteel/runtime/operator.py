"""The protocol of operators, which run inside a task.

Contract, in call order, for one operator subtask in one worker process:

1. `open(context)` once. User functions are opened here; state handles they obtain stay valid in every later epoch.
2. For each epoch: `begin_epoch(epoch)`, which emits nothing; `announce()`, once all operators of the task have begun,
which sends the current watermark again, because receivers forget it between epochs (what follows from watermarks that
were announced to the operator goes first); then any interleaving of `process(batch, port)` and `advance_watermark(w)`
with `w` strictly rising; `advance_processing_time(now)` at the start and between batches; in the last epoch of a
bounded job `finish()` after the watermark has become MAX_WATERMARK; finally `end_epoch()`.
3. `close()` once, when the job ends or after an epoch failed in this worker (the whole instance is then discarded).

Invariants: a batch is never changed once it has been emitted. Everything an
operator emits goes through `self.output` (or `self.side_outputs[tag_id]`), already sealed (see
`firesteel.common.sealing`). An operator forwards watermarks by `self.emit_watermark`; the default does so
at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import OutputStore
from firesteel.runtime.batch import Batch

if TYPE_CHECKING:
    from firesteel.runtime.output import Output
    from firesteel.runtime.plan import SplitInput, SplitReport
    from firesteel.runtime.timers import TimerQueue
    from firesteel.state.arrangements.live import LiveArrangements
    from firesteel.state.live.backend import KeyedStateBackend
    from firesteel.state.live.operator_lists import OperatorLists


B = TypeVar("B", bound=Batch)


@dataclass(slots=True)
class OperatorContext:
    """The context of an operator subtask for its whole life in a worker.

    `watermark_interval` is how often periodic watermarks are due (milliseconds). All functions of the operator share
    `metrics`. `backend` and the timer queues exist for operators with keyed or broadcast state. `arrangements` can be
    declared in `open`. `restored_epoch` is the epoch from which this instance resumes (None: it is new),
    `restored_lists` its list state from there. `who` names the operator in errors: "map 'parse' (job.py:12)".
    """

    job_id: str
    job_name: str
    operator_id: str
    name: str
    who: str
    subtask: int
    parallelism: int
    max_parallelism: int
    attempt: int
    job_parameters: dict[str, str]
    output: Output
    side_outputs: dict[str, Output]
    metrics: MetricGroup = field(default_factory=MetricGroup)
    typed_output: bool = False
    watermark_interval: int = 200
    backend: KeyedStateBackend | None = None
    event_timers: TimerQueue | None = None
    processing_timers: TimerQueue | None = None
    arrangements: LiveArrangements | None = None
    restored_epoch: int | None = None
    restored_lists: OperatorLists | None = None


@dataclass(slots=True)
class Epoch:
    """The context of an operator subtask for one epoch.

    `watermark` is this subtask's watermark at the end of the previous epoch (milliseconds). `operator_state` is the
    state that its `end_epoch` returned then, `inherited` the states of subtasks that no longer exist because the
    parallelism was lowered. `input` is a source's share of work. Sinks may store output in `outputs`.
    """

    facts: EpochFacts
    watermark: int
    operator_state: Any = None
    inherited: Sequence[Any] = ()
    input: Sequence[SplitInput] = ()
    outputs: OutputStore | None = None


@dataclass(slots=True)
class OperatorReport:
    """An operator's report for the manifest at the end of an epoch; the task reports keyed state and timers.

    `splits` are a source's `SplitReport`s. `next_wakeup` is the processing time (milliseconds) at which this
    subtask wants an epoch even without input, `idle_deadline` the steady time at which one of its streams becomes idle.
    """

    operator_state: Any = None
    committables: Sequence[Any] = ()
    splits: Sequence[SplitReport] = ()
    next_wakeup: int | None = None
    idle_deadline: int | None = None


class Operator(ABC, Generic[B]):
    """One subtask of one operator, for batches of one form; see the module's contract."""

    is_read_by_others: ClassVar[bool] = False
    """Whether others read its arrangements, so that also a job that takes its input at once stores them."""

    context: OperatorContext
    output: Output
    epoch: int
    watermark: int
    processing_time: int

    def open(self, context: OperatorContext) -> None:
        """Keep the context; open user functions."""
        self.context = context
        self.output = context.output

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch; keyed state has been bound to the last committed version already."""
        self.epoch = epoch.facts.number
        self.watermark = epoch.watermark
        self.processing_time = epoch.facts.processing_time

    def announce(self) -> None:
        """Send the watermark with which this epoch starts to the outputs."""
        if self.watermark > MIN_WATERMARK:
            self.emit_watermark(self.watermark)

    @abstractmethod
    def process(self, batch: B, port: int) -> None:
        """Process a batch that arrived at input `port`."""

    def advance_watermark(self, watermark: int) -> None:
        """Advance to the combined watermark of all inputs (milliseconds), strictly greater than the previous one."""
        self.watermark = watermark
        self.emit_watermark(watermark)

    def advance_idle(self) -> None:
        """Handle that all inputs are idle: no watermark comes until one of them is active again."""
        self.emit_watermark(None)

    def advance_processing_time(self, now: int) -> None:
        """Fire timers that are due at processing time `now` (milliseconds)."""

    def pump(self) -> bool:
        """Read and emit a part of this operator's own input in this epoch; return whether there is more."""
        return False

    def finish(self) -> None:
        """Emit all records still held, because all input has ended for good."""

    def end_epoch(self) -> OperatorReport:
        """Finish the epoch and report; keyed state is collected by the task afterwards."""
        return OperatorReport()

    def close(self) -> None:
        """Release the resources of `open`; close user functions."""

    def emit_watermark(self, watermark: int | None) -> None:
        """Send a watermark (None: idle) to every output."""
        self.output.emit_watermark(watermark)
        for side in self.context.side_outputs.values():
            side.emit_watermark(watermark)


OperatorFactory = Callable[[], Operator[Any]]
"""A picklable factory in the plan that creates a new instance of an operator for each subtask."""
