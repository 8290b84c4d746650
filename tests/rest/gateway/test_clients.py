"""A cluster's SQL gateway with Flink's own clients, and with two of PyPI for Flink's: each does a round.

What is in `flink/*.txt` the clients printed at the gateway of Flink 2.3.0.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from firesteel import dbapi
from firesteel.common.errors import ProgramError
from firesteel.rest.client import ClusterClient
from firesteel.rest.gateway.client import GatewayClient
from harness.waiting import until
from tests.rest.gateway.flink_clients import HERE, SqlClient, run_jdbc, run_python
from tests.rest.gateway.terminal import LONG, MODES, USUAL, Terminal, paged, typed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("java") is None, reason="requires Java"),
]
MODULE = """
import pyarrow.compute as pc

from firesteel.functions.models import PredictFunction
from firesteel.table.udf import udf

shout = udf(lambda text: f"{text}!", input_types=["STRING"], result_type="STRING")


class Length(PredictFunction):
    def predict(self, features):
        return pc.add(pc.utf8_length(features.column("word")), int(self.options["plus"]))
"""
LENGTH = "'provider' = 'python', 'function' = 'shouting:Length', 'plus' = '100'"
FILES = "'connector' = 'filesystem', 'format' = 'csv', 'path' ="
FULL = "FRESHNESS = INTERVAL '1' SECOND REFRESH_MODE = FULL"
ENDLESS = "CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory, modules = str(tmp_path_factory.mktemp("cluster")), tmp_path_factory.mktemp("modules")
    (modules / "shouting.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(modules), os.pathsep)
        started = firesteel("cluster", "start", directory, "--session", "--port", "0", "--slots", "8")
    yield started.strip()
    firesteel("cluster", "stop", directory)


@pytest.fixture(scope="module")
def address(url: str) -> str:
    return url.removeprefix("http://")


@pytest.fixture(scope="module")
def sql_client(tmp_path_factory: pytest.TempPathFactory) -> SqlClient:
    return SqlClient(tmp_path_factory.mktemp("client"))


def firesteel(*arguments: str) -> str:
    command = [sys.executable, "-m", "firesteel.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_flinks_sql_client_prints_what_it_prints_with_flink(sql_client: SqlClient, address: str) -> None:
    printed = sql_client.run(address, "-i", str(HERE / "init.sql"), "-f", str(HERE / "script.sql"))
    shown = printed[printed.index("Flink SQL>") :]
    for noise in (r"\x1b\[[0-9;]*m", r" \(\d+\.\d+ seconds\)"):
        shown = re.sub(noise, "", shown)
    assert shown.splitlines() == (HERE / "script.txt").read_text().splitlines()


def test_flinks_sql_client_shows_what_it_shows_with_flink(sql_client: SqlClient, address: str) -> None:
    with Terminal(sql_client.command(address), sql_client.environment, *LONG) as terminal:
        assert typed(terminal) == (HERE / "typed.txt").read_text().splitlines()


@pytest.mark.parametrize(
    "mode", [MODES[0], *(pytest.param(mode, marks=pytest.mark.thorough) for mode in MODES[1:])]
)
def test_flinks_sql_client_has_pages_of_rows(sql_client: SqlClient, address: str, mode: str) -> None:
    with Terminal(sql_client.command(address), sql_client.environment, *USUAL) as terminal:
        assert paged(terminal, mode) == (HERE / f"page_{mode}.txt").read_text().splitlines()


def test_flinks_jdbc_driver_reads_what_it_reads_with_flink(address: str) -> None:
    assert run_jdbc(address).splitlines() == (HERE / "jdbc_round.txt").read_text().splitlines()


def test_the_client_py_flink_sql_gateway_does_a_round(url: str) -> None:
    assert run_python("py-flink-sql-gateway", "0.1.6", "dbapi_round.py", url).splitlines() == [
        "[('a', 'INTEGER'), ('twice', 'INTEGER'), ('s', 'VARCHAR')]",
        "[(1, 2, '1'), (2, 4, '2'), (3, 6, '3')]",
        "True",
    ]


def test_the_client_flink_sql_gateway_api_does_a_round(url: str) -> None:
    assert run_python("flink-sql-gateway-api", "2.1.0", "openapi_round.py", url).splitlines() == [
        "2.3.0",
        "{'execution.runtime-mode': 'batch'}",
        "[{'kind': 'INSERT', 'fields': [1, 'x']}]",
        "FINISHED",
        "CLOSED",
        "CLOSED",
    ]


def test_a_job_of_an_insert_outlives_its_session_and_the_gateway(url: str) -> None:
    client = GatewayClient(url)
    client.execute(ENDLESS)
    client.execute("CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole')")
    job = client.execute("INSERT INTO gone SELECT n FROM endless").job_id
    cluster = ClusterClient(url)
    until(lambda: cluster.ask("GET", f"/jobs/{job}/status")["status"] == "RUNNING")
    kill_gateway(url)
    with pytest.raises(ProgramError, match=r"does not exist|has ended"):
        client.options()
    client.close()
    other = GatewayClient(url)
    assert [row["status"] for row in jobs(other) if row["job id"] == job] == ["RUNNING"]
    other.execute(f"STOP JOB '{job}'")
    until(lambda: cluster.ask("GET", f"/jobs/{job}/status")["status"] == "FINISHED")
    other.close()


def test_the_cluster_keeps_tables_fresh(url: str, tmp_path: Path) -> None:
    client, numbers = GatewayClient(url), tmp_path / "numbers"
    numbers.mkdir()
    (numbers / "one.csv").write_text("3\n")
    for statement in (
        f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{tmp_path}/catalog')",
        "USE CATALOG kept",
        ENDLESS,
        f"CREATE TABLE files (v BIGINT) WITH ({FILES} '{numbers}')",
        "CREATE MATERIALIZED TABLE followed FRESHNESS = INTERVAL '1' SECOND AS SELECT COUNT(*) AS n FROM endless",
        f"CREATE MATERIALIZED TABLE total {FULL} AS SELECT SUM(v) AS s FROM files",
    ):
        client.execute(statement)
    kill_gateway(url)
    client.close()
    client = GatewayClient(url)
    client.execute(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{tmp_path}/catalog')")
    client.execute("USE CATALOG kept")
    client.execute("SET 'execution.runtime-mode' = 'batch'")

    def value(column: str, name: str) -> int:
        return sum(row[column] for row in rows_of(client, f"SELECT {column} FROM {name}"))

    until(lambda: value("s", "total") == 3)
    first = value("n", "followed")
    (numbers / "two.csv").write_text("4\n")
    until(lambda: value("s", "total") == 7)
    until(lambda: value("n", "followed") > first)
    client.execute("ALTER MATERIALIZED TABLE followed SUSPEND")
    suspended = value("n", "followed")
    client.execute("ALTER MATERIALIZED TABLE total SUSPEND")
    client.execute("ALTER MATERIALIZED TABLE followed RESUME")
    until(lambda: value("n", "followed") > suspended)
    client.execute("DROP MATERIALIZED TABLE followed")
    client.execute("DROP MATERIALIZED TABLE total")
    until(lambda: not [job for job in jobs(client) if job["status"] in ("RUNNING", "CREATED")])
    client.close()


@pytest.mark.thorough
def test_a_job_of_an_insert_calls_functions_and_asks_models(url: str, tmp_path: Path) -> None:
    client = GatewayClient(url, {"execution.runtime-mode": "batch", "table.dml-sync": "true"})
    for statement in (
        "CREATE TEMPORARY FUNCTION shout AS 'shouting.shout' LANGUAGE PYTHON",
        f"CREATE TEMPORARY MODEL length INPUT (word STRING) OUTPUT (length INT) WITH ({LENGTH})",
        f"CREATE TABLE said (word STRING, length INT) WITH ({FILES} '{tmp_path}/said')",
    ):
        client.execute(statement)
    words = "(SELECT * FROM (VALUES 'a', 'bcd') AS t (w))"
    query = f"SELECT shout(w), length FROM ML_PREDICT(TABLE {words}, MODEL length, DESCRIPTOR(w))"
    assert rows(client, query) == [("a!", 101), ("bcd!", 103)]
    list(client.execute(f"INSERT INTO said {query}").changes)
    assert rows(client, "SELECT * FROM said") == [("a!", 101), ("bcd!", 103)]
    client.close()


def test_jobs_and_queries_call_functions_of_the_files_of_their_session(url: str, tmp_path: Path) -> None:
    for number, end in enumerate("?!"):
        file = tmp_path / str(number) / "own_shouting.py"
        file.parent.mkdir()
        file.write_text(MODULE.replace("!", end))
        options = {"execution.runtime-mode": "batch", "table.dml-sync": "true", "python.files": str(file)}
        client = GatewayClient(url, options)
        for statement in (
            "CREATE TEMPORARY FUNCTION shout AS 'own_shouting.shout' LANGUAGE PYTHON",
            f"CREATE TABLE said (word STRING) WITH ({FILES} '{tmp_path}/said{number}')",
        ):
            client.execute(statement)
        assert rows(client, "SELECT shout('a')") == [(f"a{end}",)]
        list(client.execute("INSERT INTO said SELECT shout('b')").changes)
        assert rows(client, "SELECT * FROM said") == [(f"b{end}",)]
        client.close()


@pytest.mark.thorough
def test_each_insert_of_a_script_is_a_job(url: str, tmp_path: Path) -> None:
    script = f"""
        SET 'execution.runtime-mode' = 'batch';
        SET 'table.dml-sync' = 'true';
        CREATE TABLE ones (n INT) WITH ({FILES} '{tmp_path}/ones');
        CREATE TABLE tens (n INT) WITH ({FILES} '{tmp_path}/tens');
        INSERT INTO ones VALUES 1, 2;
        INSERT INTO tens SELECT n * 10 FROM ones;
    """
    cluster = ClusterClient(url)
    session = post(f"{url}/v4/sessions", {})["sessionHandle"]
    before = len(cluster.ask("GET", "/jobs")["jobs"])
    script_id = post(f"{url}/v4/sessions/{session}/scripts", {"script": script})["clusterID"]
    cluster.ask("DELETE", f"/sessions/{session}")
    until(lambda: cluster.ask("GET", f"/jobs/{script_id}/status")["status"] == "FINISHED")
    assert len(cluster.ask("GET", "/jobs")["jobs"]) == before + 3
    written = [file.read_text() for file in (tmp_path / "tens").iterdir() if not file.name.startswith(".")]
    assert sorted("".join(written).split()) == ["10", "20"]


def test_the_state_of_a_job_is_read_by_its_address(url: str) -> None:
    client = GatewayClient(url)
    client.execute(ENDLESS)
    client.execute("CREATE TABLE gone (k INT, n BIGINT) WITH ('connector' = 'blackhole')")
    job = client.execute("INSERT INTO gone SELECT n % 2, COUNT(*) FROM endless GROUP BY n % 2").job_id
    cluster = ClusterClient(url)
    until(
        lambda: (cluster.ask("GET", f"/jobs/{job}/checkpoints").get("counts") or {}).get("completed", 0) > 1
    )
    operators = cluster.ask("GET", f"/jobs/{job}/operators")["operators"]
    counting = next(operator["id"] for operator in operators if operator["states"])
    query = "SELECT `EXPR$0` AS k, `count` AS n FROM state_of(?, ?, 'groups')"
    with dbapi.connect(url) as connection:
        found = connection.cursor().execute(query, [f"{url}/jobs/{job}", counting]).fetchall()
    assert {k for k, _ in found} <= {-1, 0, 1}
    assert sum(n for _, n in found) > 0
    client.execute(f"STOP JOB '{job}'")
    client.close()


def post(url: str, body: Mapping[str, object]) -> dict[str, str]:
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        found: dict[str, str] = json.load(answer)
        return found


def rows(client: GatewayClient, query: str) -> list[tuple[object, ...]]:
    found = [row for changes in client.execute(query).changes for row in changes[0].to_pylist()]
    return sorted(tuple(row.values()) for row in found)


def jobs(client: GatewayClient) -> list[dict[str, Any]]:
    return rows_of(client, "SHOW JOBS")


def rows_of(client: GatewayClient, statement: str) -> list[dict[str, Any]]:
    return [row for changes in client.execute(statement).changes for row in changes[0].to_pylist()]


def kill_gateway(url: str) -> None:
    """Kill the gateway's process, and wait until it is no more."""
    process = gateway_process(url)
    os.kill(process, signal.SIGKILL)
    until(lambda: not alive(process))


def alive(process: int) -> bool:
    """Whether a process has not given back its files; one that waits for its parent has."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gateway_process(url: str) -> int:
    """The process whose command line has the gateway's module, and whose parent serves this URL."""
    directory = ClusterClient(url).ask("GET", "/jobmanager/config")
    place = next(entry["value"] for entry in directory if entry["key"] == "firesteel.cluster.directory")
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            if "firesteel.rest.gateway.process" in command and place in command:
                return int(entry.name)
    raise AssertionError("no gateway is running")
