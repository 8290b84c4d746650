"""The sink interface: two-phase commit, with the epoch's manifest as the decision.

Contract, in call order, for each subtask and epoch:

1. Task: `create_writer(context)`; `writer.write(values, timestamps)` for each batch. Nothing written may be
   visible.
2. Task: `writer.prepare_commit()` makes the written data durable and returns committables: picklable, small,
   and enough for another process to make the data visible. `context.state` is what the writer of the previous
   epoch left in `writer.snapshot_state()`.
3. Driver: the manifest with all committables is written. This is the commit.
4. Driver: `create_committer().commit(committables)` makes the data visible. It is idempotent: after a crash
   between 3 and 4 it is called again with the same committables.

If the epoch fails before 3, `prepare_commit`'s data stays invisible for ever; the sink may clean it up in
`abort`. A sink that cannot hide what it writes sets `guarantee = DeliveryGuarantee.AT_LEAST_ONCE` and says so
in its docs.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firesteel.functions.epoch import EpochFacts

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

T = TypeVar("T")


class DeliveryGuarantee(enum.Enum):
    """How often a record can show up in a sink's target (Flink: `DeliveryGuarantee`)."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


@dataclass(frozen=True, slots=True)
class WriterContext:
    """Where and when a writer writes.

    `facts` are the epoch's: when its `lineage` has changed, what was prepared under another one is of no more use;
    what the states of epochs from `oldest` on refer to must stay. `state` is what the previous epoch's
    `snapshot_state` returned for this subtask (None at first), `inherited` what it returned for subtasks that are no
    more, because the parallelism was lowered: this writer must finish what they began.

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

    @property
    def epoch(self) -> int:
        """Return the epoch's number."""
        return self.facts.number

    @property
    def attempt(self) -> str:
        """Return a name that is unique among all tries of this subtask's epoch: what a try that failed has left
        never has it.
        """
        return f"{self.facts.attempt}-{self.subtask}"


class SinkWriter(ABC, Generic[T]):
    """Writes one subtask's records of one epoch, invisibly."""

    @abstractmethod
    def write(self, values: Sequence[T], timestamps: Sequence[int | None] | None) -> None:
        """Take the next records, in order; `timestamps` are milliseconds or None where records have none."""

    @abstractmethod
    def prepare_commit(self) -> Sequence[Any]:
        """Make what was written durable and return the committables that will make it visible; close
        resources.
        """

    def snapshot_state(self) -> Any:
        """Return what the next epoch's writer of this subtask needs to go on (picklable); asked after
        prepare_commit.
        """
        return None

    def next_wakeup(self) -> int | None:
        """Return the processing time (milliseconds) at which this writer wants an epoch even without input,
        if any.
        """
        return None

    def abort(self) -> None:
        """Give up this epoch's writing after an error; must not raise."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What one sink of a job has prepared and nobody needs.

    That is all of the epochs up to `epoch` that is not visible, but for what `needed` refers to.
    `needed` are the states that writers have saved, of all epochs that the job can be started from.
    """

    job_id: str
    operator_id: str
    epoch: int
    needed: tuple[Any, ...] = ()


class Committer(ABC):
    """Makes committed data visible; lives on the driver."""

    @abstractmethod
    def commit(self, committables: Sequence[Any]) -> None:
        """Make the data of `committables` visible; doing it twice has the effect of once. Raises
        ConnectorError.
        """

    def discard(self, leftovers: Leftovers) -> None:
        """Remove what crashes have left behind.

        Called at most once by a driver, when it has committed an epoch and made it visible: no other driver can commit
        that epoch or an earlier one.
        """

    def close(self) -> None:
        """Release what the committer holds."""


class Sink(ABC, Generic[T]):
    """Where records go; subclass it for a sink of your own. The object is pickled to the workers."""

    guarantee: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE

    @property
    def holds_output_back(self) -> bool:
        """Whether records of committed epochs may wait, invisible and outside of the state, for a later epoch.

        As the open parts of files do: a savepoint refers to them, and the job that goes on completes them.
        """
        return False

    def for_type(self, type_info: TypeInformation | None) -> Sink[T]:
        """Return the sink to use for records of this type; asked once, when the sink is put into the graph.

        Sinks that write text need the type to show a value as Flink does; all others return themselves.
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
    """Changes a stream before a sink gets it."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """Return the stream to write instead of `ds`."""


class SupportsPreprocessing(ABC):
    """A sink whose stream is changed before it gets it."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return what changes the stream, None to leave it."""
