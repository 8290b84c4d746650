"""What all source operators share: they read the ranges of their splits in turn, and combine their watermarks.

A source itself decides how many records a batch has, and a range does not show their size. So if a source's positions
count records, its first `_PROBE_RECORDS` are read as a separate range. If they are large, the rest is read in ranges of
about `_RANGE_BYTES`, until the epoch's budget of bytes is used up; the epoch then ends at the end of the last range. If
they are small, the rest is read as one range, and so are all ranges of later epochs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from math import inf
from typing import Any, Final, Generic, Protocol, TypeVar

from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.source import Boundedness, EndOfSplit, Source, Split
from firesteel.runtime.batch import MAX_BATCH
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import B, Epoch, Operator, OperatorReport
from firesteel.runtime.plan import SplitInput, SplitReport

_PROBE_RECORDS: Final = 64
"""Records in the first range of a source whose record size is not known yet."""

_RANGE_BYTES: Final = 32 << 20
"""The approximate bytes of a range if records are large."""

_LARGE_BYTES: Final = _RANGE_BYTES // MAX_BATCH
"""Bytes per record above which a batch of a few thousand is too much to hold in memory at once."""


class SplitTime(Protocol):
    """The watermarks of one split in one epoch; its `state` (picklable) goes into the next epoch."""

    watermark: int
    idle: bool

    @property
    def state(self) -> Any:
        """The state to pass to the next epoch."""

    def check_idle(self) -> bool:
        """Become idle if nothing came for the timeout; return whether the split is idle."""

    def idle_deadline(self) -> int | None:
        """Return the steady time at which the split becomes idle; None if it never will."""

    def flush(self) -> int | None:
        """Return the watermark that is still held back; None if it has not risen."""


class Piece(Protocol):
    """Records in the form in which a source yields them."""

    def __len__(self) -> int:
        """Return how many records these are."""


P = TypeVar("P", bound=Piece)
T = TypeVar("T", bound=SplitTime)


class OpenSplit(Generic[P, T]):
    """One split in one epoch; `left` are records that were read and not emitted yet."""

    __slots__ = ("batches", "finished", "input", "left", "position", "records", "target", "time")

    def __init__(self, given: SplitInput, time: T) -> None:
        self.input = given
        self.time = time
        self.batches: Generator[P, None, EndOfSplit | None] | None = None
        self.left: P | None = None
        self.position = self.target = given.start
        self.records = 0
        self.finished = given.split.end is not None and given.start >= given.split.end


class SplitOperator(Operator[B], Generic[B, P, T]):
    """Emits the records of its splits; its watermark is the minimum over its unfinished, live splits.

    All known unfinished splits hold the watermark back, even those with nothing to read in this epoch. So the order in
    which files are read does not decide which records are late. A subtask without unfinished splits is idle, or at
    MAX_WATERMARK if the source is bounded. `pump()` is called until it returns False.
    """

    def __init__(self, source: Source[Any]) -> None:
        self._source = source
        self._probe = _PROBE_RECORDS
        self._errors = 0
        self._record_bytes: float | None = None
        """The approximate bytes of a record, from the first ones of the last measured batch; None before any."""

    @abstractmethod
    def _new_time(self, state: Any, facts: EpochFacts) -> T:
        """Return the watermarks of a split that goes on with `state` (None: it is new)."""

    @abstractmethod
    def _range(self, split: Split, start: int, end: int) -> Generator[P, None, EndOfSplit | None]:
        """Return the records of a range of the source."""

    @abstractmethod
    def _bytes_of(self, piece: P) -> float:
        """Return the approximate bytes of a record; there is at least one."""

    @abstractmethod
    def _emit(self, split: OpenSplit[P, T]) -> None:
        """Emit some of what is `left` of a split, at least one record, and keep the rest there."""

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._facts = epoch.facts
        self._final = epoch.facts.final
        self._bounded = self._source.boundedness is Boundedness.BOUNDED
        self._budget = None if epoch.facts.final else epoch.facts.budget
        self._read = 0
        self._measured = False
        self._splits = [self._open(given) for given in epoch.input]
        self._reading = [split for split in self._splits if split.batches is not None]
        self._turn = 0
        self._status: int | None = self.watermark

    def close(self) -> None:
        self._source.close()
        super().close()

    def announce(self) -> None:
        super().announce()
        self._update_watermark()

    def process(self, batch: B, port: int) -> None:
        raise AssertionError("a source has no input")

    def pump(self) -> bool:
        """Read and emit a part of the next split in turn; return whether there is more."""
        if not self._reading:
            return False
        self._turn = (self._turn + 1) % len(self._reading)
        split = self._reading[self._turn]
        if split.left:
            self._emit(split)
            return True
        assert split.batches is not None
        try:
            split.left = next(split.batches)
            if split.left and not self._measured:
                self._measured = True
                self._record_bytes = self._bytes_of(split.left)
        except StopIteration as stop:
            self._close(split, stop.value)
            return bool(self._reading)
        except RAISED as error:
            raise user_failure(error, self.context.who) from error
        return True

    def finish(self) -> None:
        self._raise_to(MAX_WATERMARK)

    def end_epoch(self) -> OperatorReport:
        for split in self._splits:
            if not self._final:
                split.time.flush()
            split.time.check_idle()
        self._update_watermark()
        self._count_errors()
        deadlines = [split.time.idle_deadline() for split in self._splits if not split.finished]
        size = self._record_bytes or 0.0
        return OperatorReport(
            splits=[
                SplitReport(
                    split.input.split.id,
                    split.position,
                    split.finished,
                    split.time.state,
                    split.records,
                    int(split.records * size),
                )
                for split in self._splits
            ],
            idle_deadline=min((due for due in deadlines if due is not None), default=None),
        )

    def _open(self, given: SplitInput) -> OpenSplit[P, T]:
        split: OpenSplit[P, T] = OpenSplit(given, self._new_time(given.generator_state, self._facts))
        if given.start < given.end:
            self._read_on(split)
        else:
            split.time.check_idle()
        return split

    def _read_on(self, split: OpenSplit[P, T]) -> None:
        """Start the next range of a split at the end of its last one."""
        start, end = split.position, split.input.end
        if self._source.unit == "records":
            if self._record_bytes is None:
                end = min(end, start + self._probe)
            elif self._record_bytes > _LARGE_BYTES:
                room = min(_RANGE_BYTES, self._left())
                end = min(end, start + max(1, int(room / self._record_bytes)))
        split.target = end
        split.batches = self._range(split.input.split, start, end)

    def _close(self, split: OpenSplit[P, T], result: EndOfSplit | None) -> None:
        split.batches = None
        if self._record_bytes is None:
            self._probe *= 16  # the range had no records
        split.position = split.target
        split.finished = result is not None or split.position == split.input.split.end
        if not split.finished and split.position < split.input.end and self._left() > 0:
            self._read_on(split)
            return
        self._reading.remove(split)
        self._update_watermark()

    def _left(self) -> float:
        """Return how many bytes may still be read in this epoch."""
        return inf if self._budget is None else self._budget - self._read * (self._record_bytes or 0.0)

    def _count(self, split: OpenSplit[P, T], records: int) -> None:
        split.records += records
        self._read += records

    def _count_errors(self) -> None:
        found, self._errors = self._source.errors - self._errors, self._source.errors
        if found:
            self.context.metrics.counter("numRecordsInErrors").inc(found)

    def _update_watermark(self) -> None:
        unfinished = [split for split in self._splits if not split.finished]
        if not unfinished:
            if self._bounded:
                self._raise_to(MAX_WATERMARK)
            else:
                highest = max((split.time.watermark for split in self._splits), default=self.watermark)
                self._raise_to(highest)
                self._send(None)
            return
        live = [split.time.watermark for split in unfinished if not split.time.idle]
        if live:
            self._raise_to(min(live))
        else:
            self._raise_to(max(split.time.watermark for split in unfinished))
            self._send(None)

    def _raise_to(self, watermark: int) -> None:
        if watermark > self.watermark:
            self.watermark = watermark
            self._send(watermark)
        elif self._status is None:
            self._send(self.watermark)

    def _send(self, status: int | None) -> None:
        if status is None and self._status is None:
            return
        self._status = status
        self.emit_watermark(status)
