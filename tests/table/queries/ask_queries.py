"""Ask real Flink what the queries of `queries.sql` give, over the tables of `tables.py`.

    python tests/table/queries/ask_queries.py

`answers.json` has the answers. All queries of a mode are one job, each with a print sink. An answer has the rows of the
table that the query ends with, as the sink prints them and sorted. A query that Flink refuses has none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import tables  # noqa: E402 - a file beside this one, which Flink's Python must find, too

NOT_COMPILED = "RANGE BETWEEN INTERVAL"
"""What Flink 2.3 plans in BATCH mode, but makes code of that Java does not take."""

PRINTED = re.compile(r"^q(\d+)>\s*([+-][IUD])\[(.*)\]$", re.MULTILINE)


def created(directory: Path, mode: str) -> TableEnvironment:
    settings = {
        "streaming": EnvironmentSettings.in_streaming_mode,
        "batch": EnvironmentSettings.in_batch_mode,
    }
    made = TableEnvironment.create(settings[mode]())
    made.get_config().set("parallelism.default", "1")
    for name, (columns, rows) in tables.TABLES.items():
        path = directory / f"{name}.csv"
        path.write_text(
            "".join(",".join("" if value is None else value for value in row) + "\n" for row in rows)
        )
        made.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
            "'format' = 'csv', 'csv.null-literal' = '')"
        )
    return made


def run(mode: str) -> None:
    """Run the accepted queries as one job, which prints their changes; those lines have the numbers of the queries."""
    with TemporaryDirectory() as directory:
        made = created(Path(directory), mode)
        job = made.create_statement_set()
        for number, query in enumerate(tables.queries()):
            if mode == "batch" and NOT_COMPILED in query:
                print("refused", number, flush=True)
                continue
            try:
                made.create_temporary_view(f"v{number}", made.sql_query(query))
                with made.execute_sql(f"DESCRIBE v{number}").collect() as described:
                    columns = ", ".join(f"`{row[0]}` {row[1].split(' *')[0]}" for row in described)
                options = f"'connector' = 'print', 'print-identifier' = 'q{number}'"
                made.execute_sql(f"CREATE TABLE q{number} ({columns}) WITH ({options})")
                made.explain_sql(f"INSERT INTO q{number} {query}")
            except Exception as error:
                print("refused", number, re.findall(r"Exception: (.*)", str(error))[:1], flush=True)
                continue
            job.add_insert_sql(f"INSERT INTO q{number} {query}")
        job.execute().wait()


def main() -> None:
    queries = tables.queries()
    answers: dict[str, dict[str, list[str]]] = {query: {} for query in queries}
    for mode in ("streaming", "batch"):
        # Another process, because it is Java that prints.
        done = subprocess.run([sys.executable, __file__, mode], stdout=subprocess.PIPE, text=True, check=True)
        refused = set(map(int, re.findall(r"^refused (\d+)", done.stdout, re.MULTILINE)))
        changes = defaultdict(list)
        for number, kind, row in PRINTED.findall(done.stdout):
            changes[int(number)].append((row, kind))
        for number, query in enumerate(queries):
            if number not in refused:
                answers[query][mode] = tables.materialized(changes[number])
    (HERE / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    run(sys.argv[1]) if sys.argv[1:] else main()
