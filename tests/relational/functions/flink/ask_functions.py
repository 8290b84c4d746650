"""Ask real Flink what functions and operators give, and keep the answers in a file for each subject beside this one.

    /path/to/venv/bin/python tests/relational/functions/flink/ask_functions.py [SUBJECT ...]

Each expression of `questions` is evaluated over the rows of its table. Kept are the type of the result and the cells
that `TableResult.print` shows. Instead of a cell, there is `null` if Flink fails for that row, and `"refused"` instead
of a type if it does not accept the expression. Answers that are in a file already are not asked for again. The
interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"
time.tzset()

from pyflink.java_gateway import get_gateway  # noqa: E402 - the zone must be set before Java starts
from pyflink.table import EnvironmentSettings, TableEnvironment  # noqa: E402
from questions import COLUMNS, DERIVED, ROWS, ZONED, questions  # noqa: E402

HERE = Path(os.environ.get("ANSWERS", Path(__file__).parent))
AT_ONCE = 60
QUOTE = "'"
NULL = "(null)"
RUNTIME = "org.apache.flink.runtime"  # is in the errors of jobs
INTERVALS = ("iy", "idt")  # no table has such columns
TYPES_OF_DERIVED = {
    "ar": ("ARRAY<INT>", []),
    "sa": ("ARRAY<STRING>", []),
    "ma": ("MAP<STRING, INT>", []),
    "ro": ("ROW<n INT, w STRING> NOT NULL", []),
}
get_gateway()


def environment(zone: str) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("table.local-time-zone", zone)
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.exec.legacy-cast-behaviour", "DISABLED")
    return env


def column(name: str, kind: str) -> str:
    if kind == "STRING" or name == "k":
        return name
    if kind == "BYTES":
        return f"UNHEX({name}) AS {name}"
    if kind.startswith("BINARY"):
        return f"CAST(UNHEX({name}) AS {kind}) AS {name}"
    return f"CAST({name} AS {kind}) AS {name}"


def declare(env: TableEnvironment) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        for place in range(ROWS):
            texts = [values[place] for name, (_, values) in COLUMNS.items() if name != "k"]
            writer.writerow(
                [place, *(NULL if text is None else text.removeprefix("X").strip(QUOTE) for text in texts)]
            )
    files = f"'connector' = 'filesystem', 'path' = '{file.name}', 'format' ="
    options = f"{files} 'csv', 'csv.null-literal' = '{NULL}'"
    of_json = f"{files} 'json'"
    columns = ", ".join(f"{name} {'INT NOT NULL' if name == 'k' else 'STRING'}" for name in COLUMNS)
    env.execute_sql(f"CREATE TEMPORARY TABLE g ({columns}) WITH ({options})")
    kinds = ", ".join(f"{name} {kind}" for name, (kind, _) in (COLUMNS | TYPES_OF_DERIVED).items())
    env.execute_sql(f"CREATE TEMPORARY TABLE empty_t ({kinds}) WITH ({of_json})")
    plain = ", ".join(column(name, kind) for name, (kind, _) in COLUMNS.items())
    env.execute_sql(f"CREATE TEMPORARY VIEW h AS SELECT {plain} FROM g")
    derived = ", ".join(f"{text} AS {name}" for name, text in DERIVED.items())
    env.execute_sql(f"CREATE TEMPORARY VIEW t AS SELECT *, {derived} FROM h")


def types(env: TableEnvironment, asked: list[str]) -> list[str]:
    """Return the types of the results; Flink raises if it does not accept one of the expressions."""
    columns = ", ".join(f"{text} AS r{place}" for place, text in enumerate(asked))
    table = "t" if any(name in columns for name in INTERVALS) else "empty_t"
    schema = env.sql_query(f"SELECT {columns} FROM {table}")._j_table.getResolvedSchema()
    return [str(kind.getLogicalType().asSummaryString()) for kind in schema.getColumnDataTypes()]


def accepted(env: TableEnvironment, asked: list[str]) -> list[str]:
    """Return the types, `refused` for what Flink does not accept."""
    found = []
    for text in asked:
        try:
            found += types(env, [text])
        except Exception:
            found.append("refused")
    return found


def answers(env: TableEnvironment, asked: list[str], where: str = "") -> list[list[str]]:
    """Return the cells of each expression."""
    columns = ", ".join(f"{text} AS r{place}" for place, text in enumerate(asked))
    result = env.execute_sql(f"SELECT {columns} FROM t {where}")._j_table_result
    converter = result.getRowDataToStringConverter()
    rows = [list(converter.convert(row)) for row in each(result.collectInternal())]
    return [[row[place] for row in rows] for place in range(len(asked))]


def each(iterator: Any) -> Any:
    while iterator.hasNext():
        yield iterator.next()
    iterator.close()


def one_by_one(env: TableEnvironment, asked: list[str]) -> list[list[str | None]]:
    """Return the cells; what fails is asked alone, and then row by row."""
    try:
        return answers(env, asked)
    except Exception as error:
        if len(asked) == 1 and RUNTIME not in str(error):
            return [[None] * ROWS]  # there is no program for it, whatever the rows
        if len(asked) > 1:
            half = len(asked) // 2
            return one_by_one(env, asked[:half]) + one_by_one(env, asked[half:])
    cells: list[str | None] = []
    for place in range(ROWS):
        try:
            cells += answers(env, asked, f"WHERE k = {place}")[0]
        except Exception:
            cells.append(None)
    return [cells]


def ask(env: TableEnvironment, subject: str, zone: str, asked: list[str], file: Any) -> None:
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        kinds = dict(zip(part, accepted(env, part), strict=True))
        known = [text for text in part if kinds[text] != "refused"]
        found = dict(zip(known, one_by_one(env, known), strict=True)) if known else {}
        for text in part:
            answer = {"subject": subject, "zone": zone, "expression": text, "type": kinds[text]}
            if text in found:
                answer["cells"] = found[text]
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")
        file.flush()


def main(chosen: list[str]) -> None:
    """Write the answers, subject by subject."""
    environments = {zone: environment(zone) for zone in ("UTC", "Europe/Berlin")}
    for env in environments.values():
        declare(env)
    known = questions()
    for subject in chosen or known:
        asked = known[subject]
        path = HERE / f"{subject}.jsonl"
        answered = [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []
        kept = {(line["zone"], line["expression"]) for line in answered}
        zoned = [text for text in asked if any(word in text for word in ZONED)]
        with path.open("a", encoding="utf-8") as file:
            for zone, texts in (("UTC", asked), ("Europe/Berlin", zoned)):
                missing = [text for text in texts if (zone, text) not in kept]
                ask(environments[zone], subject, zone, missing, file)


if __name__ == "__main__":
    main(sys.argv[1:])
