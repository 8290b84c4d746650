"""The part: the join at growing sizes of its state, and the section made from the figures."""

from __future__ import annotations

import json
from functools import partial
from typing import Final

from bench.joins.program import CHANGES, EPOCHS, ROWS, WARM_UP
from bench.joins.report import HOW, render, title
from bench.measure import SAMPLE_SECONDS, PeakMemory
from bench.part import Case, Figures, Part
from bench.process import sampling, started

SIZES: Final = (ROWS // 100, ROWS // 10, ROWS)
"""Rows of each side."""

TIMEOUT_SECONDS: Final = 1800
_LEAST_EPOCHS: Final = 5
_LEAST_CHANGES: Final = 1000


def measure(rows: int, scale: float) -> dict[str, Figures]:
    """Run the join in its own process; rows and changes follow the scale, and so do the epochs if it is below 1."""
    changes = max(int(CHANGES * scale) // 2 * 2, _LEAST_CHANGES)
    size = max(int(rows * scale) // 2 * 2, changes)
    options = {
        "rows": size,
        "changes": changes,
        "epochs": max(round(EPOCHS * min(scale, 1)), _LEAST_EPOCHS),
        "warm-up": max(round(WARM_UP * min(scale, 1)), 1),
    }
    given = [text for name, value in options.items() for text in (f"--{name}", value)]
    with started(f"join, {size:,} rows", ["-m", "bench.joins.program", *given], TIMEOUT_SECONDS) as process:
        peak = PeakMemory(process.pid)
        with sampling(peak.look, SAMPLE_SECONDS):
            output = process.output.read()
    figures: Figures = json.loads(output.splitlines()[-1])
    return {title(size): figures | {"worker_bytes": peak.bytes}}


PART: Final = Part(
    name="joins",
    title="Joins over large state",
    cases=tuple(Case(title(rows), partial(measure, rows)) for rows in SIZES),
    render=render,
    how=HOW,
    runs=1,
)
