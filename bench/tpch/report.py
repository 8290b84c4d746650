"""The section of the page, and its picture, from the stored figures."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Final

from bench.part import Runs, middle
from bench.plots import pyplot
from bench.tables import table
from bench.tpch.data import QUERIES

SCALES: Final = (1, 10)
OURS: Final = "Firesteel"
PEERS: Final = ("Flink SQL", "Spark SQL")
LIMIT: Final = 1.2
"""How many times Spark SQL's time a query may take."""

PICTURE: Final = "tpch.png"
_COLOURS: Final = {"Flink SQL": "#c8501e", "Spark SQL": "#3a6ea5"}
_GIB: Final = 1 << 30


def title(size: int, query: int, system: str) -> str:
    """Return the title of the runs of a query at a scale."""
    return f"scale {size}, q{query}, {system}"


def ratios(runs: Runs, size: int, peer: str) -> dict[int, float]:
    """Return how many times as fast as another system Firesteel answers, by query."""
    return {
        query: middle(runs[title(size, query, peer)], "seconds")
        / middle(runs[title(size, query, OURS)], "seconds")
        for query in QUERIES
        if title(size, query, OURS) in runs and title(size, query, peer) in runs
    }


def slowest(runs: Runs, size: int, peer: str) -> tuple[int, float] | None:
    """Return the query with the lowest ratio, and this; None if there is none."""
    found = ratios(runs, size, peer)
    return min(found.items(), key=lambda item: item[1]) if found else None


def render(runs: Runs) -> list[str]:
    """Return the section: a table for each scale, with the geometric means."""
    lines = ["## TPC-H", ""]
    for size in SCALES:
        rows = [row for query in QUERIES if any((row := _row(runs, size, query))[1:])]
        if rows:
            lines += [f"Scale {size}:", "", *table(_HEADER, [*rows, _means(runs, size)]), ""]
    return [*lines, f"![Times as fast, by query](images/{PICTURE})"]


_HEADER: Final = [
    "Query",
    "Firesteel, s",
    *(cell for peer in PEERS for cell in (f"{peer}, s", "times as fast")),
    "CPU s",
    *(f"{peer}" for peer in PEERS),
    "memory, GiB",
    *(f"{peer}" for peer in PEERS),
]


def _row(runs: Runs, size: int, query: int) -> list[str]:
    def shown(system: str, name: str, form: str, unit: float = 1) -> str:
        found = runs.get(title(size, query, system))
        return format(middle(found, name) / unit, form) if found else ""

    cells = [f"q{query}", shown(OURS, "seconds", ".2f")]
    for peer in PEERS:
        times = ratios(runs, size, peer).get(query)
        cells += [shown(peer, "seconds", ".2f"), "" if times is None else f"{times:.1f}"]
    cells += [shown(system, "cpu", ".1f") for system in (OURS, *PEERS)]
    return cells + [shown(system, "bytes", ".1f", _GIB) for system in (OURS, *PEERS)]


def _means(runs: Runs, size: int) -> list[str]:
    cells = ["geometric mean", ""]
    for peer in PEERS:
        found = ratios(runs, size, peer)
        cells += ["", f"**{geometric_mean(found.values()):.1f}**" if found else ""]
    return cells + [""] * (2 * (1 + len(PEERS)))


def plot(runs: Runs, directory: Path) -> None:
    """Draw how many times as fast each query is at each scale."""
    plt = pyplot()
    sizes = [size for size in SCALES if any(ratios(runs, size, peer) for peer in PEERS)]
    picture, panels = plt.subplots(len(sizes) or 1, 1, figsize=(9, 3 * len(sizes) or 3), layout="constrained")
    for panel, size in zip([panels] if len(sizes) < 2 else panels, sizes, strict=False):
        for number, peer in enumerate(PEERS):
            found = ratios(runs, size, peer)
            places = [query + (number - 0.5) * 0.4 for query in QUERIES]
            label = f"{peer} (geometric mean {geometric_mean(found.values()):.1f})" if found else peer
            heights = [found.get(query, 0) for query in QUERIES]
            panel.bar(places, heights, 0.38, color=_COLOURS[peer], label=label)
        panel.axhline(1, color="0.3", linewidth=0.8)
        panel.set_xticks(list(QUERIES), [f"q{query}" for query in QUERIES])
        panel.set_ylabel(f"times as fast, scale {size}", fontsize=8)
        panel.tick_params(labelsize=8)
        panel.legend(fontsize=8)
    directory.mkdir(parents=True, exist_ok=True)
    picture.savefig(directory / PICTURE, dpi=120)
    plt.close(picture)
