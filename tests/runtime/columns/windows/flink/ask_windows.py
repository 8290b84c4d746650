"""Ask real Flink what queries with windows give; the answers are in windows.jsonl.

    /path/to/venv/bin/python tests/runtime/columns/windows/flink/ask_windows.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH. A
line has the query and its rows as texts, in order of these; or the error's message. Queries that have an answer are not
asked again.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from windows import QUERIES, TABLES

HERE = Path(__file__).parent


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.local-time-zone", "America/Los_Angeles")
    with tempfile.TemporaryDirectory() as directory:
        for name, (rows, columns) in TABLES.items():
            path = Path(directory, f"{name}.csv")
            path.write_text(rows.lstrip())
            env.execute_sql(
                f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
                "'format' = 'csv', 'csv.null-literal' = '')"
            )
        path = HERE / "windows.jsonl"
        known = (
            {line["query"] for line in map(json.loads, path.read_text().splitlines())}
            if path.exists()
            else set()
        )
        with path.open("a") as file:
            for query in QUERIES:
                if query not in known:
                    file.write(json.dumps(answer(env, query)) + "\n")
                    file.flush()


def answer(env: TableEnvironment, query: str) -> dict[str, object]:
    """Return the query with Flink's rows or error."""
    try:
        with env.execute_sql(query).collect() as results:
            rows = [[None if value is None else str(value) for value in row] for row in results]
    except Exception as error:
        lines = [line for line in str(error).splitlines() if "Exception" in line]
        return {"query": query, "error": lines[-1].strip() if lines else str(error)[:300]}
    return {"query": query, "rows": sorted(rows, key=str)}


if __name__ == "__main__":
    main()
