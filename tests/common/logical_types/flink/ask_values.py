"""Ask real Flink how it shows values, and keep the answers in values.json beside this file.

    /path/to/venv/bin/python tests/common/logical_types/flink/ask_values.py

Each expression of values.py is evaluated. Kept are CAST(... AS STRING), the cell that `TableResult.print` shows,
and the line that the `print` connector writes. The session's zone is UTC or Asia/Tokyo; the process's zone is UTC.
The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the
PATH.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["TZ"] = "UTC"
time.tzset()

from py4j.protocol import Py4JJavaError  # noqa: E402 - the zone must be set before Java starts
from pyflink.java_gateway import get_gateway  # noqa: E402
from pyflink.table import EnvironmentSettings, TableEnvironment  # noqa: E402
from pyflink.util.exceptions import JavaException  # noqa: E402
from values import expressions  # noqa: E402

REFUSED = (Py4JJavaError, JavaException)
HERE = Path(__file__).parent
J = get_gateway().jvm


def environment(zone: str) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("table.local-time-zone", zone)
    env.get_config().set("parallelism.default", "1")
    return env


def cells(env: TableEnvironment, columns: list[str]) -> list[str]:
    """Return the cells that TableResult.print would show for one row of the given columns."""
    result = env.execute_sql(f"SELECT {', '.join(columns)}")._j_table_result
    row = result.collectInternal().next()
    return list(result.getRowDataToStringConverter().convert(row))


def one_by_one(ask: Any, env: TableEnvironment, columns: list[str]) -> list[str | None]:
    """Ask for all columns at once; if that fails, for each alone, so that one refusal is one answer."""
    try:
        return ask(env, columns)
    except Exception:
        if len(columns) == 1:
            return [None]
        half = len(columns) // 2
        return one_by_one(ask, env, columns[:half]) + one_by_one(ask, env, columns[half:])


def printed(env: TableEnvironment, chosen: list[tuple[str, str]]) -> list[str | None]:
    """Return the lines that the print connector writes, one sink for each expression."""
    stream = J.java.io.ByteArrayOutputStream()
    before = J.java.lang.System.out
    J.java.lang.System.setOut(J.java.io.PrintStream(stream, True, "UTF-8"))
    statements = env.create_statement_set()
    for place, (kind, expression) in enumerate(chosen):
        env.execute_sql(
            f"CREATE TEMPORARY TABLE p{place} (v {kind}) WITH ('connector' = 'print', 'print-identifier' = 'p{place}')"
        )
        statements.add_insert_sql(f"INSERT INTO p{place} SELECT {expression}")
    statements.execute().wait()
    J.java.lang.System.setOut(before)
    lines: dict[str, str] = {}
    for line in stream.toString("UTF-8").splitlines():
        name, _, text = line.partition("> ")
        lines[name.partition(":")[0]] = text
    return [lines.get(f"p{place}") for place in range(len(chosen))]


def main() -> None:
    """Write the answers, after each kind of question what is known so far."""
    chosen = expressions()
    columns = [expression for _, expression in chosen]
    answers: list[dict[str, Any]] = [{"type": kind, "expression": text} for kind, text in chosen]
    utc, tokyo = environment("UTC"), environment("Asia/Tokyo")
    everything = range(len(chosen))
    zoned = [place for place, (kind, _) in enumerate(chosen) if "LTZ" in kind]
    # Flink's DDL has no columns of intervals.
    plain = [place for place, (kind, _) in enumerate(chosen) if "INTERVAL" not in kind]
    ask_for(answers, everything, "", [*columns], utc)
    ask_for(answers, zoned, "_in_tokyo", [columns[place] for place in zoned], tokyo)
    for place, line in zip(plain, printed(utc, [chosen[place] for place in plain]), strict=True):
        answers[place]["printed"] = line
    save(answers)


def ask_for(
    answers: list[dict[str, Any]],
    places: Sequence[int],
    suffix: str,
    columns: list[str],
    env: TableEnvironment,
) -> None:
    """Ask for casts and cells in one query, and keep the answers under `string` and `cell` with the suffix."""
    found = one_by_one(cells, env, [*(f"CAST({column} AS STRING)" for column in columns), *columns])
    for place, text, cell in zip(places, found, found[len(columns) :], strict=False):
        answers[place] |= {f"string{suffix}": text, f"cell{suffix}": cell}
    save(answers)


def save(answers: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    (HERE / "values.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
