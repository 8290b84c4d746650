"""The section of the page, and its picture, from the stored figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.part import Figures, Runs
from bench.plots import pyplot
from bench.tables import table
from bench.yahoo.case import share_within

PICTURE: Final = "yahoo-latency.png"
_SHOWN: Final = (0.5, 0.95, 0.99, 1.0)
_COLOURS: Final = {"Firesteel": "#c8501e", "PyFlink": "#3a6ea5"}


def render(runs: Runs) -> list[str]:
    """Return the section's lines."""
    header = ["", "sustainable events/s", "load in events/s", *(_name(part) for part in _SHOWN)]
    rows = [
        [title, _highest(figures), f"{median(run['rate'] for run in figures):,.0f}", *_latencies(figures)]
        for title, figures in runs.items()
    ]
    return [
        "## Latency under load",
        "",
        "Ad events are filtered, joined with a table of campaigns and counted per campaign in windows of ten seconds.",
        "The columns on the right show the seconds from the end of a window until its result is visible, exactly once.",
        "",
        *table(header, rows),
        "",
        f"![Distribution of latency](images/{PICTURE})",
    ]


def _name(part: float) -> str:
    return "max" if part == 1 else f"p{part * 100:.0f}"


def _highest(figures: list[Figures]) -> str:
    rates = [run["sustainable"] for run in figures if "sustainable" in run]
    if not rates:
        return ""
    modes = sorted({run["mode"] for run in figures if run.get("mode")})
    return f"{median(rates):,.0f}" + (f" ({', '.join(modes)})" if modes else "")


def _latencies(figures: list[Figures]) -> Iterator[str]:
    """Yield the quantiles of all runs together, each with the same weight."""
    values = _pooled(figures)
    for part in _SHOWN:
        yield f"{values[round(part * (len(values) - 1))]:.2f}"


def _pooled(figures: list[Figures]) -> list[float]:
    return sorted(value for run in figures for value in run["quantiles"])


def plot(runs: Runs, directory: Path) -> None:
    """Draw the distribution of the time from the end of a window until its result is visible."""
    plt = pyplot()

    campaigns = sorted({run["campaigns"] for figures in runs.values() for run in figures})
    figure, panels = plt.subplots(1, len(campaigns), figsize=(9, 3.4), squeeze=False, layout="constrained")
    for panel, number in zip(panels[0], campaigns, strict=True):
        for title, figures in runs.items():
            if figures[0]["campaigns"] == number:
                _draw(panel, title.rpartition(", ")[0], figures)
        panel.set_title(f"{number:,} campaigns", fontsize=10)
        panel.set_xlabel("seconds from a window's end", fontsize=8)
        panel.set_ylabel("fraction of results visible", fontsize=8)
        panel.set_ylim(0, 1.02)
        panel.tick_params(labelsize=8)
        panel.grid(visible=True, color="0.9")
        panel.legend(fontsize=7, loc="lower right")
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / PICTURE, dpi=120)
    plt.close(figure)


def _draw(panel: Any, title: str, figures: list[Figures]) -> None:
    values = _pooled(figures)
    colour = _COLOURS["PyFlink" if title.startswith("PyFlink") else "Firesteel"]
    style = "--" if " at " in title else "-"
    rate = median(run["rate"] for run in figures)
    edges = [0.0, *values]
    panel.step(
        edges,
        [share_within(values, edge) for edge in edges],
        style,
        where="post",
        color=colour,
        label=f"{title} ({rate:,.0f}/s)" if " at " in title else f"{title} at half its rate ({rate:,.0f}/s)",
    )
