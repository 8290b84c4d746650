"""An inner join over large state: `python -m bench.joins.program --rows 10000000` prints its figures as JSON.

The join first gets `rows` rows on each side, each with a key of its own that both sides have, in large epochs, and is
stopped. The same join is then started again over the same state, with epochs of exactly so many changes: rows of both
sides, half and half, each of which finds one row of the other side. The number of all results is checked.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, Final

from bench.epochs import Epoch, watched

ROWS: Final = 10_000_000
"""Rows of each side in state."""

CHANGES: Final = 100_000
"""Changes of an epoch, of both sides together."""

WARM_UP: Final = 10
EPOCHS: Final = 60
_FILLING: Final = 1_000_000
_SPREAD: Final = 7919  # a prime: the keys of an epoch lie anywhere among all keys
_INSERT: Final = """INSERT INTO sink SELECT orders.id, orders.k, customer, shipments.id, carrier
    FROM orders JOIN shipments ON orders.k = shipments.k"""


def tables(rows: int) -> tuple[str, ...]:
    """Return the statements for the tables; the keys of the second one are half a round behind those of the first."""
    return (
        _side("orders", "customer", rows, 0),
        _side("shipments", "carrier", rows, rows // 2),
        """CREATE TABLE sink (id BIGINT, k BIGINT, customer STRING, shipment BIGINT, carrier STRING)
            WITH ('connector' = 'blackhole')""",
    )


def _side(name: str, text: str, rows: int, behind: int) -> str:
    return f"""CREATE TABLE {name} (
            id BIGINT, k AS MOD((id + {behind}) * {_SPREAD}, {rows}),
            {text} AS CONCAT('{text}-', CAST(id AS STRING))
        ) WITH (
            'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '0', 'fields.id.end' = '1000000000000')"""


def expected(rows: int, read: int) -> int:
    """Return how many pairs have the same key once so many rows of each side are read, for an even number of `rows`.

    >>> [expected(4, read) for read in (1, 2, 3, 4, 5, 8)]
    [0, 0, 2, 4, 6, 16]
    """
    rounds, rest = divmod(read, rows)
    both = max(2 * rest - rows, 0)  # keys that both sides have once more
    return rows * rounds * rounds + 2 * rounds * rest + both


def run(rows: int, changes: int, count: int, warm_up: int) -> dict[str, Any]:
    """Measure epochs of so many changes over so many rows of each side. Exits if a result or an epoch is wrong."""
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        states = Path(scratch) / "states"
        # The most rows of an epoch are those of each source.
        over_rows = partial(watched, states, tables=tables(rows), insert=_INSERT)
        filled = over_rows(
            min(_FILLING, rows) // 2, enough=lambda heard: sum(epoch.rows for epoch in heard) >= 2 * rows
        )
        changed = over_rows(changes // 2, enough=lambda heard: len(heard) == warm_up + count)
    _check(rows, [*filled.heard, *changed.heard])
    measured = changed.heard[warm_up:]
    if {epoch.rows for epoch in measured} != {changes}:
        sys.exit(f"epochs of {[epoch.rows for epoch in measured]} rows, not of {changes}")
    first, last = changed.heard[warm_up - 1], measured[-1]
    durations = [epoch.ms for epoch in measured]
    return {
        "rows": rows,
        "changes": changes,
        "rate": round(changes * count / (last.at - first.at)),
        "cpu_us": round((last.cpu - first.cpu) / count / changes * 1e6, 2),
        "median_ms": round(median(durations), 1),
        "p95_ms": round(quantiles(durations, n=20)[-1], 1),
        "first_ms": round(changed.heard[0].ms, 1),
        "run_bytes": round(fmean(epoch.written.runs for epoch in measured) / changes, 1),
        "manifest_bytes": round(fmean(epoch.written.manifest for epoch in measured) / changes, 2),
        "compaction_bytes": round(sum(epoch.written.compaction for epoch in measured) / count / changes, 1),
        "filled_rate": round(_rate(filled.heard)),
        "state_bytes": filled.state_bytes,
        "epochs_ms": [round(duration, 1) for duration in durations],
    }


def _read(heard: list[Epoch]) -> int:
    return sum(epoch.rows for epoch in heard)


def _rate(heard: list[Epoch]) -> float:
    return _read(heard[1:]) / max(heard[-1].at - heard[0].at, 1e-9)


def _check(rows: int, heard: list[Epoch]) -> None:
    read, odd = divmod(_read(heard), 2)
    results = sum(epoch.results for epoch in heard)
    if odd or results != expected(rows, read):
        sys.exit(f"{results:,} results of {read:,} rows of each side, not {expected(rows, read):,}")


def main() -> None:
    """Run the join that the command line describes."""
    parser = argparse.ArgumentParser(prog="python -m bench.joins.program", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="of each side, an even number")
    parser.add_argument("--changes", type=int, default=CHANGES, help="of an epoch")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="epochs before them that do not count")
    arguments = parser.parse_args()
    figures = run(arguments.rows, arguments.changes, arguments.epochs, arguments.warm_up)
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
