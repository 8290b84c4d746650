"""The measurement at one number of campaigns: the highest rate of each system, then the latency at half of it."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.part import Figures, RunError
from bench.process import System
from bench.yahoo.events import LANES, Load
from bench.yahoo.measuring import FIRESTEEL, PROCESS, THREAD, Outcome, run

FACTORS: Final = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25)
"""Fractions of the unpaced throughput that are tried as the rate, until the system keeps up with one."""

STEPS: Final = 200
"""The number of steps in which the quantiles of a distribution are stored, from the smallest to the largest value."""

_NOMINAL_S: Final = 20.0
_KINDS: Final = 3

Run = Callable[[System, Load], Outcome]


@dataclass(frozen=True)
class Times:
    """How long the paced runs take (seconds).

    A system keeps up with a rate if, in the last `last` seconds of a run of `confirm` seconds, the source is at some
    moment at most `behind` seconds late, or not later than in as many seconds before the middle of the run. A latency
    run takes `latency` seconds; its first window that counts ends after `settled` seconds.
    """

    confirm: float
    last: float
    behind: float
    latency: float
    settled: float


PUBLISHED: Final = Times(confirm=12, last=3, behind=1, latency=28.5, settled=8)
GLANCE: Final = Times(confirm=3, last=3, behind=math.inf, latency=4, settled=3)
"""Times for a quick check, too short for meaningful rates."""

UNPACED: Final[dict[tuple[System, int], int]] = {
    (PROCESS, 100): 150_000,
    (THREAD, 100): 150_000,
    (FIRESTEEL, 100): 2_000_000,
    (PROCESS, 1_000_000): 20_000,
    (THREAD, 1_000_000): 80_000,
    (FIRESTEEL, 1_000_000): 1_200_000,
}
"""The number of events that a system gets at once: work for some seconds."""


@dataclass(frozen=True)
class Trial:
    """The runs at one number of campaigns."""

    campaigns: int
    scale: float
    run: Run = run

    @property
    def times(self) -> Times:
        """How long runs take."""
        return PUBLISHED if self.scale >= 1 else GLANCE

    def figures(self) -> dict[str, Figures]:
        """Measure both systems in turn; see `bench.yahoo.part.HOW`."""
        throughputs = {mode: self.throughput(mode) for mode in (PROCESS, THREAD)}
        pyflink = max(throughputs, key=lambda mode: throughputs[mode])
        firesteel = self.throughput(FIRESTEEL)
        highest = {
            pyflink: self.sustainable(pyflink, throughputs[pyflink]),
            FIRESTEEL: self.sustainable(FIRESTEEL, firesteel),
        }
        found = {
            f"{system.title.partition(',')[0]}, {self.campaigns:,} campaigns": {
                "mode": system.mode,
                "throughput": round(throughputs.get(system, firesteel)),
                "sustainable": rate,
                **self.latency(system, rate // 2),
            }
            for system, rate in highest.items()
        }
        found[f"Firesteel at PyFlink's rate, {self.campaigns:,} campaigns"] = self.latency(
            FIRESTEEL, highest[pyflink] // 2
        )
        return found

    def throughput(self, system: System) -> float:
        """Return the events per second if all are available at once: from the first third up to the last result."""
        count = _whole(max(_KINDS * 1000, int(UNPACED[system, self.campaigns] * self.scale)))
        load = Load(self.campaigns, max(1, int(count / _NOMINAL_S)), count, 5000, paced=False)
        outcome = self.run(system, load)
        made = ((elapsed, (elapsed - lag) * load.rate) for elapsed, lag in outcome.lags)
        at, events = next((note for note in made if note[1] >= count / 3), (0.0, 0.0))
        return (count - events) / (outcome.seconds - at)

    def sustainable(self, system: System, throughput: float) -> int:
        """Return the largest rate that the system keeps up with. Raises RunError if there is none."""
        for factor in FACTORS:
            rate = max(_KINDS, int(throughput * factor))
            load = self._paced(rate, self.times.confirm, 4000)
            if keeps_up(self.run(system, load), self.times):
                return rate
        raise RunError(f"{system.title} kept up with none of {FACTORS} of {throughput:,.0f} events/s")

    def latency(self, system: System, rate: int) -> Figures:
        """Return the distribution of event-to-visible latency at a rate (seconds)."""
        times = self.times
        rate = max(_KINDS, rate)
        load = self._paced(rate, times.latency, int(times.settled * 1000))
        latencies = self.run(system, load).latencies(times.settled)
        if not latencies:
            raise RunError(f"{system.title}: no window of {load} ended by itself")
        return {
            "campaigns": self.campaigns,
            "rate": rate,
            "results": len(latencies),
            "quantiles": [round(value, 3) for value in quantiles(latencies)],
        }

    def _paced(self, rate: int, seconds: float, first_end_ms: int) -> Load:
        return Load(self.campaigns, rate, _whole(int(rate * seconds)), first_end_ms, paced=True)


def _whole(count: int) -> int:
    """Return a count that is equal in every lane: PyFlink's source splits its numbers into halves, one per lane."""
    return max(count // LANES, 1) * LANES


def keeps_up(outcome: Outcome, times: Times) -> bool:
    """Return whether the source was almost on time at some moment of the last seconds, or not later than half-way.

    A source that cannot keep up falls behind more and more; a late start alone does not count. Lateness rises and falls
    with epochs and bundles, so the smallest values are compared.
    """
    end, middle = outcome.load.seconds, outcome.load.seconds / 2
    late = [lag for elapsed, lag in outcome.lags if end - times.last <= elapsed]
    before = [lag for elapsed, lag in outcome.lags if middle - times.last <= elapsed < middle]
    return bool(late) and min(late) <= max(times.behind, min(before, default=0.0))


def quantiles(values: Sequence[float]) -> list[float]:
    """Return the quantiles of sorted values, from the smallest to the largest, in `STEPS` steps.

    >>> quantiles([1.0, 2.0, 3.0])[::100]
    [1.0, 2.0, 3.0]
    """
    last = len(values) - 1
    return [values[round(step * last / STEPS)] for step in range(STEPS + 1)]


def share_within(values: Sequence[float], limit: float) -> float:
    """Return the fraction of sorted values that are at most `limit`.

    >>> share_within([1.0, 2.0, 3.0, 4.0], 3.0)
    0.75
    """
    return bisect.bisect_right(values, limit) / len(values)
