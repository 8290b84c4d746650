"""Calls over frames of partitions, or of parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.aggregates.chosen import Chosen
from firesteel.runtime.columns.aggregates.parts import Columns, Part
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.over.calls import (
    OF_WHOLE_PARTITIONS,
    OFFSETS,
    RANKS,
    Calls,
    accumulators,
    typed,
)
from firesteel.runtime.columns.over.partitions import Partitions
from firesteel.runtime.columns.over.peers import Peers
from firesteel.runtime.columns.over.running import replaced
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.sorting import Positions

UNFRAMED: Final = OFFSETS | OF_WHOLE_PARTITIONS
"""Functions that look at partitions, and not at frames."""

BY_PEERS: Final = RANKS - {"ROW_NUMBER"}
"""Functions that look at the rows before, unless they count the rows of the frame; ROW_NUMBER always does."""


class Earlier(NamedTuple):
    """Rows at some `places` that stand for all rows before them, and the accumulators of these."""

    places: Positions
    columns: Columns


class FramedCalls:
    """The calls of an OVER over partitions; ranks and functions of other rows look at partitions, and not at frames."""

    def __init__(self, over: OverPartitions) -> None:
        self._calls = over.calls
        self._special = special = UNFRAMED if over.by_frame else UNFRAMED | BY_PEERS
        frames: dict[PartitionFrame, list[int]] = {}
        for place, (call, frame) in enumerate(over.calls):
            if call.function not in special:
                frames.setdefault(frame, []).append(place)
        self._frames = [
            (frame, places, Calls(over.input, [over.calls[place][0] for place in places]))
            for frame, places in frames.items()
        ]
        ranks = special & BY_PEERS
        self._peers = Peers(over) if any(call.function in ranks for call, _ in over.calls) else None

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        for _, _, calls in self._frames:
            calls.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        for _, _, calls in self._frames:
            calls.close()

    @property
    def adds_up(self) -> bool:
        """Whether the accumulators of all earlier rows are all that calls need of them.

        So it is if frames begin with the first row, and if it does not matter in which parts rows are added up.
        """
        return all(
            call.function in BY_PEERS
            if call.function in self._special
            else frame.lower is None and frame.upper is not None
            for call, frame in self._calls
        ) and all(not calls.raw and all(map(_is_exact, calls.parts)) for _, _, calls in self._frames)

    @property
    def accumulators(self) -> list[pa.Field]:
        """The fields of the accumulators."""
        return [*accumulators(self._parts), *([] if self._peers is None else self._peers.fields)]

    @property
    def _parts(self) -> list[Part]:
        return [part for _, _, calls in self._frames for part in calls.lifted]

    def lift(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the accumulators of each row alone."""
        lifted = [column for _, _, calls in self._frames for column in calls.lift(rows)]
        return lifted if self._peers is None else [*lifted, *self._peers.lift(rows)]

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Return the accumulators of each group, of those of rows or of others."""
        found, place = [], 0
        for part in self._parts:
            found += part.combine(columns[place : place + len(part.types)], groups)
            place += len(part.types)
        return found if self._peers is None else [*found, *self._peers.combine(columns[place:], groups)]

    def of(self, partitions: Partitions, earlier: Earlier | None = None) -> list[pa.Array]:
        """Return the results of all calls for the rows of partitions."""
        results: list[pa.Array | None] = [None] * len(self._calls)
        known: Sequence[pa.Array] = () if earlier is None else earlier.columns
        for frame, places, calls in self._frames:
            columns = calls.lift(partitions.rows)
            if earlier is not None:
                columns = replaced(columns, earlier.places, known[: len(columns)])
                known = known[len(columns) :]
            found = calls.over_frames(columns, partitions.codes, partitions.frames(frame))
            for place, result in zip(places, calls.together(found, []), strict=True):
                results[place] = result
        for place, (call, _) in enumerate(self._calls):
            if call.function in self._special:
                behind = None if earlier is None else Earlier(earlier.places, known)
                results[place] = self._special_result(call, partitions, behind)
        return [typed(result, call) for result, (call, _) in zip(results, self._calls, strict=True)]

    def _special_result(
        self, call: Aggregation, partitions: Partitions, earlier: Earlier | None
    ) -> pa.Array | None:
        """Return the results of a function that looks at partitions; `earlier` has what ranks know of earlier rows."""
        if earlier is None or self._peers is None:
            return partitions.special(call)
        return self._peers.ranked(call, partitions, *earlier)


def _is_exact(part: Part) -> bool:
    return isinstance(part, Chosen) or not any(map(pa.types.is_floating, part.types))
