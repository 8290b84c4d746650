"""Asks real Flink what the queries answer: `python ask_answers.py`, with apache-flink 2.3 on the path.

Each line of answers.jsonl has the query, the names and types of its columns, and its `rows`: the table at the end, in
STREAMING mode, as texts (Flink's CAST to STRING of each column), sorted, each as often as it is in the table. `batch`
has the rows of BATCH mode if they are others. What Flink refuses has its message instead. Only queries that are not in
answers.jsonl are asked, all as INSERTs of one job for each mode; without the file, all are.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]
from statements import definitions, queries

ANSWERS = Path(__file__).parent / "answers.jsonl"
NOT_COMPILED = "RANGE BETWEEN INTERVAL"
"""What Flink 2.3 plans in BATCH mode, but makes code of that Java does not take."""

MODES = ("streaming", "batch")
PRINTED = re.compile(r"^q(\d+)> ([+-][IUD])\[(.*)\]$", re.MULTILINE)
NULL, NEXT = "<NULL>", "|"


def environment(mode: str) -> Any:
    batch = mode == "batch"
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    for statement in definitions():
        env.execute_sql(statement)
    return env


def run(mode: str) -> None:
    """Run the queries as one job that prints their changes, and write what is known of each before as JSON."""
    env = environment(mode)
    job = env.create_statement_set()
    for number, query in enumerate(unknown()):
        try:
            columns = added(env, job, number, query, mode)
        except Exception as error:
            columns = {"refused": _message(error)}
        print(f"known {number} {json.dumps(columns)}", flush=True)
    job.execute().wait()


def added(env: Any, job: Any, number: int, query: str, mode: str) -> dict[str, Any]:
    """Add a query to the job; return the names and the types of its columns."""
    if mode == "batch" and NOT_COMPILED in query:
        return {"refused": "it makes code that does not compile"}
    env.create_temporary_view(f"answer_{number}", env.sql_query(query))
    with env.execute_sql(f"DESCRIBE answer_{number}").collect() as columns:
        described = [(column[0], f"{column[1]}{'' if column[2] else ' NOT NULL'}") for column in columns]
    names, types = (list(part) for part in zip(*described, strict=True))
    cells = f" || '{NEXT}' || ".join(f"COALESCE(CAST(`{name}` AS STRING), '{NULL}')" for name in names)
    insert = f"INSERT INTO printed_{number} SELECT {cells} FROM answer_{number}"
    options = f"'connector' = 'print', 'print-identifier' = 'q{number}'"
    env.execute_sql(f"CREATE TABLE printed_{number} (cells STRING) WITH ({options})")
    env.explain_sql(insert)
    job.add_insert_sql(insert)
    return {"names": names, "types": types}


def _message(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Exception:" in line]
    return lines[-1] if lines else str(error).splitlines()[0]


def known_answers() -> dict[str, dict[str, Any]]:
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    return {given["query"]: given for given in map(json.loads, lines)}


def unknown() -> list[str]:
    known = known_answers()
    return [query for _, query in queries() if query not in known]


def asked(mode: str) -> list[dict[str, Any]]:
    """Return what Flink says about each unknown query."""
    # Another process, because it is Java that prints.
    done = subprocess.run([sys.executable, __file__, mode], stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(text) for text in re.findall(r"^known \d+ (.*)$", done.stdout, re.MULTILINE)]
    tables: dict[int, Counter[str]] = defaultdict(Counter)
    for number, kind, row in PRINTED.findall(done.stdout):
        tables[int(number)][row] += 1 if kind[0] == "+" else -1
    for number, given in enumerate(found):
        if "names" in given:
            assert min(tables[number].values(), default=1) >= 0
            rows = [row.split(NEXT) for row in tables[number].elements()]
            cells = [[None if cell == NULL else cell for cell in row] for row in rows]
            given["rows"] = sorted(cells, key=lambda row: [(cell is not None, cell or "") for cell in row])
    return found


def main() -> None:
    known, new = known_answers(), unknown()
    subjects = {query: subject for subject, query in queries()}
    streaming, batch = (asked(mode) if new else [] for mode in MODES)
    for query, given, other in zip(new, streaming, batch, strict=True):
        known[query] = {"subject": subjects[query], "query": query, **given}
        if "rows" in given and other.get("rows") != given["rows"]:
            known[query]["batch"] = other.get("rows", other)
    lines = (json.dumps(known[query], ensure_ascii=False) + "\n" for _, query in queries())
    ANSWERS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1]) if sys.argv[1:] else main()
