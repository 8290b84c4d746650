"""Asks Flink for the answers over few events: `python -m bench.nexmark.ask_flink FILE`, with apache-flink on the path.

Each query has the number of its rows, and a digest of them as sorted texts; tests compare both with Firesteel's. The
events are read from files of JSON that are there.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.nexmark.answers import rows
from bench.nexmark.program import environment
from bench.nexmark.queries import QUERIES, Query
from bench.nexmark.schema import dropped, events


def digest(changes: Iterable[tuple[str, tuple[Any, ...]]]) -> dict[str, Any]:
    """Return the number of the rows of a table after changes, and a digest of them.

    >>> digest([("+I", ("a",)), ("-U", ("a",)), ("+U", (None,))])["rows"]
    1
    """
    table: Counter[tuple[Any, ...]] = Counter()
    for kind, row in changes:
        table[row] += 1 if kind[0] == "+" else -1
    assert min(table.values(), default=0) >= 0
    lines = sorted(json.dumps(row) for row in table.elements())
    return {"rows": len(lines), "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest()}


def answer(env: Any, query: Query, folder: str) -> dict[str, Any]:
    """Return the digest of a query's rows over files of JSON."""
    for statement in (*dropped(), *events(folder, "json", "flink"), *query.before):
        env.execute_sql(statement)
    with env.execute_sql(rows(query)).collect() as changes:
        return digest((str(row.get_row_kind()), tuple(row)) for row in changes)


def main() -> None:
    """Ask about the events of the folder that the command line names second."""
    file, folder = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        env = environment("flink", Path(scratch))
        found = {
            query.name: answer(env, query, str(folder))
            for query in QUERIES
            if not (query.refused or query.unchecked)
        }
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(given)}" for name, given in found.items())
    file.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
