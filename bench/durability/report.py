"""The figures about durability as parts of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from bench.tables import table

Results = dict[str, Any]
Runs = list[dict[str, Any]]

HOW = {
    "state-size": """\
- **size of state**: a keyed count in a `ValueState` of type LONG. Every epoch has {records} records: {changed} keys,
  drawn at random from all keys there are, twice each. Compaction and the removal of garbage run as they do by default,
  once in the epochs that are measured ({epochs}, after 10 that are left out). An epoch's time is that from its
  planning until it is published; its bytes are those of its runs and of its manifest.""",
    "recovery": """\
- **recovery**: the same job is killed with SIGKILL, its JVM too, in the middle of its work, and the same command is
  started again at once. The time ends with the next epoch that is published. On another machine the working copies are
  missing, and are made again from the checkpoint. Files that were read before are in the page cache.""",
    "rescale": """\
- **rescale**: the same job is asked for another parallelism while it runs. The pause is the time between the last
  epoch published at the old parallelism and the first at the new one, that epoch's own work included.""",
}


def render_durability(parts: Results) -> list[str]:
    """The sections with the figures of those parts that were measured."""
    sections = {"state-size": _state_size, "recovery": _recovery, "rescale": _rescale}
    lines: list[str] = []
    for name, render in sections.items():
        cases = _cases(parts, name)
        lines += render(cases) if cases else []
    return ["## State that survives", "", *lines] if lines else []


def how_durability(parts: Results) -> list[str]:
    """How those figures were measured."""
    measured = [name for name in HOW if _cases(parts, name)]
    if not measured:
        return []
    lines = [
        "",
        "What is durable (`local[2]`, state on the local disk, every file flushed; each run a process of its own):",
        "",
    ]
    numbers = _numbers(parts)
    for name in measured:
        lines += HOW[name].format(**numbers).splitlines()
    return [
        *lines,
        "",
        "Each run begins with a savepoint of all keys, and at its end all records are in the counts.",
    ]


def _numbers(parts: Results) -> dict[str, str]:
    cases = _cases(parts, "state-size")
    if not cases:
        return {}
    figures = next(iter(cases.values()))[0]
    return {
        "records": f"{figures['records']:,}",
        "changed": f"{figures['changed']:,}",
        "epochs": str(len(figures["epochs_ms"].split())),
    }


def runs_of_durability(parts: Results) -> list[str]:
    """Each run's figures."""
    main = {"state-size": ("median_ms", "ms"), "recovery": ("seconds", "s"), "rescale": ("seconds", "s")}
    rows = [
        [f"{name}: {title}", ", ".join(f"{run[figure]:,} {unit}" for run in runs)]
        for name, (figure, unit) in main.items()
        for title, runs in _cases(parts, name).items()
    ]
    return [*table(["", "Epoch, time to recover, pause"], rows), ""] if rows else []


def _state_size(cases: dict[str, Runs]) -> list[str]:
    def row(title: str, runs: Runs) -> list[str]:
        value = _medians(runs)
        epochs = len(runs[0]["epochs_ms"].split())
        return [
            title,
            f"{value('median_ms'):,.0f} ms",
            f"{value('p95_ms'):,.0f} ms",
            f"{_checkpoint(runs):,.0f}",
            f"{value('compaction_bytes') / epochs:,.0f}",
            f"{value('first_ms') / 1000:,.1f} s",
        ]

    header = ["State", "Epoch, median", "95th percentile", "Checkpoint, bytes", "Compaction, bytes per epoch"]
    header += ["First epoch, from a savepoint"]
    times = [_medians(runs)("median_ms") for runs in cases.values()]
    sizes = [_checkpoint(runs) for runs in cases.values()]
    changed, records = (next(iter(cases.values()))[0][name] for name in ("changed", "records"))
    said = (
        f"Epochs of {records:,} records that change {changed:,} keys, whatever the size of the state; the slowest "
        f"median is {max(times) / min(times):.2f} times the fastest, the largest checkpoint "
        f"{max(sizes) / min(sizes):.2f} times the smallest:"
    )
    return [
        said,
        "",
        *table(header, [row(title, runs) for title, runs in cases.items()]),
        "",
    ]


def _recovery(cases: dict[str, Runs]) -> list[str]:
    columns = ["seconds", "python", "session", "first_epoch", "usual_epoch"]
    header = ["Started again on", "To the next epoch", "Python and imports", "Spark's session", "First epoch"]
    return [
        f"From SIGKILL of the driver to the next epoch, with {_keys(cases)} keys of state:",
        "",
        *_seconds([*header, "Later epochs"], columns, cases),
    ]


def _rescale(cases: dict[str, Runs]) -> list[str]:
    columns = ["seconds", "epoch_before", "epoch_after"]
    return [
        f"Change of a running job's parallelism, with {_keys(cases)} keys of state:",
        "",
        *_seconds(["Parallelism", "Pause", "Epochs before", "Epochs after"], columns, cases),
    ]


def _seconds(header: list[str], columns: list[str], cases: dict[str, Runs]) -> list[str]:
    rows = [
        [title, *(f"{_medians(runs)(column):.2f} s" for column in columns)] for title, runs in cases.items()
    ]
    return [*table(header, rows), ""]


def _keys(cases: dict[str, Runs]) -> str:
    return f"{next(iter(cases.values()))[0]['keys']:,}"


def _medians(runs: Runs) -> Callable[[str], float]:
    return lambda figure: median(run[figure] for run in runs)


def _checkpoint(runs: Runs) -> float:
    return median(run["run_bytes"] + run["manifest_bytes"] for run in runs)


def _cases(parts: Results, name: str) -> dict[str, Runs]:
    cases: dict[str, Runs] = parts.get(name, {"cases": {}})["cases"]
    return {title: runs for title, runs in cases.items() if runs}
