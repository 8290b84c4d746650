"""The driver's side of sources: the splits, how far each has been read, and what an epoch reads of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from firesteel.checkpoint.manifest import SplitPosition
from firesteel.common import pickles
from firesteel.common.errors import ConnectorError
from firesteel.control.admission import share
from firesteel.control.connector_errors import connector_error
from firesteel.functions.source import Boundedness, DiscoveryContext, Source, Split
from firesteel.runtime.plan import SplitInput, SplitReport

_FIRST_PER_RECORD: Final = {"records": 1.0, "bytes": 100.0, "splits": 0.0}
"""How many units a record is assumed to have until records have been read."""

_PLAIN: Final = frozenset({type(None), bool, int, float, str})


class Positions(NamedTuple):
    """How far a source has been read: splits that are not at their end, and the ends of those that this epoch ended."""

    unfinished: dict[str, SplitPosition]
    ended: dict[str, int]


@dataclass(slots=True)
class _Progress:
    """A split that is not at its end, and how far it has been read; `ordinal` is its place in the order of discovery.

    `saved` is the same in the form of manifests; None until it is needed.
    """

    split: Split
    pickled: bytes
    position: int
    ordinal: int
    generator_state: Any = None
    saved: SplitPosition | None = None


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """What an epoch reads of one source: per subtask its unfinished splits; `work` if any has something to read.

    `more` is whether it leaves something that could be read now, `ends` whether the source has been read to its end
    when this epoch is committed.
    """

    inputs: dict[int, list[SplitInput]]
    work: bool
    more: bool
    ends: bool


class SourceCoordinator:
    """Follows one source of a job.

    Contract: `plan` may be called any number of times and changes only the set of known splits; `committed` is called
    once for each epoch that has been committed, with its reports. Split `n` in the order of discovery belongs to
    subtask `n % parallelism`, so a split stays with its subtask. For a split that is at its end only the id is kept.
    """

    def __init__(
        self,
        who: str,
        source: Source[Any],
        parallelism: int,
        unfinished: Mapping[str, SplitPosition],
        finished: Iterable[str] = (),
    ) -> None:
        self._who = who
        self._source = source
        self._parallelism = parallelism
        self._bounded = source.boundedness is Boundedness.BOUNDED
        self._splits = {
            split_id: _Progress(
                pickle.loads(saved.split),
                saved.split,
                saved.position,
                saved.ordinal,
                pickle.loads(saved.generator_state),
                saved,
            )
            for split_id, saved in unfinished.items()
        }
        self._finished = set(finished)
        self._ended: dict[str, int] = {}
        self._known: frozenset[str] | None = None
        self._discovered = bool(self._splits or self._finished)
        self._next_discovery = 0
        self._units_per_record = _FIRST_PER_RECORD[source.unit]
        self._splits_read = self._records_read = 0

    @property
    def ended(self) -> bool:
        """Whether a bounded source has been read to its end."""
        return self._bounded and self._discovered and not self._splits

    def plan(self, budget: int | None, now: int, steady: int) -> SourcePlan:
        """Propose ranges of at most about `budget` records (None: all that there are) at processing time `now`.

        `steady` is the time that measures intervals and rates, from `firesteel.control.clock.SteadyTime` (both in
        milliseconds).
        """
        try:
            self._discover(now, steady)
            available = self._available(steady)
        except Exception as error:
            raise connector_error(error, self._who, "could not find out what there is to read") from error
        wanting = {name: amount for name, amount in available.items() if amount > 0}
        if budget is None:
            return self._planned(wanting, whole=True)
        shares = share(self._units(budget), wanting) if wanting else {}
        return self._planned(shares, more=shares != wanting)

    def rest(self) -> SourcePlan:
        """Plan the unfinished splits but read nothing: for the last epoch of a job that is drained."""
        return self._planned({})

    def _units(self, budget: int) -> int:
        """Return how much to read for about `budget` records: at least a unit.

        Of splits that are read whole it is at least one for each subtask, and at most twice as many as before, since
        nobody knows how many records the next ones have.
        """
        units = int(budget * self._units_per_record)
        if self._source.unit == "splits":
            return max(min(units, 2 * self._splits_read), self._parallelism)
        return units or 1

    def _planned(self, shares: dict[str, int], *, more: bool = False, whole: bool = False) -> SourcePlan:
        """Return what to read; `whole`: splits without a known end are read to their ends, too."""
        inputs: dict[int, list[SplitInput]] = {}
        ends = self._bounded
        for name, progress in self._splits.items():
            end = progress.position + shares.get(name, 0)
            known = progress.split.end
            ends = ends and (end == known or (whole and known is None))
            inputs.setdefault(progress.ordinal % self._parallelism, []).append(
                SplitInput(progress.split, progress.position, end, progress.generator_state)
            )
        return SourcePlan(inputs, bool(shares), more, ends)

    def _available(self, steady: int) -> dict[str, int]:
        ask = self._source.available
        return {
            name: max(0, ask(progress.split, progress.position, steady) - progress.position)
            for name, progress in self._splits.items()
        }

    def committed(self, reports: Iterable[SplitReport]) -> int:
        """Advance to the positions of a committed epoch; return the number of records it read."""
        records = units = 0
        positions: dict[str, int] = {}
        for report in reports:
            positions[report.split_id] = report.position
            progress = self._splits[report.split_id]
            records += report.records
            units += report.position - progress.position
            if report.finished:
                self._finish(report.split_id)
                continue
            progress.position = report.position
            progress.generator_state = report.generator_state
            progress.saved = None
        self._ended.clear()
        if self._source.unit == "splits":
            self._splits_read += units
            self._records_read += records
            self._units_per_record = self._splits_read / max(1, self._records_read)
        elif self._source.unit == "bytes" and records:
            self._units_per_record = max(1.0, units / records)
        self._source.committed(positions)
        return records

    def snapshot(self, reports: Iterable[SplitReport]) -> Positions:
        """Return the positions after `reports` are committed, for the manifest."""
        by_id = {report.split_id: report for report in reports}
        ended = {name: report.position for name, report in by_id.items() if report.finished}
        unfinished = {
            name: _saved(progress, by_id.get(name))
            for name, progress in self._splits.items()
            if name not in ended
        }
        return Positions(unfinished, {**self._ended, **ended})

    def _finish(self, split_id: str) -> None:
        del self._splits[split_id]
        self._finished.add(split_id)

    def _discover(self, now: int, steady: int) -> None:
        if self._bounded and self._discovered:
            return
        if steady < self._next_discovery:
            return
        self._next_discovery = steady + self._source.discovery_interval
        if self._known is None:
            self._known = frozenset([*self._splits, *self._finished])
        for split in self._source.discover(DiscoveryContext(self._known, self._parallelism, now)):
            if split.id in self._splits or split.id in self._finished:
                raise ConnectorError(
                    "requires split ids that are unique and stable", who=self._who, got=f"{split.id!r} twice"
                )
            self._known = None
            ordinal = len(self._splits) + len(self._finished)
            self._splits[split.id] = _Progress(split, pickles.dumps(split), split.start, ordinal)
            if split.end is not None and split.start >= split.end:
                self._finish(split.id)
                self._ended[split.id] = split.start
        self._discovered = True


def _saved(progress: _Progress, report: SplitReport | None) -> SplitPosition:
    """Return a split's position when a report is committed; without one, its current position, pickled once."""
    if report is not None:
        state = _pickled(report.generator_state)
        return SplitPosition(progress.pickled, report.position, state, progress.ordinal)
    if progress.saved is None:
        state = _pickled(progress.generator_state)
        progress.saved = SplitPosition(progress.pickled, progress.position, state, progress.ordinal)
    return progress.saved


def _pickled(state: Any) -> bytes:
    if type(state) is tuple and _PLAIN.issuperset(map(type, state)):
        return pickle.dumps(state)  # a tenth of cloudpickle's time, which classes of the program need
    return pickles.dumps(state)
