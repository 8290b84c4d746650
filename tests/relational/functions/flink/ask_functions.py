"""Ask real Flink what functions and operators give, and keep the answers in a file for each subject beside this one.

    /path/to/venv/bin/python tests/relational/functions/flink/ask_functions.py [SUBJECT ...]

Each expression of `questions` is evaluated over the rows of its table. Kept are the type of the result and the cells
that `TableResult.print` shows. Instead of a cell, there is `null` if Flink fails for that row (see `ask_rows`), and
`"refused"` instead of a type if it does not accept the expression. Answers that are in a file already are not asked for
again. The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the
PATH.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"
time.tzset()

from ask_rows import Rows  # noqa: E402 - the zone must be set before Java starts
from pyflink.java_gateway import get_gateway  # noqa: E402
from pyflink.table import EnvironmentSettings, TableEnvironment  # noqa: E402
from questions import COLUMNS, DERIVED, ROWS, ZONED, questions  # noqa: E402

Row = list[str | None]

HERE = Path(os.environ.get("ANSWERS", Path(__file__).parent))
AT_ONCE = 60
QUOTE = "'"
NULL = "(null)"
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


def types(env: TableEnvironment, asked: list[str]) -> list[Any]:
    """Return the types of the results; Flink raises if it does not accept one of the expressions."""
    columns = ", ".join(f"{text} AS r{place}" for place, text in enumerate(asked))
    table = "t" if any(name in columns for name in INTERVALS) else "empty_t"
    schema = env.sql_query(f"SELECT {columns} FROM {table}")._j_table.getResolvedSchema()
    return list(schema.getColumnDataTypes())


def accepted(env: TableEnvironment, asked: list[str]) -> dict[str, Any]:
    """Return the types of the expressions that Flink accepts."""
    found = {}
    for text in asked:
        with suppress(Exception):
            [found[text]] = types(env, [text])
    return found


def answers(env: TableEnvironment, asked: list[str]) -> list[Row]:
    """Return the cells of each expression, by a query."""
    columns = ", ".join(f"{text} AS r{place}" for place, text in enumerate(asked))
    result = env.execute_sql(f"SELECT {columns} FROM t")._j_table_result
    converter = result.getRowDataToStringConverter()
    rows = [list(converter.convert(row)) for row in each(result.collectInternal())]
    return [[row[place] for row in rows] for place in range(len(asked))]


def each(iterator: Any) -> Any:
    while iterator.hasNext():
        yield iterator.next()
    iterator.close()


def all_answers(env: TableEnvironment, rows: Rows, kinds: dict[str, Any]) -> dict[str, Row]:
    """Return the cells of expressions: by one query, or what fails in it as it was tried."""
    with suppress(Exception):
        return dict(zip(kinds, answers(env, list(kinds)), strict=True))
    tried = try_out(rows, kinds)
    sure = [text for text, cells in tried.items() if None not in cells]
    found = dict(zip(sure, halved(env, sure), strict=True))
    return tried | found | {text: halved(env, [text])[0] for text in kinds if text not in tried}


def halved(env: TableEnvironment, asked: list[str]) -> list[Row]:
    """Return the cells by as few queries as fail; of what fails alone, there is no program, whatever the rows."""
    if not asked:
        return []
    try:
        return answers(env, asked)
    except Exception:
        if len(asked) == 1:
            return [[None] * ROWS]
        half = len(asked) // 2
        return halved(env, asked[:half]) + halved(env, asked[half:])


def try_out(rows: Rows, kinds: dict[str, Any]) -> dict[str, Row]:
    """Return the cells of expressions, None for rows that they fail for; the ones without code are left out."""
    found = {}
    for text, kind in kinds.items():
        with suppress(Exception):
            found[text] = rows.cells(text, kind)
    return found


def ask(env: TableEnvironment, rows: Rows, subject: str, zone: str, asked: list[str], file: Any) -> None:
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        kinds = accepted(env, part)
        found = all_answers(env, rows, kinds) if kinds else {}
        for text in part:
            kind = str(kinds[text].getLogicalType().asSummaryString()) if text in kinds else "refused"
            answer = {"subject": subject, "zone": zone, "expression": text, "type": kind}
            if text in kinds:
                answer["cells"] = found[text]
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")
        file.flush()


@cache
def session(zone: str) -> tuple[TableEnvironment, Rows]:
    """Return an environment with the tables, and the rows of `t`."""
    env = environment(zone)
    declare(env)
    return env, Rows(env, zone)


def main(chosen: list[str]) -> None:
    """Write the answers, subject by subject."""
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
                if missing:
                    ask(*session(zone), subject, zone, missing, file)


if __name__ == "__main__":
    main(sys.argv[1:])
