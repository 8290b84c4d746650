"""Asks real Flink what the queries of ordered.sql answer: `python ask_ordered.py`, with apache-flink 2.3 on the path.

Each line of ordered.jsonl has a query and its rows, as texts: those of BATCH mode in their order, and the table at the
end of STREAMING mode, sorted. What Flink refuses has its message instead; `null` says that its changes are of no table,
because they take away a row that is not there. Only queries that are not in ordered.jsonl are asked.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from ask_answers import environment, message
from pyflink.table import EnvironmentSettings  # type: ignore[import-not-found]
from statements import queries

ANSWERS = Path(__file__).parent / "ordered.jsonl"


def answer(env: Any, query: str) -> Any:
    """Return the rows of the table that a query ends with, or Flink's message; None if its changes are of no table."""
    rows: Counter[tuple[str | None, ...]] = Counter()
    try:
        with env.sql_query(query).execute().collect() as results:
            for row in results:
                cells = tuple(None if cell is None else str(cell) for cell in row)
                rows[cells] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    except Exception as error:
        return message(error)
    if min(rows.values(), default=1) < 0:
        return None
    return [list(row) for row in rows.elements()]


def in_any_order(rows: Any) -> Any:
    """Return rows sorted, whose order means nothing."""
    if not isinstance(rows, list):
        return rows
    return sorted(rows, key=lambda row: [(cell is not None, cell or "") for cell in row])


def main() -> None:
    streaming = environment(EnvironmentSettings.in_streaming_mode())
    batch = environment(EnvironmentSettings.in_batch_mode())
    lines = ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []
    known = {given["query"] for given in map(json.loads, lines)}
    with ANSWERS.open("a", encoding="utf-8") as file:
        for subject, query in queries("ordered.sql"):
            if query in known:
                continue
            given = {"subject": subject, "query": query, "batch": answer(batch, query)}
            given["streaming"] = in_any_order(answer(streaming, query))
            file.write(json.dumps(given, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
