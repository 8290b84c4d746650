"""The operator protocol: what runs inside a task.

Contract, in call order, for one operator subtask in one worker process:

1. `open(context)` once. User functions are opened here; state handles they obtain stay valid in every later
epoch. 2. For each epoch: `begin_epoch(epoch)`, which emits nothing; `announce()`, once all operators of the
task have begun, which says again where the watermark stands, for receivers forget that between epochs; then
any interleaving of `process(batch, port)` and `advance_watermark(w)` with `w` strictly rising;
`advance_processing_time(now)` at the start and between batches; in the last epoch of a bounded job `finish()`
after the watermark has become MAX_WATERMARK; at last `end_epoch()`.
3. `close()` once, when the job ends or after an epoch failed in this worker (the instance is then thrown
away whole).

Invariants: a batch is never changed once it has been emitted. Everything an
operator emits goes through `self.output` (or `self.side_outputs[tag_id]`), already sealed (see
`firesteel.common.sealing`). An operator forwards watermarks by `self.emit_watermark`; the default does so
at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import Batch

if TYPE_CHECKING:
    from firesteel.runtime.output import Output
    from firesteel.runtime.plan import SplitInput, SplitReport
    from firesteel.runtime.timers import TimerQueue
    from firesteel.state.live.backend import KeyedStateBackend
    from firesteel.state.live.operator_lists import OperatorLists


B = TypeVar("B", bound=Batch)


@dataclass(slots=True)
class OperatorContext:
    """What an operator subtask knows for its whole life in a worker.

    `watermark_interval` is how often periodic watermarks are due (milliseconds). All functions of the operator share
    `metrics`. `backend` and the timer queues exist for operators with keyed or broadcast state. `restored_epoch` is the
    epoch this instance goes on from (None: it is new), `restored_lists` the list state it has from there. `who` names
    the operator in errors: "map 'parse' (job.py:12)".
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
    restored_epoch: int | None = None
    restored_lists: OperatorLists | None = None


@dataclass(slots=True)
class Epoch:
    """What an operator subtask knows of one epoch.

    `watermark` is where this subtask's watermark stood when the previous epoch ended (milliseconds).
    `operator_state` is what its `end_epoch` returned then, `inherited` what those of subtasks returned that are no
    more, because the parallelism was lowered. `input` is a source's share of work.
    """

    facts: EpochFacts
    watermark: int
    operator_state: Any = None
    inherited: Sequence[Any] = ()
    input: Sequence[SplitInput] = ()


@dataclass(slots=True)
class OperatorReport:
    """What an operator hands to the manifest at the end of an epoch; keyed state and timers are reported by
    the task.

    `splits` are a source's `SplitReport`s. `next_wakeup` is the processing time (milliseconds) at which this
    subtask wants an epoch even without input.
    """

    operator_state: Any = None
    committables: Sequence[Any] = ()
    splits: Sequence[SplitReport] = ()
    next_wakeup: int | None = None


class Operator(ABC, Generic[B]):
    """One subtask of one operator, for batches of one form; see the module's contract."""

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
        """Tell the outputs the watermark this epoch starts with."""
        if self.watermark > MIN_WATERMARK:
            self.emit_watermark(self.watermark)

    @abstractmethod
    def process(self, batch: B, port: int) -> None:
        """Take a batch that arrived at input `port`."""

    def advance_watermark(self, watermark: int) -> None:
        """Take the combined watermark of all inputs (milliseconds), strictly greater than the one before."""
        self.watermark = watermark
        self.emit_watermark(watermark)

    def advance_idle(self) -> None:
        """All inputs are idle: no watermark is to be expected from here until further notice."""
        self.emit_watermark(None)

    def advance_processing_time(self, now: int) -> None:
        """Fire what is due at processing time `now` (milliseconds)."""

    def pump(self) -> bool:
        """Read and emit a part of what this operator itself reads in this epoch; return whether there is more."""
        return False

    def finish(self) -> None:
        """All input has ended for good; emit what is still held."""

    def end_epoch(self) -> OperatorReport:
        """Finish the epoch and report; keyed state is collected by the task afterwards."""
        return OperatorReport()

    def close(self) -> None:
        """Release what `open` acquired; close user functions."""

    def emit_watermark(self, watermark: int | None) -> None:
        """Send a watermark (None: idle) to every output."""
        self.output.emit_watermark(watermark)
        for side in self.context.side_outputs.values():
            side.emit_watermark(watermark)


OperatorFactory = Callable[[], Operator[Any]]
"""What a plan holds for each operator: a picklable recipe that makes a fresh instance for each subtask."""
