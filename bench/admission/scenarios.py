"""The scenarios: loads relative to the records per second that this machine can process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.admission.load import Pieces

KEYS: Final = 10_000
HOT_SHARE: Final = 10
"""All but one of this many records are on the hot key: 90 %."""

_SPREAD: Final = 7919  # a prime: keys do not come in their own order


@dataclass(frozen=True)
class Scenario:
    """A load and other changes.

    `pieces` are pairs of seconds and the fraction of the machine's capacity that arrives meanwhile, or, as a negative
    number, plain records per second. `change` is the interval (seconds) in which these apply: `slow_us` (microseconds
    that the sink waits for each record), `hot` (most records have one key), `commit_ms` (the wait of each commit of the
    sink) and `neighbours` (busy processes besides the job, for each core).
    """

    name: str
    title: str
    pieces: Pieces
    change: tuple[float, float] = (0.0, 0.0)
    changed: str = ""
    slow_us: float = 0.0
    hot: bool = False
    commit_ms: int = 0
    neighbours: int = 0

    def at(self, capacity: float, scale: float) -> Pieces:
        """Return the pieces in records per second; a smaller scale makes them shorter."""
        return [(lasts * scale, share * capacity if share >= 0 else -share) for lasts, share in self.pieces]


SCENARIOS: Final = (
    Scenario(
        "burst",
        "A ten-fold load",
        [(6, 0.25), (4, 2.5), (12, 0.25)],
        (6, 10),
        "ten-fold load",
    ),
    Scenario("slow-sink", "A slow sink", [(20, 0.25)], (6, 12), "slow sink", slow_us=100.0),
    Scenario(
        "hot-key",
        "A hot key",
        [(6, 0.3), (6, 0.6), (8, 0.3)],
        (6, 20),
        "90 % on one key",
        hot=True,
    ),
    Scenario("slow-floor", "A slow floor", [(40, 0.25)], (6, 28), "each commit waits 3 s", commit_ms=3000),
    Scenario(
        "neighbour",
        "A neighbour",
        [(30, 0.3)],
        (6, 20),
        "two busy processes for each core",
        neighbours=2,
    ),
    Scenario("trickle", "Idle, then a trickle", [(4, 0), (12, -10.0)], (4, 16), "10 records/s"),
)
BY_NAME: Final = {scenario.name: scenario for scenario in SCENARIOS}


def key_of(hot_from: int | None) -> Callable[[int], int]:
    """Return the function from the index of a record to its key; from `hot_from`, most keys are 0."""

    def key(index: int) -> int:
        if hot_from is not None and index >= hot_from and index % HOT_SHARE:
            return 0
        return index * _SPREAD % KEYS

    return key
