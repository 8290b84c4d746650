"""Ask real Flink what aggregates give; the answers are in answers.json beside this file.

    /path/to/venv/bin/python tests/runtime/columns/aggregates/flink/ask.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Each call is asked over rows that only come, and over rows that change and go; the answer is the final table, every
value as CAST AS STRING writes it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyflink.common import RowKind
from pyflink.table import EnvironmentSettings, TableEnvironment

sys.path.insert(0, str(Path(__file__).parent))
from cases import CASES, COLUMNS, HISTORY, Case

CHANGES = (
    "(SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY p DESC) AS place FROM history)"
    " WHERE place = 1 AND alive)"
)


def main() -> None:
    """Write the answers."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("parallelism.default", "1")
    with tempfile.TemporaryDirectory() as directory:
        _write(Path(directory, "history.json"))
        declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        tables.execute_sql(
            f"CREATE TABLE history (id INT, alive BOOLEAN, {declared}, p AS PROCTIME()) WITH "
            f"('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json')"
        )
        names = ", ".join(COLUMNS)
        answers = {
            "rows that come": _ask(tables, f"(SELECT {names} FROM history WHERE alive)"),
            "rows that change": _ask(tables, CHANGES.format(columns=names)),
        }
    text = json.dumps(answers, indent=1, ensure_ascii=False)
    (Path(__file__).parent / "answers.json").write_text(text + "\n", encoding="utf-8")


def _write(path: Path) -> None:
    lines = []
    for number, alive, values in HISTORY:
        row = dict(zip(COLUMNS, values, strict=True)) if alive else {}
        for name in ("d", "w"):
            if row.get(name) is not None:
                row[name] = f"<{row[name]}>"
        line = json.dumps({"id": number, "alive": alive, **row})
        lines.append(line.replace('"<', "").replace('>"', ""))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _ask(tables: TableEnvironment, source: str) -> dict[str, Any]:
    answers: dict[str, Any] = {case.sql: {} for case in CASES}
    variances = [case for case in CASES if case.function.startswith(("VAR", "STDDEV"))]
    others = [
        case for case in CASES if case not in variances
    ]  # beside a variance Flink computes AVG in another way
    for start in range(0, len(CASES), 20):
        for cases in (variances[start : start + 20], others[start : start + 20]):
            _ask_together(tables, source, cases, answers)
    return answers


def _ask_together(tables: TableEnvironment, source: str, cases: list[Case], answers: dict[str, Any]) -> None:
    if not cases:
        return
    try:
        _answer(tables, source, cases, answers)
    except Exception:
        for case in cases:
            try:
                _answer(tables, source, [case], answers)
            except Exception as error:
                answers[case.sql] = f"refused: {str(error).splitlines()[0][:200]}"


def _answer(tables: TableEnvironment, source: str, cases: list[Case], answers: dict[str, Any]) -> None:
    made = ", ".join(f"{case.sql} AS r{number}" for number, case in enumerate(cases))
    texts = ", ".join(f"CAST(r{number} AS STRING)" for number in range(len(cases)))
    query = f"SELECT k, {texts} FROM (SELECT k, {made} FROM {source} GROUP BY k)"
    table: dict[str, list[str | None]] = {}
    with tables.execute_sql(query).collect() as rows:
        for row in rows:
            key = json.dumps(row[0])
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                table[key] = list(row)[1:]
            else:
                table.pop(key, None)
    for number, case in enumerate(cases):
        answers[case.sql] = {key: values[number] for key, values in sorted(table.items())}


if __name__ == "__main__":
    main()
