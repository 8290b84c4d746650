"""The section of the page about joins over large state."""

from __future__ import annotations

from typing import Final

from bench.part import Figures, Runs, middle
from bench.tables import table

_MIB: Final = 1 << 20


def title(rows: int) -> str:
    """Return the title of the runs with so many rows of each side."""
    return f"{rows:,} rows of each side"


def largest(runs: Runs) -> tuple[str, list[Figures]] | None:
    """Return the title and the runs with the most rows; None if nothing was measured."""
    found = {name: figures for name, figures in runs.items() if figures}
    return max(found.items(), key=lambda item: item[1][0]["rows"]) if found else None


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each size of the state."""
    header = [
        *("Rows of each side", "Changes/s", "CPU µs a change", "Epoch, median ms", "95th percentile"),
        *("Bytes of changes, a change", "of manifests", "of compaction", "State, MiB", "Largest worker, MiB"),
    ]
    rows = [_row(figures) for figures in runs.values() if figures]
    found = largest(runs)
    changes = f"{found[1][0]['changes']:,}" if found else "many"
    said = f"Epochs of {changes} changes, half of them on each side of an inner join:"
    return ["## Joins over large state", "", said, "", *table(header, rows), ""]


def _row(figures: list[Figures]) -> list[str]:
    shown = [f"{middle(figures, name):,.0f}" for name in ("rows", "rate")]
    shown.append(f"{middle(figures, 'cpu_us'):,.2f}")
    shown += [f"{middle(figures, name):,.0f}" for name in ("median_ms", "p95_ms")]
    shown.append(f"{middle(figures, 'run_bytes'):,.1f}")
    shown.append(f"{middle(figures, 'manifest_bytes'):,.2f}")
    shown.append(f"{middle(figures, 'compaction_bytes'):,.1f}")
    return shown + [f"{middle(figures, name) / _MIB:,.0f}" for name in ("state_bytes", "worker_bytes")]


HOW: Final = """\
`SELECT ... FROM orders JOIN shipments ON orders.k = shipments.k` in STREAMING mode on Firesteel, with two subtasks: a
regular join, so every row of both sides stays in state. A row has two numbers and a text; it is generated, and results
go to `blackhole`. Each side first gets a row for each key, in large epochs; then the query is stopped, and started
again over its state with epochs of exactly so many changes. A change is a row whose key lies anywhere among all keys
and finds one row of the other side. The number of all results is checked. The first 10 epochs are left out. State is
durable after every epoch; the rate is that from the publication of one epoch to the publication of the last, and the
processor time is that of all processes. Bytes are those that an epoch writes into the state directory, divided by its
changes: changes of state, manifests, and what compaction merged meanwhile. A worker's memory is the peak resident
memory of the largest Python worker, filling included; pages of the working copy on disk that are mapped into it count.
"""
