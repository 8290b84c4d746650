"""What works with one extra, or with none; what needs another one says which."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import RunPython

MISSING = """
import importlib, pkgutil, sys

sys.modules.update(dict.fromkeys({names}))
"""

STREAMS = """
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

with executing("process"):
    numbers = StreamExecutionEnvironment.get_execution_environment().from_collection([1, 2])
    print(list(numbers.map(lambda number: number + 1).execute_and_collect()))
"""

TABLES = """
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

with executing("process"):
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    with env.execute_sql("SELECT SUM(a) FROM (VALUES (1), (2)) AS t (a)").collect() as rows:
        print([str(row) for row in rows])
"""

USE = """
from firesteel.common.errors import ConfigurationError

def use(statement):
    with executing("process"):
        try:
            env.execute_sql("DROP TABLE IF EXISTS t")
            env.execute_sql(statement)
            env.sql_query("SELECT * FROM t").execute()
        except ConfigurationError as error:
            print(error)
"""

WALK = """
for name in {packages}:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{{name}}."):
        importlib.import_module(module.name)
print("imported")
"""


def normal(distribution: str) -> str:
    """Return the name of a distribution as it is compared."""
    return re.sub("[-_.]+", "-", distribution).lower()


def modules(project: Path, extras: Sequence[str]) -> set[str]:
    """Return the top modules (of a namespace its parts) that extras bring, with those that they refer to."""
    given = tomllib.loads((project / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {normal(re.split(r"[\[>=<]", text)[0]) for extra in extras for text in given[extra]} - {
        "firesteel"
    }
    inner = [
        name for extra in extras for text in given[extra] for name in re.findall(r"firesteel\[(.*)\]", text)
    ]
    brought = {
        name if name != "google" else "google.protobuf"
        for name, distributions in packages_distributions().items()
        if wanted.intersection(map(normal, distributions)) and not name.startswith("_")
    }
    return brought | (modules(project, inner) if inner else set())


@pytest.fixture
def run_with(project: Path, run_python: RunPython) -> RunPython:
    """Run a program where only these extras are installed."""
    every = ("avro", "database", "json-schema", "kafka", "metrics", "protobuf", "s3", "service", "sql")

    def run(program: str, *extras: str) -> CompletedProcess[str]:
        missing = sorted(modules(project, every) - modules(project, extras))
        return run_python("-c", MISSING.format(names=missing) + program)

    return run


def test_extras_bring_modules(project: Path) -> None:
    assert modules(project, ["sql"]) == {"adbc_driver_duckdb", "duckdb", "prompt_toolkit", "sqlglot"}
    assert modules(project, ["kafka", "protobuf"]) == {"confluent_kafka", "google.protobuf"}
    assert "prometheus_client" in modules(project, ["service"])


def test_streams_run_without_any(run_with: RunPython) -> None:
    packages = ("firesteel.datastream", "firesteel.cep", "firesteel.state_processor", "firesteel.queryable")
    done = run_with(STREAMS + WALK.format(packages=packages))
    assert done.stdout == "[2, 3]\nimported\n", done.stderr


def test_tables_run_with_theirs(run_with: RunPython) -> None:
    done = run_with(TABLES + WALK.format(packages=("firesteel.table", "firesteel.datastream")), "sql")
    assert done.stdout == "['<Row(3)>']\nimported\n", done.stderr


def test_the_service_runs_with_its_own(run_with: RunPython) -> None:
    done = run_with(WALK.format(packages=("firesteel.rest", "firesteel.cli")), "service")
    assert done.stdout == "imported\n", done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [(["sql", "-e", "SELECT 1"], "sql"), (["cluster", "start", "nowhere"], "service")],
)
def test_commands_say_what_to_install(command: list[str], extra: str, run_with: RunPython) -> None:
    done = run_with(f"from firesteel.cli.main import main\nsys.argv = ['firesteel', *{command}]\nmain()\n")
    assert done.returncode == 1
    assert f"pip install 'firesteel[{extra}]'" in done.stderr


TOPIC = "'topic' = 't', 'properties.bootstrap.servers' = 'k:9092', 'scan.bounded.mode' = 'latest-offset'"
KAFKA = (
    f"CREATE TABLE t (a INT) WITH ('connector' = 'kafka', {TOPIC}, 'scan.startup.mode' = 'earliest-offset'"
)
OF_TABLES = {
    f"{KAFKA}, 'format' = 'json')": "kafka",
    "CREATE TABLE t (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', "
    f"{TOPIC}, 'key.format' = 'json', 'value.format' = 'json')": "kafka",
    "CREATE TABLE t (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', "
    "'table-name' = 't')": "database",
    "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://h:1', 'default-database' = 'd', "
    "'username' = 'u', 'password' = '${P}')": "database",
    "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'avro')": "avro",
}
OF_MESSAGES = {
    f"{KAFKA}, 'format' = 'avro')": "avro",
    f"{KAFKA}, 'format' = 'protobuf', 'protobuf.message-class-name' = 'm.M')": "protobuf",
    f"{KAFKA}, 'format' = 'json-confluent', 'json-confluent.url' = 'http://r')": "json-schema",
}


@pytest.mark.parametrize(("used", "extras"), [(OF_TABLES, ["sql"]), (OF_MESSAGES, ["sql", "kafka"])])
def test_tables_say_what_to_install(used: dict[str, str], extras: list[str], run_with: RunPython) -> None:
    done = run_with(TABLES + USE + "".join(f"use({statement!r})\n" for statement in used), *extras)
    named = re.findall(r'pip install "firesteel\[([a-z-]+)\]"', done.stdout)
    assert named == [*used.values()], done.stdout + done.stderr
