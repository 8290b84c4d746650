"""The part: each query over growing state, in its own process."""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.growth.program import EVENTS, SLICES
from bench.growth.report import HOW, render
from bench.part import Case, Figures, Part
from bench.process import printed

QUERIES: Final = ("q3", "q4", "q5", "q6", "q7", "q9", "q15", "q16", "q17", "q18", "q19", "q20")
TIMEOUT_SECONDS: Final = 1200
_SIZES: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Those a slice can have."""


def measure(query: str, scale: float) -> dict[str, Figures]:
    """Run a query in its own process; fewer events if the scale is below 1."""
    size = max((size for size in _SIZES if size <= EVENTS * scale / SLICES), default=_SIZES[0])
    command = ["-m", "bench.growth.program", query, "--events", size * SLICES]
    return {query: printed(f"growth, {query}", command, TIMEOUT_SECONDS)}


PART: Final = Part(
    name="nexmark-growth",
    title="Nexmark over growing state",
    cases=tuple(Case(query, partial(measure, query)) for query in QUERIES),
    render=render,
    how=HOW,
    runs=1,
)
