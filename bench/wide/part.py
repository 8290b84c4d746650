"""The part: epochs of the same records at growing parallelism, and the section made from their figures."""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.part import Case, Figures, Part, Runs, middle
from bench.process import printed
from bench.tables import table
from bench.wide.job import CORES, EPOCHS, RECORDS, WARM_UP

WIDTHS: Final = (2, 8, 32, 128, 256)
TIMEOUT_SECONDS: Final = 900

_LEAST_EPOCHS: Final = 5
_COLUMNS: Final = {
    "epoch_ms": "epoch, ms",
    "worker_cpu_ms": "workers, CPU ms",
    "jvm_cpu_ms": "JVM, CPU ms",
    "driver_cpu_ms": "driver's Python, CPU ms",
    "manifest_bytes": "manifest, bytes",
    "run_bytes": "a run, bytes",
}


def measure(width: int, scale: float) -> dict[str, Figures]:
    """Run the job at one parallelism in its own process."""
    warm_up = max(round(WARM_UP * min(scale, 1)), 1)
    epochs = max(round(EPOCHS * min(scale, 1)), _LEAST_EPOCHS)
    command = ["-m", "bench.wide.job", width, "--epochs", epochs, "--warm-up", warm_up]
    return {str(width): printed(f"wide, {width}", command, TIMEOUT_SECONDS)}


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each parallelism, and the cost of each further subtask."""
    measured = {int(title): figures for title, figures in runs.items() if figures}
    rows = [
        [f"{width:,}", *(f"{middle(figures, name):,.0f}" for name in _COLUMNS)]
        for width, figures in sorted(measured.items())
    ]
    lines = ["## Wide jobs", "", *table(["Subtasks", *_COLUMNS.values()], rows), ""]
    if len(measured) > 1:
        least, most = min(measured), max(measured)
        each = {
            name: (middle(measured[most], name) - middle(measured[least], name)) / (most - least)
            for name in _COLUMNS
        }
        cost = (
            f"Each further subtask costs an epoch {each['worker_cpu_ms']:,.1f} ms of processor time in the workers, "
            f"{each['jvm_cpu_ms']:,.1f} ms in the JVM, {each['driver_cpu_ms']:,.2f} ms in the driver's Python, and "
            f"{each['manifest_bytes']:,.0f} bytes of the manifest."
        )
        lines += [cost, ""]
    return lines


HOW: Final = f"""\
**Wide jobs**: a keyed count in a `ValueState` with one exchange, so that each subtask is two tasks, at growing
parallelism on the same {CORES} cores. Every epoch has the same {RECORDS:,} records of 1,000 keys. State is written and
a manifest committed each time, and every result is checked. Processor time is the time that the operating system counts
for the processes, from the end of epoch {WARM_UP} to the end of the last but one; the bytes of a manifest are the
median of all manifests.
"""

PART: Final = Part(
    name="wide",
    title="Wide jobs",
    cases=tuple(Case(f"{width} subtasks", partial(measure, width)) for width in WIDTHS),
    render=render,
    how=HOW,
)
