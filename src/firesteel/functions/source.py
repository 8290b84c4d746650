"""The source interface: a source is a set of splits, which are read in repeatable ranges.

Contract, in call order:

1. Driver: `discover(context)` returns the splits that are not yet known. By default it calls `splits(known)`. It is
   called once per job for a bounded source, and before every epoch for a continuous one. A split's id must be stable
   across restarts, because positions are found by it.
2. Driver: `available(split, position, now)` returns the position up to which the split can be read now.
3. Driver: the epoch loop picks `end <= available(...)` within its admission limit. It does not record `[start, end)`
   yet.
4. Task: `read(split, start, end)` yields the records of exactly that range, in batches, in order. The same range must
   always yield the same records: exactly-once depends on it. It runs on a worker, so it must not rely on anything
   that `splits` stored in the driver's object.
5. Driver: `end` becomes the split's position in the manifest when the epoch commits; then `committed(positions)` is
   called.
6. Each process: `close()` when the job ends there, and after an epoch has failed; a later call may open anew.

A position is an integer in a unit of the source (`unit`): record numbers for most, bytes for files, and 0 or 1 for
splits that are read whole. What an epoch reads counts only if it is committed, so such a split need not have the same
records when a failed epoch is run again. A split whose end
is not known in advance (a gzip file) has `end=None`, and its reader ends with `return END_OF_SPLIT` when it reaches the
end. The object itself is pickled to the workers.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation
    from firesteel.functions.output_tag import OutputTag

T = TypeVar("T")

UNLIMITED: Final = 2**63 - 1
"""The position that `available` returns for a split without a known end."""


class Boundedness(enum.Enum):
    """Whether a source ends by itself (Flink: `Boundedness`)."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


class EndOfSplit(enum.Enum):
    """The value that a reader returns at the end of a split whose `end` was not known."""

    END_OF_SPLIT = "END_OF_SPLIT"


END_OF_SPLIT: Final = EndOfSplit.END_OF_SPLIT


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a source that is read by one subtask, in order.

    `start` and `end` are positions in the source's unit; `end` is None if it is unknown or if there is none. `payload`
    belongs to the source (a path, a partition) and is pickled into the manifest.
    """

    id: str
    start: int = 0
    end: int | None = None
    payload: Any = None


class Timestamped(list[T]):
    """A batch of records with timestamps of the source (milliseconds), such as those of Kafka records."""

    __slots__ = ("timestamps",)

    def __init__(self, values: Iterable[T], timestamps: Sequence[int]) -> None:
        super().__init__(values)
        self.timestamps = timestamps


class Aside(Timestamped[T]):
    """A batch for a side output of the source; its records are dropped if nobody reads that."""

    __slots__ = ("tag",)

    def __init__(self, tag: OutputTag, values: Iterable[T], timestamps: Sequence[int]) -> None:
        super().__init__(values, timestamps)
        self.tag = tag


@dataclass(frozen=True, slots=True)
class DiscoveryContext:
    """The context in which a source discovers its splits: the known ids, the parallelism, the processing time (ms)."""

    known: frozenset[str]
    parallelism: int
    processing_time: int


RecordBatches = Generator[list[T], None, EndOfSplit | None]
"""The generator that `read` returns.

It yields batches (lists, `Timestamped` or `Aside`) and may return `END_OF_SPLIT`.
"""


class Source(ABC, Generic[T]):
    """Reads records from an external system. Subclass it for your own source.

    >>> class Countdown(Source[int]):
    ...     def splits(self, known):
    ...         return [Split("only", 0, 3)]
    ...     def read(self, split, start, end):
    ...         yield [3 - position for position in range(start, end)]
    >>> list(Countdown().read(Split("only", 0, 3), 1, 3))
    [[2, 1]]
    """

    unit: Literal["records", "bytes", "splits"] = "records"
    """The unit of a position; the admission controller converts its record limit into it.

    With "splits" each split has one position, from 0 to 1, and any number of records.
    """

    discovery_interval: int = 1000
    """How long a continuous source waits before it looks for new splits again (milliseconds)."""

    preferred_parallelism: int | None = None
    """The parallelism that the source requires (1 for a collection), None for the environment's."""

    produced_type: TypeInformation | None = None
    """The type of the records if the source knows it (Flink: `ResultTypeQueryable`), None for untyped records."""

    errors: int = 0
    """How many bad records this object has read and not failed with (worker); the metric `numRecordsInErrors`."""

    makes_exact_values: bool = False
    """Whether records are new objects that are of `produced_type` to the letter; then none is converted to it."""

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless a subclass overrides it."""
        return Boundedness.BOUNDED

    @abstractmethod
    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the splits whose ids are not in `known` (driver); raise ConnectorError if there is nothing to read."""

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return the splits that are not known yet (driver). Override it if they depend on parallelism or clock."""
        return self.splits(context.known)

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the position up to which `split` can be read at the time `now` (driver).

        `now` starts as the milliseconds since 1970 when the job starts, and advances evenly: it does not change when
        the machine's clock is set. So use it to measure a rate or a delay.
        """
        return UNLIMITED if split.end is None else split.end

    def committed(self, positions: Mapping[str, int]) -> None:
        """Take note that an epoch is committed, and of the positions of the splits that it read, by their ids (driver).

        For others who watch the job: after a crash it is not called for the last epoch. It must not wait.
        """

    @abstractmethod
    def read(self, split: Split, start: int, end: int) -> RecordBatches[T]:
        """Yield the records of `[start, end)` in order, in batches of up to a few thousand (worker)."""

    def close(self) -> None:
        """Release what this object holds open in this process; it may be called more than once."""
