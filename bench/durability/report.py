"""The figures about durability as parts of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Final

from bench.part import Figures, Runs
from bench.tables import table

_PLACE: Final = (
    "On `local[2]`, state on the local disk, every file flushed; each run in its own process. It starts from a "
    "savepoint of all keys, and at its end all records are in the counts."
)

HOW: Final = {
    "state-size": f"""\
A keyed count in a `ValueState` of type LONG. Every epoch has 20,000 records: 10,000 keys, drawn at random from all
keys, twice each. Compaction and the removal of garbage run with their default settings, once in the 120 measured epochs
(the 10 before them are left out). The time of an epoch is that from its planning to its publication; its bytes are
those of its runs and of its manifest. {_PLACE}""",
    "recovery": f"""\
The same job and its JVM are killed with SIGKILL in the middle of their work, and the same command is started again at
once. The time ends when the next epoch is published. On another machine the working copies are missing, and are created
again from the checkpoint. Files that were read before are in the page cache. {_PLACE}""",
    "rescale": f"""\
The parallelism of the same job is changed while it runs. The pause is the time between the last epoch published at the
old parallelism and the first at the new one, including the work of that epoch. {_PLACE}""",
}


def render_state_size(runs: Runs) -> list[str]:
    """Return the section about epochs over states of different sizes."""
    header = ["State", "Epoch, median", "95th percentile", "Checkpoint, bytes", "Compaction, bytes per epoch"]
    header += ["First epoch, from a savepoint"]
    times = [_medians(figures)("median_ms") for figures in runs.values()]
    sizes = [_checkpoint(figures) for figures in runs.values()]
    changed, records = (next(iter(runs.values()))[0][name] for name in ("changed", "records"))
    said = (
        f"Epochs of {records:,} records that change {changed:,} keys, for every size of the state; the slowest "
        f"median is {max(times) / min(times):.2f} times the fastest, the largest checkpoint "
        f"{max(sizes) / min(sizes):.2f} times the smallest:"
    )
    return [
        "## Epochs over states of different sizes",
        "",
        said,
        "",
        *table(header, [_size(title, figures) for title, figures in runs.items()]),
        "",
    ]


def _size(title: str, figures: list[Figures]) -> list[str]:
    value = _medians(figures)
    return [
        title,
        f"{value('median_ms'):,.0f} ms",
        f"{value('p95_ms'):,.0f} ms",
        f"{_checkpoint(figures):,.0f}",
        f"{value('compaction_bytes') / len(figures[0]['epochs_ms']):,.0f}",
        f"{value('first_ms') / 1000:,.1f} s",
    ]


def render_recovery(runs: Runs) -> list[str]:
    """Return the section about recovery."""
    columns = ["seconds", "python", "session", "first_epoch", "usual_epoch"]
    header = ["Started again on", "To the next epoch", "Python and imports", "Spark's session", "First epoch"]
    return [
        "## Recovery after a kill",
        "",
        f"From SIGKILL of the driver to the next epoch, with {_keys(runs)} keys of state:",
        "",
        *_seconds([*header, "Later epochs"], columns, runs),
    ]


def render_rescale(runs: Runs) -> list[str]:
    """Return the section about changes of parallelism."""
    columns = ["seconds", "epoch_before", "epoch_after"]
    return [
        "## Change of a running job's parallelism",
        "",
        f"With {_keys(runs)} keys of state:",
        "",
        *_seconds(["Parallelism", "Pause", "Epochs before", "Epochs after"], columns, runs),
    ]


def _seconds(header: list[str], columns: list[str], runs: Runs) -> list[str]:
    rows = [
        [title, *(f"{_medians(figures)(column):.2f} s" for column in columns)]
        for title, figures in runs.items()
    ]
    return [*table(header, rows), ""]


def _keys(runs: Runs) -> str:
    return f"{next(iter(runs.values()))[0]['keys']:,}"


def _medians(figures: list[Figures]) -> Callable[[str], float]:
    def value(name: str) -> float:
        values: list[float] = [run[name] for run in figures]
        return median(values)

    return value


def _checkpoint(figures: list[Figures]) -> float:
    sizes: list[float] = [run["run_bytes"] + run["manifest_bytes"] for run in figures]
    return median(sizes)
