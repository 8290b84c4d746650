"""Runs a function on one system, over few rows and over many, and prints its figures as one line of JSON.

The program is PyFlink's; on Firesteel it runs by the alias. What the function gives is checked for the first rows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.sql_systems import environment
from bench.udf.functions import BY_NAME, Function, source, value

CHECKED: Final = 1000
_SELECT: Final = "SELECT id, f(id, m) FROM source"


def prepare(env: Any, function: Function) -> None:
    """Make the function and the table of its results."""
    udf = importlib.import_module("pyflink.table.udf").udf
    env.create_temporary_function("f", udf(value, result_type="BIGINT", func_type=function.kind))
    env.execute_sql("CREATE TABLE sink (id BIGINT, v BIGINT) WITH ('connector' = 'blackhole')")


def check(env: Any) -> None:
    """Exit if a result is wrong."""
    env.execute_sql(source(CHECKED))
    with env.execute_sql(_SELECT).collect() as rows:
        found = sorted(tuple(row) for row in rows)
    if found != [(n, value(n, n % 100)) for n in range(CHECKED)]:
        raise SystemExit(f"the results of {CHECKED} rows are wrong: {found[:5]}...")


def run(env: Any, rows: int) -> float:
    """Return the seconds that so many rows take."""
    env.execute_sql("DROP TABLE source")
    env.execute_sql(source(rows))
    began = time.perf_counter()
    env.execute_sql(f"INSERT INTO sink {_SELECT}").wait()
    return time.perf_counter() - began


def main() -> None:
    """Run the function that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.udf.program", description=__doc__)
    parser.add_argument("system", choices=("firesteel", "flink"))
    parser.add_argument("function", choices=BY_NAME)
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    function = BY_NAME[arguments.function]
    sizes = [max(int(rows * arguments.scale), CHECKED) for rows in function.rows[arguments.system]]
    scratch = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
    try:
        env = environment(arguments.system, scratch)
        prepare(env, function)
        check(env)
        seconds = [run(env, rows) for rows in (sizes[0], *sizes)][1:]  # the first job starts the workers
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps({"rows": sizes, "seconds": [round(took, 3) for took in seconds]}), flush=True)


if __name__ == "__main__":
    main()
