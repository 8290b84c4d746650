"""Asks real Flink what the queries answer: `python ask_answers.py`, with apache-flink 2.3 on the path.

Each line of answers.jsonl has the query, the names and types of its columns, and its `rows`: the table at the end, in
STREAMING mode, as texts (Flink's CAST to STRING of each column), sorted, each as often as it is in the table. `batch`
has the rows of BATCH mode if they are others. What Flink refuses has its message instead. Only queries that are not in
answers.jsonl are asked; without the file, all are.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import cloudpickle
import functions
import pyflink.table.udf  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment
from statements import definitions, queries

cloudpickle.register_pickle_by_value(functions)  # workers cannot import it
ANSWERS = Path(__file__).parent / "answers.jsonl"


def answer(env: Any, query: str) -> dict[str, Any]:
    try:
        env.create_temporary_view("answered", env.sql_query(query))
        try:
            return _rows(env)
        finally:
            env.drop_temporary_view("answered")
    except Exception as error:
        return {"refused": message(error)}


def _rows(env: Any) -> dict[str, Any]:
    with env.execute_sql("DESCRIBE answered").collect() as columns:
        described = [(column[0], f"{column[1]}{'' if column[2] else ' NOT NULL'}") for column in columns]
    names, types = (list(part) for part in zip(*described, strict=True))
    casts = ", ".join(f"CAST(`{name}` AS STRING)" for name in names)
    rows: Counter[tuple[str | None, ...]] = Counter()
    with env.sql_query(f"SELECT {casts} FROM answered").execute().collect() as results:
        for row in results:
            rows[tuple(row)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    assert min(rows.values(), default=1) >= 0
    table = sorted(
        map(list, rows.elements()), key=lambda row: [(cell is not None, cell or "") for cell in row]
    )
    return {"names": names, "types": types, "rows": table}


def message(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Exception:" in line]
    return lines[-1] if lines else str(error).splitlines()[0]


def environment(settings: Any) -> Any:
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    env.get_config().set("python.executable", sys.executable)
    for statement in definitions():
        env.execute_sql(statement)
    for name, function in functions.functions(pyflink.table).items():
        env.create_temporary_function(name, function)
    return env


def asked(streaming: Any, batch: Any, query: str) -> dict[str, Any]:
    found = answer(streaming, query)
    if "refused" in found:
        return found
    other = answer(batch, query)
    if other.get("rows") != found["rows"]:
        found["batch"] = other.get("rows", other)
    return found


def main() -> None:
    streaming = environment(EnvironmentSettings.in_streaming_mode())
    batch = environment(EnvironmentSettings.in_batch_mode())
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    known = {given["query"]: given for given in map(json.loads, lines)}
    with ANSWERS.open("w", encoding="utf-8") as file:
        for subject, query in queries():
            if query not in known:
                known[query] = {"subject": subject, "query": query, **asked(streaming, batch, query)}
                print(subject, "|", query, flush=True)
            file.write(json.dumps(known[query], ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
