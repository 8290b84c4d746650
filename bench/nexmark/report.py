"""The section of the page, and its picture, from the stored figures."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean, median
from typing import Final

from bench.nexmark.files import FORMATS
from bench.nexmark.queries import QUERIES
from bench.part import Runs
from bench.plots import pyplot
from bench.tables import table

PICTURE: Final = "nexmark.png"
OURS: Final = "Firesteel"
THEIRS: Final = "Flink SQL"
AIM: Final = 5
NAMES: Final = {"parquet": "Parquet", "json": "JSON"}
_COLOURS: Final = {"parquet": "#c8501e", "json": "#3a6ea5"}
_GIB: Final = 1 << 30


def title(query: str, kind: str, system: str) -> str:
    """Return the title of the runs of a query."""
    return f"{query}, {kind}, {system}"


def figure(runs: Runs, query: str, kind: str, system: str, name: str) -> float | None:
    """Return the median of a figure; None if it was not measured."""
    found = runs.get(title(query, kind, system))
    return median(run[name] for run in found) if found else None


def ratios(runs: Runs, kind: str) -> dict[str, float]:
    """Return how many times Flink's rate Firesteel's is, by query."""
    found = {}
    for query in QUERIES:
        ours, theirs = (figure(runs, query.name, kind, system, "rate") for system in (OURS, THEIRS))
        if ours and theirs:
            found[query.name] = ours / theirs
    return found


def mean(runs: Runs, kind: str) -> float | None:
    """Return the geometric mean of the ratios; None if there are none."""
    found = ratios(runs, kind)
    return geometric_mean(found.values()) if found else None


def lowest(runs: Runs) -> tuple[str, float] | None:
    """Return the lowest ratio, with its query and format; None if there are none."""
    found = {
        f"{query} from {NAMES[kind]}": ratio
        for kind in FORMATS
        for query, ratio in ratios(runs, kind).items()
    }
    return min(found.items(), key=lambda item: item[1]) if found else None


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each query, and the geometric means."""
    header = ["Query"]
    for kind in FORMATS:
        header += [f"{NAMES[kind]}: Firesteel, events/s", "Flink SQL", "times as fast"]
    header += ["CPU µs an event", "Flink SQL", "memory, GiB", "Flink SQL"]
    rows = [_row(runs, query.name, query.title) for query in QUERIES]
    rows = [row for row in rows if any(row[1:])]
    means = [mean(runs, kind) for kind in FORMATS]
    last = ["geometric mean"]
    for value in means:
        last += ["", "", "" if value is None else f"**{value:.1f}**"]
    refused = [f"{query.name} ({query.refused})" for query in QUERIES if query.refused]
    said = f"Flink SQL does not run {', '.join(refused)}. CPU and memory are those with Parquet."
    picture = f"![Times Flink's rate, by query](images/{PICTURE})"
    return ["## Nexmark", "", *table(header, [*rows, [*last, "", "", "", ""]]), "", said, "", picture]


def _row(runs: Runs, query: str, about: str) -> list[str]:
    cells = [f"{query}: {about}"]
    for kind in FORMATS:
        cells += [_shown(figure(runs, query, kind, system, "rate")) for system in (OURS, THEIRS)]
        ratio = ratios(runs, kind).get(query)
        cells.append("" if ratio is None else f"{ratio:.1f}")
    used = [figure(runs, query, FORMATS[0], system, "cpu_us") for system in (OURS, THEIRS)]
    held = [figure(runs, query, FORMATS[0], system, "bytes") for system in (OURS, THEIRS)]
    cells += ["" if value is None else f"{value:.2f}" for value in used]
    return cells + ["" if value is None else f"{value / _GIB:.1f}" for value in held]


def _shown(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.0f}"


def plot(runs: Runs, directory: Path) -> None:
    """Draw how many times as fast as Flink each query is."""
    plt = pyplot()
    picture, panel = plt.subplots(figsize=(9, 3.2), layout="constrained")
    names = [query.name for query in QUERIES if any(query.name in ratios(runs, kind) for kind in FORMATS)]
    for number, kind in enumerate(FORMATS):
        found = ratios(runs, kind)
        places = [place + (number - 0.5) * 0.4 for place in range(len(names))]
        average = mean(runs, kind)
        label = NAMES[kind] if average is None else f"{NAMES[kind]} (geometric mean {average:.1f})"
        panel.bar(places, [found.get(name, 0) for name in names], 0.38, color=_COLOURS[kind], label=label)
    panel.axhline(1, color="0.3", linewidth=0.8)
    panel.axhline(AIM, color="0.3", linewidth=0.8, linestyle="--")
    panel.set_xticks(range(len(names)), names)
    panel.set_ylabel("times Flink SQL's rate", fontsize=8)
    panel.tick_params(labelsize=8)
    panel.legend(fontsize=8)
    directory.mkdir(parents=True, exist_ok=True)
    picture.savefig(directory / PICTURE, dpi=120)
    plt.close(picture)
