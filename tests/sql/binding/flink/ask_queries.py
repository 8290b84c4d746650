"""Ask real Flink for the columns of each query, and keep the answers in answers.jsonl beside this file.

    /path/to/venv/bin/python tests/sql/binding/flink/ask_queries.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
`tables.sql` has the tables, one statement a line; `queries.sql` a query a line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    """Return the statements of a file: lines that are not comments."""
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("--")]


def reason(error: Exception) -> str:
    """Return what Flink says: the messages of the causes, on one line."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return str(error).split("\n\tat ")[0].replace("\n", " ")[:500]
    found = []
    while java is not None:
        found.append(str(java.getMessage()))
        java = java.getCause()
    return " | ".join(found).replace("\n", " ")[:500]


def answer(environment: TableEnvironment, sql: str) -> dict[str, Any]:
    """Return the query with its columns, or with the error."""
    try:
        table = environment.sql_query(sql)
        columns = [
            [column.getName(), column.getDataType().getLogicalType().asSummaryString()]
            for column in table._j_table.getResolvedSchema().getColumns()
        ]
        return {"sql": sql, "columns": columns}
    except Exception as error:  # whatever it is, it is Flink's answer
        return {"sql": sql, "error": reason(error)}


def main() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in lines("tables.sql"):
        environment.execute_sql(statement.rstrip(";"))
    answers = [answer(environment, sql) for sql in lines("queries.sql")]
    text = "".join(json.dumps(found, ensure_ascii=False) + "\n" for found in answers)
    (HERE / "answers.jsonl").write_text(text)
    print(len(answers), file=sys.stderr)


if __name__ == "__main__":
    main()
