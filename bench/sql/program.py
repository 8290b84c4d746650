"""Runs one query on one system, over few rows and over many, and prints its figures as one line of JSON.

The program is PyFlink's; on Firesteel it runs by the alias.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.sql.queries import BY_NAME, Query, insert, statements, write_lines
from bench.sql_systems import FILES, environment

_FLINK: Final = {"table.exec.mini-batch.allow-latency": "1 s", "table.exec.mini-batch.size": "100000"}


def run(env: Any, query: Query, rows: int, folder: Path) -> tuple[float, int | None]:
    """Run the query over so many rows; return its seconds, and how many rows it must have written (None: unknown)."""
    expected = write_lines(rows, str(folder)) if query.kind == "files" else None
    for statement in statements(query, rows, str(folder)):
        env.execute_sql(statement)
    began = time.perf_counter()
    env.execute_sql(insert(query)).wait()
    return time.perf_counter() - began, expected


def written(folder: Path) -> int:
    """Return the number of rows of the Parquet files below a folder."""
    parquet = importlib.import_module("pyarrow.parquet")
    parts = [
        path
        for path in (folder / "out").rglob("*")
        if path.is_file() and not path.name.startswith((".", "_"))
    ]
    return sum(parquet.read_metadata(path).num_rows for path in parts)


def main() -> None:
    """Run the query that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=("firesteel", "flink"))
    parser.add_argument("query", choices=BY_NAME)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    query = BY_NAME[arguments.query]
    sizes = [max(int(rows * arguments.scale), 1000) for rows in query.rows]
    scratch = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
    try:
        env = environment(arguments.system, scratch, _FLINK | (FILES if query.kind == "files" else {}))
        seconds = []
        for number, rows in enumerate([sizes[0], *sizes]):  # the first job starts the system
            folder = scratch / f"files-{number}"
            took, expected = run(env, query, rows, folder)
            seconds.append(took)
            if expected is not None and (got := written(folder)) != expected:
                raise SystemExit(f"{query.title}: {got} rows were written, not {expected}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps({"rows": sizes, "seconds": [round(took, 3) for took in seconds[1:]]}), flush=True)


if __name__ == "__main__":
    main()
