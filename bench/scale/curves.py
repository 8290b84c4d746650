"""The curves: what grows, through which sizes, and what the job of a size is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True)
class Curve:
    """One quantity that grows while all else of the job stays as it is.

    `per_unit` are the records that each unit of it brings along, `fixed` those that are there anyhow. `work` says
    in words what a point of the curve does.
    """

    name: str
    title: str
    unit: str
    sizes: tuple[int, ...]
    work: str
    per_unit: int = 0
    fixed: int = 0

    def records(self, size: int) -> int:
        """How many records the job of a size reads."""
        return self.fixed + self.per_unit * size

    def scaled(self, scale: float) -> Curve:
        """The same curve with less work, for a look at whether all is well: a few units of it stay."""
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
        f"a keyed count over so many records with {KEYS:,} keys",
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
        "300,000 records through so many maps, one after the other",
        fixed=300_000,
    ),
    Curve(
        "branches",
        "Operators side by side",
        "operators",
        (1, 3, 10, 30, 100),
        f"60,000 records into each of so many keyed counts ({KEYS:,} keys, each with its own state), united again",
        fixed=60_000,
    ),
    Curve(
        "windows",
        "Open windows",
        "windows",
        (1, 10, 100, 1_000, 10_000, 30_000, 100_000),
        "so many tumbling windows, of up to 100 keys, all open until the input ends; 10 records in each",
        per_unit=10,
    ),
    Curve(
        "timers",
        "Timers",
        "timers",
        (1_000, 10_000, 100_000, 300_000, 1_000_000),
        f"a process function with {KEYS:,} keys registers so many event-time timers, all pending until the input ends",
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
        "the same 1,000,000 lines in so many files",
        fixed=1_000_000,
    ),
    Curve(
        "lines",
        "Source files, growing",
        "files",
        (1, 3, 10, 30, 100, 300, 1_000),
        "so many files of 3,000 lines each",
        per_unit=3_000,
    ),
)

BY_NAME: Final = {curve.name: curve for curve in CURVES}
