"""Ask real Flink what CREATE TABLE and INSERT statements mean, and keep the answers beside this file.

    /path/to/venv/bin/python tests/sql/binding/flink/ask_statements.py

See ask_queries.py. `definitions.sql` has tables named x, `inserts.sql` has INSERT statements; the answers are what
DESCRIBE shows of the table, that the INSERT is accepted, or the error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ask_queries import HERE, lines, reason
from pyflink.table import EnvironmentSettings, TableEnvironment

Ask = Callable[[TableEnvironment, str], dict[str, Any]]


def described(environment: TableEnvironment, sql: str) -> dict[str, Any]:
    """Return what DESCRIBE shows of a table."""
    like = " LIKE " in sql
    options = (
        "WITH ('more' = 'x')"
        if like
        else "WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json')"
    )
    full = sql.replace(" LIKE ", f" {options} LIKE ") if like else f"{sql} {options}"
    try:
        environment.execute_sql(full)
    except Exception as error:  # whatever it is, it is Flink's answer
        return {"sql": sql, "error": reason(error)}
    with environment.execute_sql("DESCRIBE x").collect() as rows:
        found = [list(row) for row in rows]
    environment.execute_sql("DROP TABLE x")
    return {"sql": sql, "columns": found}


def inserted(environment: TableEnvironment, sql: str) -> dict[str, Any]:
    """Return whether there is a plan of an INSERT."""
    try:
        environment.explain_sql(sql)
        return {"sql": sql, "accepted": True}
    except Exception as error:  # whatever it is, it is Flink's answer
        return {"sql": sql, "error": reason(error)}


def ask(environment: TableEnvironment, questions: str, answers: str, one: Ask) -> None:
    found = [one(environment, sql) for sql in lines(questions)]
    text = "".join(json.dumps(part, ensure_ascii=False) + "\n" for part in found)
    (HERE / answers).write_text(text)


def main() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in lines("tables.sql"):
        environment.execute_sql(statement.rstrip(";"))
    ask(environment, "definitions.sql", "definitions.jsonl", described)
    ask(environment, "inserts.sql", "inserts.jsonl", inserted)


if __name__ == "__main__":
    main()
