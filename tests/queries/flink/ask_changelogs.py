"""Asks real Flink about tables of changes: `python ask_changelogs.py`, with apache-flink 2.3 on the path.

Each line of changelogs.jsonl has a query, whether changes may come twice (the option
'table.exec.source.cdc-events-duplicate'), the nodes of its plan with their kinds of changes, the names of its columns,
and its rows: the table at the end, as texts. What Flink refuses has its message instead; `fails` is whether it does so
when the job runs.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from changelog_tables import HERE, NODE, definitions
from pyflink.table import EnvironmentSettings, ExplainDetail, TableEnvironment


def environment() -> Any:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": "1", "restart-strategy.type": "none"}.items():
        env.get_config().set(key, value)
    for statement in definitions(HERE / "changes"):
        env.execute_sql(statement)
    return env


def answer(env: Any, query: str, twice: bool) -> dict[str, Any]:
    env.get_config().set("table.exec.source.cdc-events-duplicate", str(twice).lower())
    found: dict[str, Any] = {"query": query, "twice": twice}
    try:
        plan = env.explain_sql(query, ExplainDetail.CHANGELOG_MODE)
        physical = plan.split("== Optimized Physical Plan ==")[1].split("== Optimized Execution Plan ==")[0]
        found["nodes"] = NODE.findall(physical)
        table = env.sql_query(query)
        found["names"] = list(table.get_schema().get_field_names())
    except Exception as error:
        return {**found, "refused": message(error), "fails": False}
    rows: Counter[tuple[str, ...]] = Counter()
    try:
        with table.execute().collect() as results:
            for row in results:
                rows[tuple(map(str, row))] += (
                    1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
                )
    except Exception as error:
        return {**found, "refused": message(error), "fails": True}
    return {**found, "rows": sorted(map(list, (+rows).elements()))}


def message(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Exception:" in line]
    return lines[-1] if lines else str(error).splitlines()[0]


def main() -> None:
    """Write the answers."""
    env = environment()
    queries = (HERE / "changelogs.sql").read_text().split(";\n")
    with (HERE / "changelogs.jsonl").open("w") as file:
        for query in filter(None, map(str.strip, queries)):
            for twice in (False, True) if "CHANGELOG" not in query else (False,):
                print(json.dumps(answer(env, query, twice)), file=file, flush=True)


if __name__ == "__main__":
    main()
