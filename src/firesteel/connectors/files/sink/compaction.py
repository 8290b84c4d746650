"""Which finished parts become one file (Flink: FileCompactStrategy, CompactCoordinator, BinPacking).

The parts of a bucket wait, hidden, until an epoch's number or their size says that it is time. Then those of all
subtasks are packed into units, always in the same way for the same parts, and each unit becomes one visible file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO, Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.files.parts import PartCommit, PartFormat, PartWriter
from firesteel.connectors.files.systems import joined, name_of, parent_of

PREFIX: Final = "compacted-"
_OPEN_UNITS: Final = 10


@dataclass(frozen=True, slots=True)
class Compaction:
    """When the parts of a bucket are compacted, and how: every so many `epochs`, or when they have `threshold` bytes.

    A unit has up to `packed` bytes (None: what has been waiting, or the threshold). With `separately`, each part stays
    a file, as it is. A `delimiter` is written between parts. Raises ConfigurationError without a condition.

    >>> Compaction(epochs=3).is_due(epoch=6, waiting=0)
    True
    """

    epochs: int | None = None
    threshold: int | None = None
    packed: int | None = None
    separately: bool = False
    delimiter: bytes | None = None

    def __post_init__(self) -> None:
        if self.epochs is None and self.threshold is None:
            raise ConfigurationError(
                "requires a number of epochs or a size", who="the compaction of files", got="neither"
            )

    def is_due(self, epoch: int, waiting: int) -> bool:
        """Return whether parts of a bucket that have so many bytes are compacted with an epoch."""
        if self.epochs is not None and epoch % self.epochs == 0:
            return True
        return self.threshold is not None and waiting >= self.threshold

    def units(self, parts: Iterable[PartCommit]) -> list[PartCommit]:
        """Return a commit for each unit of an epoch's parts, and those unchanged that are of no bucket."""
        units, buckets = list[PartCommit](), dict[str, list[PartCommit]]()
        for part in parts:
            if part.final and not part.alone:
                buckets.setdefault(parent_of(part.final), []).append(part)
            else:
                units.append(part)
        for bucket in sorted(buckets):
            ordered = sorted(buckets[bucket], key=lambda part: part.final)
            units.extend(map(_united, self._packed(ordered)))
        return units

    def _packed(self, parts: Sequence[PartCommit]) -> list[list[PartCommit]]:
        if self.separately:
            return [[part] for part in parts]
        if self.packed is not None:
            return _bins(parts, self.packed)
        packed: list[list[PartCommit]] = [[]]
        size = 0
        for part in parts:
            packed[-1].append(part)
            size += size_of(part)
            if self.threshold is not None and size >= self.threshold:
                packed.append([])
                size = 0
        return [unit for unit in packed if unit]

    def format_of(self, unit: PartCommit, given: PartFormat) -> PartFormat:
        """Return the format that joins the segments of a unit."""
        return given if self.delimiter is None else _Delimited(given, unit.counts, self.delimiter)


def size_of(part: PartCommit) -> int:
    """Return the bytes of a part."""
    return sum(segment.size for segment in part.segments)


def _bins(parts: Sequence[PartCommit], most: int) -> list[list[PartCommit]]:
    """Put each part into the first of the last few bins that has room for it."""
    full: list[list[PartCommit]] = []
    bins: list[tuple[int, list[PartCommit]]] = []
    for part in parts:
        size = size_of(part)
        place = next((place for place, (held, _) in enumerate(bins) if held + size <= most), None)
        if place is not None:
            held, items = bins[place]
            bins[place] = (held + size, [*items, part])
            continue
        bins.append((size, [part]))
        if len(bins) > _OPEN_UNITS:
            full.append(bins.pop(0)[1])
    return [*full, *(items for _, items in bins)]


def _united(parts: Sequence[PartCommit]) -> PartCommit:
    first = parts[0].final
    return PartCommit(
        joined(parent_of(first), PREFIX + name_of(first)),
        tuple(segment for part in parts for segment in part.segments),
        tuple(path for part in parts for path in part.obsolete),
        counts=tuple(len(part.segments) for part in parts),
    )


class _Delimited(PartFormat):
    """Files of one or more segments, one after the other, with a delimiter between them."""

    def __init__(self, given: PartFormat, counts: Sequence[int], delimiter: bytes) -> None:
        self._given = given
        self._counts = counts
        self._delimiter = delimiter

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return self._given.open(file)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write the files one after the other."""
        ends = [0, *accumulate(self._counts)]
        for number, (start, end) in enumerate(pairwise(ends)):
            if number:
                target.write(self._delimiter)
            self._given.join(segments[start:end], target)
