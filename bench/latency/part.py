"""The part: each query at its pace, in its own process."""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.latency.program import SECONDS, WARM_UP, WITH_END
from bench.latency.report import HOW, render
from bench.part import Case, Figures, Part
from bench.process import printed

TIMEOUT_SECONDS: Final = 900
_LEAST_SECONDS: Final = 20
_LEAST_WARM_UP: Final = 8


def measure(query: str, scale: float) -> dict[str, Figures]:
    """Run a query in its own process; the pace is always the same, the time is shorter if the scale is below 1."""
    seconds = max(round(SECONDS * min(scale, 1)), _LEAST_SECONDS)
    warm_up = max(round(WARM_UP * min(scale, 1)), _LEAST_WARM_UP)
    command = ["-m", "bench.latency.program", query, "--seconds", seconds, "--warm-up", warm_up]
    return {query: printed(f"latency, {query}", command, TIMEOUT_SECONDS)}


PART: Final = Part(
    name="nexmark-latency",
    title="Latency of Nexmark's windows",
    cases=tuple(Case(query, partial(measure, query)) for query in WITH_END),
    render=render,
    how=HOW,
    runs=1,
)
