"""Programs with streams need none of the packages of the extra `sql`."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess

PROGRAM = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("duckdb", "sqlglot", "prompt_toolkit"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())

from firesteel.cli.main import main
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

with executing("process"):
    numbers = StreamExecutionEnvironment.get_execution_environment().from_collection([1, 2])
    print(list(numbers.map(lambda number: number + 1).execute_and_collect()))
sys.argv = ["firesteel", "sql", "-e", "SELECT 1"]
main()
"""


def test_streams_run_and_sql_says_what_is_missing(run_python: Callable[..., CompletedProcess[str]]):
    done = run_python("-c", PROGRAM)
    assert done.stdout == "[2, 3]\n"
    assert done.returncode == 1
    assert "pip install 'firesteel[sql]'" in done.stderr
