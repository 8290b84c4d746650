"""The section of a scale on the page, and its picture, from the stored figures."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Final

from bench.part import Runs, middle
from bench.plots import pyplot
from bench.tables import table
from bench.tpch.data import QUERIES

OURS: Final = "Firesteel"
PEERS: Final = ("Flink SQL", "Spark SQL")
LIMIT: Final = 1.2
"""How many times Spark SQL's time a query may take."""

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


def render(runs: Runs, size: int) -> list[str]:
    """Return the section of a scale: a table of the queries, with the geometric means."""
    rows = [row for query in QUERIES if any((row := _row(runs, size, query))[1:])]
    table_of_rows = [*table(_HEADER, [*rows, _means(runs, size)]), ""] if rows else []
    return [
        f"## TPC-H, scale {size}",
        "",
        *table_of_rows,
        f"![Times as fast, by query, at scale {size}](images/{picture(size)})",
    ]


def picture(size: int) -> str:
    """Return the name of the picture of a scale."""
    return f"tpch-{size}.png"


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
    def stopped(system: str) -> str:
        return "> " if any(run.get("stopped") for run in runs.get(title(size, query, system), ())) else ""

    def shown(system: str, name: str, form: str, unit: float = 1) -> str:
        found = runs.get(title(size, query, system))
        return format(middle(found, name) / unit, form) if found and name in found[0] else ""

    cells = [f"q{query}", shown(OURS, "seconds", ".2f")]
    for peer in PEERS:
        times, more = ratios(runs, size, peer).get(query), stopped(peer)
        cells += [more + shown(peer, "seconds", ".2f"), "" if times is None else f"{more}{times:.1f}"]
    cells += [shown(system, "cpu", ".1f") for system in (OURS, *PEERS)]
    return cells + [shown(system, "bytes", ".1f", _GIB) for system in (OURS, *PEERS)]


def _means(runs: Runs, size: int) -> list[str]:
    cells = ["geometric mean", ""]
    for peer in PEERS:
        found = ratios(runs, size, peer)
        cells += ["", f"**{geometric_mean(found.values()):.1f}**" if found else ""]
    return cells + [""] * (2 * (1 + len(PEERS)))


def plot(runs: Runs, directory: Path, size: int) -> None:
    """Draw how many times as fast each query is."""
    plt = pyplot()
    drawing, panel = plt.subplots(figsize=(9, 3), layout="constrained")
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
    drawing.savefig(directory / picture(size), dpi=120)
    plt.close(drawing)
