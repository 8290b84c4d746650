"""The section of the page on scale curves."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from math import log2
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.part import Case, Figures, Part, Runs
from bench.plots import pyplot
from bench.process import started
from bench.scale.curves import BY_NAME, CURVES, Curve
from bench.tables import table

LIMIT: Final = 2.1
"""The limit for the ratio of times when the work doubles."""

TIMEOUT_SECONDS: Final = 600

_ACROSS: Final = 3
"""Panels beside each other in the picture."""


def measure(curve: Curve, scale: float) -> dict[str, Figures]:
    """Run a curve's jobs in their own process; `points` are pairs of size and seconds, `seconds` is their sum."""
    command = ["-m", "bench.scale.program", curve.name, "--scale", scale]
    with started(f"scale, {curve.name}", command, TIMEOUT_SECONDS) as process:
        output = process.output.read()
    points = json.loads(output.splitlines()[-1])
    return {curve.name: {"seconds": sum(seconds for _, seconds in points), "points": points}}


def seconds_by_size(runs: list[Figures]) -> list[tuple[int, float]]:
    """Return the points of a curve, each with the median of its runs."""
    by_size: dict[int, list[float]] = {}
    for figures in runs:
        for size, seconds in figures["points"]:
            by_size.setdefault(int(size), []).append(seconds)
    return [(size, median(seconds)) for size, seconds in sorted(by_size.items())]


def growth(before: tuple[int, float], after: tuple[int, float]) -> float:
    """Return the ratio of times per doubling between two points (size, seconds).

    >>> growth((100, 1.0), (400, 9.0))
    3.0
    """
    return float((after[1] / before[1]) ** (1 / log2(after[0] / before[0])))


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each curve, then the points of each curve."""
    measured = [(BY_NAME[name], seconds_by_size(figures)) for name, figures in runs.items() if figures]
    lines = ["## Scale", "", "![Seconds by size of the work](images/scale.png)", "", *_overview(measured), ""]
    for curve, points in measured:
        lines += [f"**{curve.title}**: {curve.work}.", "", *_curve(curve, points), ""]
    return lines


def _overview(measured: list[tuple[Curve, list[tuple[int, float]]]]) -> list[str]:
    header = ["What grows", "from", "to", "costliest doubling", f"at most {LIMIT} times"]
    rows = []
    for curve, points in measured:
        if len(points) > 1:
            most = max(growth(before, after) for before, after in pairwise(points))
            answer = "yes" if most <= LIMIT else "no"
            rows.append([curve.title, f"{points[0][0]:,}", f"{points[-1][0]:,}", f"{most:.2f} times", answer])
    return table(header, rows)


def _curve(curve: Curve, points: list[tuple[int, float]]) -> list[str]:
    header = [curve.unit.capitalize(), "seconds", "time per doubling", "microseconds for each further one"]
    rows = [[f"{points[0][0]:,}", f"{points[0][1]:.2f}", "", ""]]
    for before, after in pairwise(points):
        further = (after[1] - before[1]) / (after[0] - before[0]) * 1e6
        rows.append([f"{after[0]:,}", f"{after[1]:.2f}", f"{growth(before, after):.2f}", f"{further:,.1f}"])
    return table(header, rows)


def plot(runs: Runs, directory: Path) -> None:
    """Draw scale.png: a panel for each curve, on logarithmic axes, with a line proportional to the work."""
    plt = pyplot()

    measured = [(BY_NAME[name], seconds_by_size(figures)) for name, figures in runs.items() if figures]
    down = -(-len(measured) // _ACROSS)
    figure, axes = plt.subplots(down, _ACROSS, figsize=(10, 2.8 * down), squeeze=False)
    for panel in axes.flat[len(measured) :]:
        panel.axis("off")
    for panel, (curve, points) in zip(axes.flat, measured, strict=False):
        _draw(panel, curve, points)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.tight_layout(rect=(0, 0.25 / (2.8 * down), 1, 1))
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "scale.png", dpi=110)
    plt.close(figure)


def _draw(panel: Any, curve: Curve, points: list[tuple[int, float]]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    sizes, seconds = [size for size, _ in points], [time for _, time in points]
    last = points[-1]
    panel.plot(
        sizes,
        [last[1] * size / last[0] for size in sizes],
        "--",
        color="0.6",
        label="proportional to the work",
    )
    panel.plot(sizes, seconds, "o-", color="#c8501e", label="measured")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_ylim(min(seconds) / 3, max(seconds) * 2)
    panel.set_title(curve.title, fontsize=10)
    panel.set_xlabel(curve.unit, fontsize=8)
    panel.set_ylabel("seconds", fontsize=8)
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    if sizes[-1] < 10:
        panel.set_xticks(sizes, [str(size) for size in sizes])
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8)
    panel.grid(visible=True, which="major", color="0.9")


HOW: Final = f"""\
**Scale**: one job for each point; the points of a curve run one after another in one session, after two jobs that are
not counted. The clock starts when the job first asks its source for splits, so the time includes planning, discovery of
files and the first small epochs. It stops at the last commit; the start of the session is not included. The jobs have
two subtasks, state that is durable after every epoch, and epochs of about a second that find their size by themselves.
Every result is checked exactly. Between two neighbouring points, *time per doubling* is (t2 / t1) ^ (1 / log2(n2 /
n1)): 2 is proportional, {LIMIT} is allowed. The fixed cost of a job makes this easy for small sizes. So the last column
shows the cost of each further unit, which is constant if the curve is a straight line. The curves over parallelism and
over files of equal bytes have the same work at each point, so 1 would be ideal.
"""

PART: Final = Part(
    name="scale",
    title="Scale",
    cases=tuple(Case(curve.name, partial(measure, curve)) for curve in CURVES),
    render=render,
    how=HOW,
    plot=plot,
)
