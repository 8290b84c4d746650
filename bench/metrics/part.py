"""The part: one process that runs the job with and without measuring, in turn."""

from __future__ import annotations

from typing import Final

from bench.metrics.program import EPOCHS, ROUNDS, WARM_UP
from bench.metrics.report import HOW, render
from bench.part import Case, Figures, Part
from bench.process import printed

TIMEOUT_SECONDS: Final = 1200
_LEAST_EPOCHS: Final = 4
_LEAST_ROUNDS: Final = 2
"""So few that both orders occur."""


def measure(scale: float) -> dict[str, Figures]:
    """Run the jobs in a process of their own; a scale below 1 makes them fewer and shorter."""
    epochs = max(round(EPOCHS * min(scale, 1)), _LEAST_EPOCHS)
    rounds = max(round(ROUNDS * min(scale, 1)), _LEAST_ROUNDS)
    options = ["--rounds", rounds, "--epochs", epochs, "--warm-up", min(WARM_UP, epochs // 4)]
    return printed("metrics", ["-m", "bench.metrics.program", *options], TIMEOUT_SECONDS)


PART: Final = Part(
    name="metrics",
    title="What metrics cost",
    cases=(Case("jobs", measure),),
    render=render,
    how=HOW,
    runs=1,
)
