"""Ask real Flink what the operations of row_based.py answer; the answers are in row_based.json beside this file.

    /path/to/venv/bin/python tests/table/flink/ask_row_based.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Rows are those that are left of the changes. What Flink refuses has the message of the error as its answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ask_operations import refusal  # beside this file
from pyflink.common import Row, RowKind
from pyflink.table import EnvironmentSettings, Table, TableEnvironment
from row_based import NOT_RUN, cases
from tables import HERE, shown, visits


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1").set("restart-strategy.type", "none")
    env.get_config().set_local_timezone("UTC")
    with TemporaryDirectory() as directory:
        made = cases(env, visits(env, Path(directory)))
        answers = {name: asked(name, make) for name, make in made.items()}
    (HERE / "row_based.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")


def asked(name: str, make: Callable[[], Table]) -> dict[str, Any]:
    """Return what Flink answers to a case."""
    try:
        table = make()
        columns = [*table.get_resolved_schema().get_column_names()]
        if name in NOT_RUN:
            return {"columns": columns}
        return {"columns": columns, "rows": left(table)}
    except Exception as error:
        return refusal(error)


def left(table: Table) -> list[str]:
    """Return the rows that are left of a table's changes, as text, sorted."""
    count: Counter[str] = Counter()
    with table.execute().collect() as rows:
        for row in rows:
            assert isinstance(row, Row)
            comes = row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
            count[shown(list(row))] += 1 if comes else -1
    return sorted(count.elements())


if __name__ == "__main__":
    main()
