"""The section of the page on loads that change."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.admission.scenarios import BY_NAME, SCENARIOS, Scenario
from bench.part import Case, Figures, Part, Runs
from bench.plots import pyplot
from bench.process import started
from bench.tables import table

TIMEOUT_SECONDS: Final = 600
TARGET_MS: Final = 1000

_WARM: Final = "#c8501e"
_COLD: Final = "#2a6f97"


def measure(scenario: Scenario, scale: float) -> dict[str, Figures]:
    """Run a scenario in its own process."""
    command = ["-m", "bench.admission.program", scenario.name, "--scale", scale]
    with started(f"admission, {scenario.name}", command, TIMEOUT_SECONDS) as process:
        output = process.output.read()
    return {scenario.name: json.loads(output.splitlines()[-1])}


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each scenario, then its curves."""
    measured = [(BY_NAME[name], figures) for name, figures in runs.items() if figures]
    header = [
        "Load",
        "capacity, records/s",
        "epoch before, ms",
        "epoch during the change, ms",
        "epoch under load, ms",
        "longest epoch, ms",
        "oldest record waited, ms",
        "largest backlog, records",
        "backlog gone after, s",
        "workers before, MiB",
        "workers' peak, MiB",
    ]
    rows = [[scenario.title, *_cells(figures)] for scenario, figures in measured]
    lines = ["## Loads that change", "", *table(header, rows), ""]
    for scenario, _ in measured:
        lines += [f"![{scenario.title}](images/admission-{scenario.name}.png)", ""]
    return lines


def _cells(runs: list[Figures]) -> list[str]:
    return [
        _number(runs, "capacity"),
        _number(runs, "usual_ms"),
        _number(runs, "changed_ms"),
        _number(runs, "loaded_ms"),
        _number(runs, "longest_ms"),
        _number(runs, "waited_ms"),
        _number(runs, "largest_backlog"),
        _number(runs, "caught_up_seconds", digits=1),
        _number(runs, "memory_before", 1 << 20),
        _number(runs, "peak_memory", 1 << 20),
    ]


def _number(runs: list[Figures], name: str, unit: float = 1, digits: int = 0) -> str:
    """Return the median of the runs that have this figure: without a backlog no epoch is under load."""
    values = [figures[name] for figures in runs if figures[name] is not None]
    return f"{median(values) / unit:,.{digits}f}" if values else "-"


def plot(runs: Runs, directory: Path) -> None:
    """Draw admission-<scenario>.png: four curves over time, of the scenario's first run."""
    plt = pyplot()

    directory.mkdir(parents=True, exist_ok=True)
    for name, figures in runs.items():
        if not figures:
            continue
        figure, panels = plt.subplots(4, 1, figsize=(7, 6.4), sharex=True)
        figure.suptitle(BY_NAME[name].title, fontsize=11)
        _draw(panels, figures[0], BY_NAME[name])
        figure.tight_layout()
        figure.savefig(directory / f"admission-{name}.png", dpi=90)
        plt.close(figure)


def _draw(panels: Any, run: Figures, scenario: Scenario) -> None:
    seconds = run["epoch_seconds"]
    pieces = [(lasts, rate) for lasts, rate in run["pieces"]]
    load, duration, backlog, memory = panels
    load.step(*_rates(pieces), where="post", color=_COLD, label="records/s that arrive")
    rates = [records / ms * 1000 for records, ms in zip(run["epoch_records"], run["epoch_ms"], strict=True)]
    load.plot(seconds, rates, ".-", color=_WARM, linewidth=0.8, label="records/s of each epoch")
    duration.plot(seconds, run["epoch_ms"], ".-", color=_WARM, linewidth=0.8, label="epoch, ms")
    duration.axhline(TARGET_MS, color="0.5", linestyle="--", linewidth=0.8, label="target")
    backlog.plot(seconds, run["epoch_records"], ".-", color=_WARM, linewidth=0.8, label="records of an epoch")
    backlog.plot(seconds, run["backlog"], color=_COLD, label="records left behind")
    mebibytes = [size / (1 << 20) for size in run["memory_bytes"]]
    memory.plot(run["memory_seconds"], mebibytes, color=_WARM, label="resident memory of all workers, MiB")
    memory.set_xlabel("seconds", fontsize=8)
    for panel in panels:
        panel.set_ylim(0, panel.get_ylim()[1] * 1.25)  # room for the legend
        panel.axvspan(*run["change"], color="0.93", label=scenario.changed if panel is load else None)
        panel.tick_params(labelsize=8)
        panel.grid(visible=True, color="0.9", linewidth=0.6)
        panel.legend(fontsize=7, loc="upper right", frameon=False)


def _rates(pieces: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the steps of the load: the start times of the rates, and the rates."""
    times, rates, at = [], [], 0.0
    for lasts, rate in pieces:
        times.append(at)
        rates.append(rate)
        at += lasts
    return [*times, at], [*rates, 0.0]


HOW: Final = f"""\
**Loads that change**: a keyed count in a `ValueState` with two subtasks. State is durable after every epoch, and every
result is counted and checked. Before each run the same job processes records that are all available at once; its rate
is the capacity, and the loads are fractions of it. Records arrive by the wall clock, whether they are read or not.
*Ten-fold load*: a quarter of the capacity, ten times that for four seconds, and a quarter again. *Slow sink*: a
quarter, and for six seconds the sink's writer waits 100 microseconds for each record. *Hot key*: three tenths, twice
that for six seconds, and three tenths again; from the sixth second, 90 % of all records have the same key, so one of
the subtasks gets 95 %. *Slow floor*: a quarter, and for 22 seconds each commit of the sink takes three seconds, however
few records there are. *Neighbour*: three tenths, and for 14 seconds two busy processes per core compete with the job.
*Trickle*: nothing, then ten records a second. Epochs have a target of {TARGET_MS} ms. An epoch counts as under load if
it leaves more records unread than arrive in that time at the initial rate. The backlog is the number of records that
have arrived and are not committed. The wait of the oldest record of an epoch is the time from its arrival to the
epoch's commit (the median since the change). Memory is the sum of the resident memory of all Python workers; it
increases by one process when the first compaction starts. The pictures show the first run of each scenario.
"""

PART: Final = Part(
    name="admission",
    title="Loads that change",
    cases=tuple(Case(scenario.name, partial(measure, scenario)) for scenario in SCENARIOS),
    render=render,
    how=HOW,
    plot=plot,
)
