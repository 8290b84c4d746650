"""Ask real Flink how it runs the statements of `statements.sql`: `plans.jsonl` has its answers.

    python tests/relational/flink/ask_plans.py

An answer is the optimized physical plan with changelog modes, or the first line of the error. `SET` is for the
statements that follow, whose answers have the options.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    text = (HERE / name).read_text()
    return [line for line in text.splitlines() if line and not line.startswith("--")]


def asked(environment: object, statement: str) -> dict[str, object]:
    try:
        (row,) = environment.execute_sql(f"EXPLAIN CHANGELOG_MODE {statement}").collect()  # type: ignore[attr-defined]
    except Exception as error:
        found = re.search(r"(?:Table|Validation)Exception: (.*)", str(error))
        return {"sql": statement, "error": found[1] if found else str(error).split("\n")[0]}
    plan = row[0].split("== Optimized Physical Plan ==\n")[1].split("\n\n")[0]
    return {"sql": statement, "plan": plan}


def main() -> None:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in lines("tables.sql"):
        environment.execute_sql(statement)
    answers = []
    options: dict[str, str] = {}
    for statement in lines("statements.sql"):
        if setting := re.fullmatch("SET '(.*)' = '(.*)'", statement):
            options[setting[1]] = setting[2]
            environment.get_config().set(setting[1], setting[2])
        else:
            answers.append(asked(environment, statement) | ({"options": {**options}} if options else {}))
    (HERE / "plans.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))


if __name__ == "__main__":
    main()
