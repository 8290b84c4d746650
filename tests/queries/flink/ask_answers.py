"""Asks real Flink for the answers: `python ask_answers.py`, with apache-flink 2.3 on the path; writes answers.jsonl.

Each line has the query, the names and types of its columns, and the table at the end, in STREAMING mode: its rows as
texts (Flink's CAST to STRING of each column), sorted, each as often as it is in the table. What Flink refuses has its
message instead.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]
from statements import ORDERS, queries

HERE = Path(__file__).parent


def answer(env: Any, query: str) -> dict[str, Any]:
    try:
        table = env.sql_query(query)
        env.create_temporary_view("answered", table)
        with env.execute_sql("DESCRIBE answered").collect() as columns:
            described = [(column[0], f"{column[1]}{'' if column[2] else ' NOT NULL'}") for column in columns]
        names, types = (list(part) for part in zip(*described, strict=True))
        casts = ", ".join(f"CAST(`{name}` AS STRING)" for name in names)
        rows: Counter[tuple[str | None, ...]] = Counter()
        with env.sql_query(f"SELECT {casts} FROM answered").execute().collect() as results:
            for row in results:
                rows[tuple(row)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
        env.drop_temporary_view("answered")
    except Exception as error:
        return {"refused": _message(error)}
    assert min(rows.values(), default=1) >= 0
    table_rows = sorted(
        map(list, rows.elements()), key=lambda row: [(cell is not None, cell or "") for cell in row]
    )
    return {"names": names, "types": types, "rows": table_rows}


def _message(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Exception:" in line]
    return lines[-1] if lines else str(error).splitlines()[0]


def main() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    env.execute_sql(ORDERS.format(path=HERE / "orders.json"))
    with (HERE / "answers.jsonl").open("w") as file:
        for subject, query in queries():
            found = answer(env, query)
            file.write(json.dumps({"subject": subject, "query": query, **found}, ensure_ascii=False) + "\n")
            file.flush()
            print(subject, "|", found.get("refused", f"{len(found.get('rows', []))} rows"), flush=True)


if __name__ == "__main__":
    main()
