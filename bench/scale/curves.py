"""The curves: the quantity that grows, its sizes, and the jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Curve:
    """One quantity that grows while the rest of the job stays the same.

    `per_unit` is the number of records for each unit of it, `fixed` the number of records regardless of it. `work`
    describes the job of a point in words.
    """

    name: str
    title: str
    unit: str
    sizes: tuple[int, ...]
    work: str
    per_unit: int = 0
    fixed: int = 0

    def records(self, size: int) -> int:
        """Return the number of records that the job of a size reads."""
        return self.fixed + self.per_unit * size

    def scaled(self, scale: float) -> Curve:
        """Return the same curve with less work, but at least a few units, for a quick check."""
        if scale == 1:
            return self
        sizes = {max(min(size, 4), int(size * scale)) for size in self.sizes}
        fixed = max(KEYS, int(self.fixed * scale) // KEYS * KEYS) if self.fixed else 0
        return replace(self, sizes=tuple(sorted(sizes)), fixed=fixed)


KEYS: Final = 1000
"""Keys of the jobs in which their number does not grow."""

CURVES: Final = (
    Curve(
        "records",
        "Records",
        "records",
        (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
        f"a keyed count over N records with {KEYS:,} keys",
        per_unit=1,
    ),
    Curve(
        "keys",
        "Keys",
        "keys",
        (1_000, 10_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
        "a keyed count over one record of each key, so that the state grows with every record",
        per_unit=1,
    ),
    Curve(
        "chain",
        "Operators in a chain",
        "operators",
        (1, 3, 10, 30, 100),
        "300,000 records through N maps, one after another",
        fixed=300_000,
    ),
    Curve(
        "branches",
        "Operators side by side",
        "operators",
        (1, 3, 10, 30, 100),
        f"60,000 records into each of N keyed counts ({KEYS:,} keys, each with its own state), united again",
        fixed=60_000,
    ),
    Curve(
        "windows",
        "Open windows",
        "windows",
        (1, 10, 100, 1_000, 10_000, 30_000, 100_000),
        "N tumbling windows, of up to 100 keys, all open until the input ends; 10 records in each",
        per_unit=10,
    ),
    Curve(
        "timers",
        "Timers",
        "timers",
        (1_000, 10_000, 100_000, 300_000, 1_000_000),
        f"a process function with {KEYS:,} keys registers N event-time timers, all pending until the input ends",
        per_unit=1,
    ),
    Curve(
        "parallelism",
        "Parallelism",
        "subtasks",
        (1, 2, 3, 4),
        f"the same keyed count over 1,000,000 records with {KEYS:,} keys by more subtasks, on the same two cores",
        fixed=1_000_000,
    ),
    Curve(
        "files",
        "Source files, equal bytes",
        "files",
        (1, 3, 10, 30, 100, 300, 1_000),
        "the same 1,000,000 lines in N files",
        fixed=1_000_000,
    ),
    Curve(
        "lines",
        "Source files, growing",
        "files",
        (1, 3, 10, 30, 100, 300, 1_000),
        "N files of 3,000 lines each",
        per_unit=3_000,
    ),
)

BY_NAME: Final = {curve.name: curve for curve in CURVES}
