"""Asks real Flink what ON CONFLICT does: `python ask_conflicts.py`, with apache-flink 2.3 on the path.

Each query of `conflicts.sql` is written into a table whose primary key is its first column, with each strategy. A line
of conflicts.jsonl has the query, and for each strategy the table at the end, as texts and sorted. Instead of it there
is Flink's message if the statement, or the job, fails. Only queries that are not in conflicts.jsonl are asked.

The table is a stream that takes changes by key, because none of the sinks that come with Flink does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ask_answers import message
from pyflink.datastream import StreamExecutionEnvironment  # type: ignore[import-not-found]
from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]
from pyflink.table import StreamTableEnvironment
from statements import definitions, queries

ANSWERS = Path(__file__).parent / "conflicts.jsonl"
STRATEGIES = ("DEDUPLICATE", "NOTHING", "ERROR")


def environment() -> Any:
    env = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    for statement in definitions():
        env.execute_sql(statement)
    return env


def written(env: Any, query: str, strategy: str) -> Any:
    """Return the table after all changes, or Flink's message."""
    api = get_gateway().jvm.org.apache.flink.table.api
    table = env.sql_query(query)._j_table
    names = list(table.getResolvedSchema().getColumnNames())
    kinds = table.getResolvedSchema().getColumnDataTypes()
    schema = api.Schema.newBuilder()
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        schema.column(name, kind.notNull() if place == 0 else kind)
    schema.primaryKey(names[:1])
    mode = get_gateway().jvm.org.apache.flink.table.connector.ChangelogMode.upsert()
    found: dict[str, list[str | None]] = {}
    try:
        stream = env._j_tenv.toChangelogStream(
            table, schema.build(), mode, getattr(api.InsertConflictStrategy, strategy.lower())()
        )
        rows = stream.executeAndCollect()
        while rows.hasNext():
            row = rows.next()
            cells = [row.getField(place) for place in range(len(names))]
            key = str(cells[0])
            if row.getKind().shortString() in ("+I", "+U"):
                found[key] = [None if cell is None else str(cell) for cell in cells]
            else:
                found.pop(key, None)
    except Exception as error:
        return message(error)
    return [found[key] for key in sorted(found)]


def main() -> None:
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    known = {given["query"] for given in map(json.loads, lines)}
    with ANSWERS.open("a", encoding="utf-8") as file:
        for subject, query in queries("conflicts.sql"):
            if query in known:
                continue
            given: dict[str, Any] = {"subject": subject, "query": query}
            for strategy in STRATEGIES:
                given[strategy] = written(environment(), query, strategy)
            file.write(json.dumps(given, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
