"""Small epochs of a grouped query: `python -m bench.sql.epochs --keys 1000` prints the figures as one line of JSON.

The query first gets one row for each key, in few large epochs, and is stopped. The same query is then started again
over the same state, with epochs of exactly 1,000 rows that change 1,000 groups each.
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

from bench.epochs import watched

ROWS: Final = 1000
"""Rows of a small epoch."""

WARM_UP: Final = 30
EPOCHS: Final = 150
_FILLING: Final = 1_000_000
_SPREAD: Final = 7919  # a prime: the keys of an epoch lie anywhere among all keys
_INSERT: Final = "INSERT INTO sink SELECT k, COUNT(*), SUM(id) FROM source GROUP BY k"


def _tables(keys: int) -> tuple[str, str]:
    return (
        f"""CREATE TABLE source (id BIGINT, k AS MOD(id * {_SPREAD}, {keys})) WITH (
            'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '0', 'fields.id.end' = '1000000000000')""",
        """CREATE TABLE sink (k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
            WITH ('connector' = 'blackhole')""",
    )


def run(keys: int, count: int, warm_up: int) -> dict[str, Any]:
    """Measure small epochs over a state of so many keys. Exits if an epoch has another number of rows."""
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        states = Path(scratch) / "states"
        over_keys = partial(watched, states, tables=_tables(keys), insert=_INSERT)
        over_keys(_FILLING, enough=lambda heard: sum(epoch.rows for epoch in heard) >= keys)
        heard = over_keys(ROWS, enough=lambda heard: len(heard) == warm_up + count).heard
    measured = heard[warm_up:]
    if {epoch.rows for epoch in measured} != {ROWS}:
        sys.exit(f"epochs of {[epoch.rows for epoch in heard]} rows, not of {ROWS}")
    durations = [epoch.ms for epoch in measured]
    return {
        "keys": keys,
        "median_ms": round(median(durations), 1),
        "p95_ms": round(quantiles(durations, n=20)[-1], 1),
        "run_bytes": round(fmean(epoch.written.runs for epoch in measured)),
        "manifest_bytes": round(fmean(epoch.written.manifest for epoch in measured)),
        "epochs_ms": [round(duration, 1) for duration in durations],
    }


def main() -> None:
    """Run the query over the number of keys that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.sql.epochs", description=__doc__)
    parser.add_argument("--keys", type=int, default=ROWS, help="at least as many as an epoch has rows")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="epochs before them that do not count")
    arguments = parser.parse_args()
    print(json.dumps(run(arguments.keys, arguments.epochs, arguments.warm_up)), flush=True)


if __name__ == "__main__":
    main()
