"""The source interface: a source is a set of splits, each read in ranges that can be read again.

Contract, in call order:

1. Driver: `discover(context)` names the splits that are not yet known; unless a source overrides it, it asks
   `splits(known)`. A bounded source is asked once per job, a continuous one before every epoch. A split's id is
   stable across restarts: it is how positions are found again.
2. Driver: `available(split, position, now)` says up to which position the split can be read at this moment.
3. Driver: the epoch loop picks `end <= available(...)` within its admission limit and records `[start, end)`
   nowhere yet.
4. Task: `read(split, start, end)` yields the records of exactly that range, in batches, in order. The same
   range read again yields the same records: this is what exactly-once rests on. It runs on a worker; it must
   not rely on anything `splits` left behind in the driver's object.
5. Driver: `end` becomes the split's position in the manifest when the epoch commits.

A position is an integer whose unit is the source's own: record numbers for most, bytes for files (`unit`). A
split whose end is not known beforehand (a gzip file) has `end=None`; its reader ends with `return END_OF_SPLIT`
once the end is met. The object itself is pickled to the workers.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

T = TypeVar("T")

UNLIMITED: Final = 2**63 - 1
"""The position `available` answers when a split has no bound that is known now."""


class Boundedness(enum.Enum):
    """Whether a source ends by itself (Flink: `Boundedness`)."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


class EndOfSplit(enum.Enum):
    """What a reader returns when it met the end of a split whose `end` was not known."""

    END_OF_SPLIT = "END_OF_SPLIT"


END_OF_SPLIT: Final = EndOfSplit.END_OF_SPLIT


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a source that is read by one subtask, in order.

    `start` and `end` are positions in the source's unit, `end` is None where it is not known or there is none;
    `payload` is the source's own (a path, a partition) and is pickled into the manifest.
    """

    id: str
    start: int = 0
    end: int | None = None
    payload: Any = None


class Timestamped(list[T]):
    """A batch of records with the timestamps the source itself knows (milliseconds), as a Kafka record has one."""

    __slots__ = ("timestamps",)

    def __init__(self, values: Iterable[T], timestamps: Sequence[int]) -> None:
        super().__init__(values)
        self.timestamps = timestamps


@dataclass(frozen=True, slots=True)
class DiscoveryContext:
    """What a source may look at when it names its splits: the ids already known, the parallelism, the
    processing time (ms).
    """

    known: frozenset[str]
    parallelism: int
    processing_time: int


RecordBatches = Generator[list[T], None, EndOfSplit | None]
"""What `read` returns: batches (plain lists or `Timestamped`), and `END_OF_SPLIT` as its return value where due."""


class Source(ABC, Generic[T]):
    """Where records come from; subclass it for a source of your own.

    >>> class Countdown(Source[int]):
    ...     def splits(self, known):
    ...         return [Split("only", 0, 3)]
    ...     def read(self, split, start, end):
    ...         yield [3 - position for position in range(start, end)]
    >>> list(Countdown().read(Split("only", 0, 3), 1, 3))
    [[2, 1]]
    """

    unit: Literal["records", "bytes"] = "records"
    """What a position counts; the admission controller turns its record limit into this unit."""

    discovery_interval: int = 1000
    """How long a continuous source waits before it looks for new splits again (milliseconds)."""

    preferred_parallelism: int | None = None
    """The parallelism a source insists on (1 for a collection), None for the environment's."""

    produced_type: TypeInformation | None = None
    """The type of the records where the source knows it (Flink: `ResultTypeQueryable`), None for untyped records."""

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless a subclass says otherwise."""
        return Boundedness.BOUNDED

    @abstractmethod
    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Name the splits whose ids are not in `known` (driver). Raises ConnectorError where there is nothing
        to read.
        """

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Name the splits not yet known (driver); override it where the parallelism or the clock matters."""
        return self.splits(context.known)

    def available(self, split: Split, position: int, now: int) -> int:
        """Return up to which position `split` can be read at the time `now` (driver).

        `now` is in milliseconds since 1970 when the job starts, and runs on evenly: setting the machine's clock does
        not change it. So a rate, or a delay, can be measured by it.
        """
        return UNLIMITED if split.end is None else split.end

    @abstractmethod
    def read(self, split: Split, start: int, end: int) -> RecordBatches[T]:
        """Yield the records of `[start, end)` in order, in batches of up to a few thousand (worker)."""
