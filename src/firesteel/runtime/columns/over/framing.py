"""Calls over frames of whole partitions."""

from __future__ import annotations

from collections.abc import Set

import pyarrow as pa

from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.over.calls import Calls, typed
from firesteel.runtime.columns.over.partitions import Partitions


class FramedCalls:
    """The calls of an OVER over partitions; those of `special` functions look at partitions, and not at frames."""

    def __init__(self, over: OverPartitions, special: Set[str] = frozenset()) -> None:
        self._calls = over.calls
        self._special = special
        frames: dict[PartitionFrame, list[int]] = {}
        for place, (call, frame) in enumerate(over.calls):
            if call.function not in special:
                frames.setdefault(frame, []).append(place)
        self._frames = [
            (frame, places, Calls(over.input, [over.calls[place][0] for place in places]))
            for frame, places in frames.items()
        ]

    def of(self, partitions: Partitions) -> list[pa.Array]:
        """Return the results of all calls for the rows of partitions."""
        results = [
            partitions.special(call) if call.function in self._special else None for call, _ in self._calls
        ]
        for frame, places, calls in self._frames:
            columns = calls.lift(partitions.rows)
            found = calls.over_frames(columns, partitions.codes, partitions.frames(frame))
            for place, result in zip(places, calls.together(found, []), strict=True):
                results[place] = result
        return [typed(result, call) for result, (call, _) in zip(results, self._calls, strict=True)]
