"""The sink interface: two-phase commit, with the epoch's manifest as the decision.

Contract, in call order, for each subtask and epoch:

1. Task: `create_writer(context)`, then `writer.write(values, timestamps)` for each batch. The data must stay
   invisible.
2. Task: `writer.advance_watermark(...)`; then `writer.prepare_commit()` makes the written data durable and returns
   committables: picklable, small, and enough for another process to make the data visible. `context.state` is the
   value that the writer of the previous epoch returned from `writer.snapshot_state()`.
3. Driver: the manifest with all committables is written. This is the commit.
4. Driver: `create_committer().commit(committables)` makes the data visible. It is idempotent: after a crash
   between 3 and 4 it is called again with the same committables. It may let workers do what is heavy
   (`Committer.use_workers`), or run beside steps 1 and 2 of the next epoch (`Committer.beside`).

A target that cannot hide data until then gets it from the committer. `context.store(data)` keeps data with the job's
checkpoints, and the committables say what is there; the committer reads it from the store that `attach` gave it.

If the epoch fails before 3, its data never becomes visible; the sink may clean it up in `abort`. A sink that cannot
hide its data before the commit sets `guarantee = DeliveryGuarantee.AT_LEAST_ONCE` and documents this.
"""

from __future__ import annotations

import enum
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from firesteel.common.stored_output import StoredOutput
from firesteel.functions.epoch import EpochFacts

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

T = TypeVar("T")


class DeliveryGuarantee(enum.Enum):
    """How often a record can appear in a sink's target (Flink: `DeliveryGuarantee`)."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class OutputStore(Protocol):
    """The job's durable storage, for output that a sink cannot prepare in its target.

    It is where the job's checkpoints are, so every worker and the driver reach it. What belongs to a published epoch is
    removed some time later, even if nobody asks for it. Raises StateError if the storage fails.
    """

    def put(self, name: str, data: bytes) -> StoredOutput:
        """Store data as `operator/name`, whose name begins with the epoch (12 digits); return when it is durable."""

    def get(self, stored: StoredOutput) -> bytes:
        """Return the data. Raises StateCorruptedError if it is missing or damaged."""

    def remove(self, stored: Iterable[StoredOutput]) -> None:
        """Remove data of an epoch that is published."""


@dataclass(frozen=True, slots=True)
class WriterContext:
    """The job, operator, subtask and epoch of a writer, and the state that it continues with.

    `facts` describe the epoch. If its `lineage` has changed, data prepared under another lineage is useless. Keep
    everything that the states of epoch `oldest` and later ones refer to. `state` is the value that `snapshot_state`
    returned in the previous epoch for this subtask (None at first). `inherited` has the values for subtasks that no
    longer exist because the parallelism was lowered: this writer must finish their work.

    >>> WriterContext("job", "sink", 3, 4, EpochFacts(7, "a", 1_000)).attempt
    'a-3'
    """

    job_id: str
    operator_id: str
    subtask: int
    parallelism: int
    facts: EpochFacts
    state: Any = None
    inherited: tuple[Any, ...] = ()
    outputs: OutputStore | None = None

    @property
    def epoch(self) -> int:
        """Return the epoch's number."""
        return self.facts.number

    @property
    def attempt(self) -> str:
        """Return a name that is unique among all tries of this subtask's epoch, so leftovers of a failed try never
        have it.
        """
        return f"{self.facts.attempt}-{self.subtask}"

    def store(self, data: bytes) -> StoredOutput:
        """Store output of this writer durably, for the committer."""
        assert self.outputs is not None, "a writer that stores its output needs a job's store"
        name = f"{self.epoch:012d}-{self.subtask:05d}-{self.facts.attempt}-{uuid.uuid4().hex[:12]}"
        return self.outputs.put(f"{self.operator_id}/{name}", data)


class SinkWriter(ABC, Generic[T]):
    """Writes the records of one subtask in one epoch; they stay invisible until the commit."""

    @abstractmethod
    def write(self, values: Sequence[T], timestamps: Sequence[int | None] | None) -> None:
        """Write the next records, in order; `timestamps` are milliseconds, or None for records without one."""

    def advance_watermark(self, watermark: int) -> None:
        """Take the sink's watermark at the end of the epoch (milliseconds), before `prepare_commit`."""

    @abstractmethod
    def prepare_commit(self) -> Sequence[Any]:
        """Make the written data durable, close resources, and return the committables that will make it visible."""

    def snapshot_state(self) -> Any:
        """Return the state (picklable) that the next epoch's writer of this subtask continues with; called after
        `prepare_commit`.
        """
        return None

    def next_wakeup(self) -> int | None:
        """Return the processing time (milliseconds) at which this writer needs an epoch even without input, or None."""
        return None

    def abort(self) -> None:
        """Abandon the data of this epoch after an error; must not raise."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Prepared data of one sink of a job that nobody needs.

    It is all invisible data of the epochs up to `epoch`, except the data that `needed` refers to. `needed` has the
    saved states of the writers, of all epochs from which the job can be started.
    """

    job_id: str
    operator_id: str
    epoch: int
    needed: tuple[Any, ...] = ()


CarryOut = Callable[[Sequence[Callable[[], None]]], None]
"""Carries out picklable calls in the workers, several at a time; raises the error of one that fails.

A call can be carried out again, even while or after another process has done so.
"""


class Committer(ABC):
    """Makes committed data visible; lives on the driver."""

    beside: bool = False
    """Whether `commit` may run in another thread while writers of the sink work on the next epoch.

    That epoch is not committed before `commit` has returned. `use_workers` is of no use then.
    """

    def attach(self, outputs: OutputStore) -> None:
        """Take the store with the output that writers stored; called once, before `commit`."""

    def use_workers(self, carry_out: CarryOut) -> None:
        """Take the way to let workers do what is heavy in a commit; called before `commit`, in jobs that have one."""

    @abstractmethod
    def commit(self, committables: Sequence[Any]) -> None:
        """Make the data of `committables` visible; doing it again changes nothing. Raises ConnectorError."""

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the leftovers of crashes.

        A driver calls it at most once, after it has committed an epoch and made it visible, or found that the job's
        last epoch is; so no other driver can commit that epoch or an earlier one.
        """

    def close(self) -> None:
        """Release the resources of the committer."""


class Sink(ABC, Generic[T]):
    """Writes records to an external system. Subclass it for your own sink; the object is pickled to the workers."""

    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE

    @property
    def holds_output_back(self) -> bool:
        """Whether records of committed epochs can wait, invisible and outside the state, for a later epoch.

        Open part files are an example: a savepoint refers to them, and the resumed job completes them.
        """
        return False

    def for_type(self, type_info: TypeInformation | None) -> Sink[T]:
        """Return the sink to use for records of this type; called once, when the sink is added to the graph.

        Sinks that write text need the type to format a value as Flink does; all others return themselves.
        """
        del type_info
        return self

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter[T]:
        """Open the writer of one subtask for one epoch (worker)."""

    @abstractmethod
    def create_committer(self) -> Committer:
        """Open the committer (driver)."""


class StreamTransformer(ABC):
    """Changes a stream before a sink receives it."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """Return the stream to write instead of `ds`."""


class SupportsPreprocessing(ABC):
    """A sink whose stream is changed before the sink receives it."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformer of the stream, None to leave it unchanged."""
