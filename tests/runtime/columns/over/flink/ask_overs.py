"""Ask real Flink what queries with OVER give; the answers are in overs.jsonl.

    /path/to/venv/bin/python tests/runtime/columns/over/flink/ask_overs.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH. A
line has the mode, an OVER, the type of its column, and its values by id as the texts of CAST AS STRING; or the error's
message. What has an answer is not asked again.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from overs import COLUMNS, QUERIES, rows
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def main() -> None:
    """Write the answers."""
    path = HERE / "overs.jsonl"
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    known = {(line["mode"], line["over"]) for line in lines}
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "rows.json").write_text("\n".join(rows()) + "\n")
        for mode, overs in QUERIES:
            asked = [over for over in overs if (mode, over) not in known]
            if asked:
                env = environment(mode, directory)
                with path.open("a") as file:
                    for over, found in answers(env, asked):
                        line = {"mode": mode, "over": over, **found}
                        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def environment(mode: str, directory: str) -> TableEnvironment:
    """Return an environment with the table."""
    env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{directory}', "
        "'format' = 'json', 'json.timestamp-format.standard' = 'SQL')"
    )
    return env


def answers(env: TableEnvironment, overs: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return Flink's types and values, or its error; of what it refuses together, each half is asked by itself."""
    names = [f"r{number}" for number in range(len(overs))]
    columns = ", ".join(f"{over} AS {name}" for over, name in zip(overs, names, strict=True))
    try:
        env.create_temporary_view("answered", env.sql_query(f"SELECT id, {columns} FROM t"))
        with env.execute_sql("DESCRIBE answered").collect() as described:
            types = [f"{column[1]}{'' if column[2] else ' NOT NULL'}" for column in described][1:]
        casts = ", ".join(f"CAST({name} AS STRING)" for name in names)
        with env.execute_sql(f"SELECT id, {casts} FROM answered").collect() as results:
            found = {row[0]: list(row)[1:] for row in results}
    except Exception as error:
        if len(overs) > 1:
            half = len(overs) // 2
            env.drop_temporary_view("answered")
            return answers(env, overs[:half]) + answers(env, overs[half:])
        lines = [line for line in str(error).splitlines() if "Exception" in line]
        return [(overs[0], {"error": lines[-1].strip()[:300] if lines else str(error)[:300]})]
    finally:
        env.drop_temporary_view("answered")
    return [
        (over, {"type": kind, "values": {str(key): found[key][place] for key in sorted(found)}})
        for place, (over, kind) in enumerate(zip(overs, types, strict=True))
    ]


if __name__ == "__main__":
    main()
