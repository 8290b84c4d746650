"""`firesteel sql --endpoint`: statements of a terminal, a file or a text, at a gateway in this process."""

from __future__ import annotations

import io
from pathlib import Path

from typer.testing import CliRunner

from firesteel.cli.main import app
from firesteel.cli.sql.remote import RemoteClient
from firesteel.rest.gateway.client import GatewayClient
from tests.rest.gateway.gateway_here import GatewayHere

GONE = "CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole');"


def run(url: str, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["sql", "--endpoint", url, *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_rows_are_shown_as_if_they_were_computed_here(url: str) -> None:
    assert run(url, "--batch", "-e", "SELECT 1 AS n, 'x' AS s, CAST(NULL AS INT) AS gap").splitlines() == [
        "+-------------+--------------------------------+-------------+",
        "|           n |                              s |         gap |",
        "+-------------+--------------------------------+-------------+",
        "|           1 |                              x |      <NULL> |",
        "+-------------+--------------------------------+-------------+",
        "1 row in set",
    ]
    assert run(url, "--format", "json", "-e", "SELECT 1.50 AS n, ARRAY['a'] AS s") == (
        '{"op": "+I", "n": 1.50, "s": ["a"]}\n'
    )
    assert run(url, "--format", "csv", "--batch", "-e", "VALUES (1, 'a')") == "EXPR$0,EXPR$1\n1,a\n"


def test_statements_share_a_session(url: str, tmp_path: Path) -> None:
    (tmp_path / "init.sql").write_text(GONE)
    shown = run(url, "-i", str(tmp_path / "init.sql"), "-e", "SHOW TABLES; EXPLAIN INSERT INTO gone VALUES 1")
    assert "gone" in shown.splitlines()[3]
    assert "== Optimized Physical Plan ==" in shown


def test_options_go_along(url: str) -> None:
    shown = run(url, "-p", "3", "--conf", "table.local-time-zone=Asia/Tokyo", "-e", "SET")
    assert "Asia/Tokyo" in shown
    assert "parallelism.default |" in shown
    refused = run(url, "--state-dir", "here", "-e", "SET", code=1)
    assert "takes neither a master, a state directory nor a savepoint" in refused


def test_errors_are_the_gateways(url: str) -> None:
    shown = run(url, "-e", "SELECT nope", code=1)
    assert "error: query (line 1, column 8) requires the name of a column; got nope" in shown
    assert "cannot be asked" in run("http://127.0.0.1:9", "-e", "SET", code=1)


def test_an_insert_is_a_job_of_the_cluster(listening: tuple[GatewayHere, str]) -> None:
    made, url = listening
    output = io.StringIO()
    client = RemoteClient(GatewayClient(url), output, interactive=True)
    client.run(f"{GONE} INSERT INTO gone VALUES 1; SET 'a' = 'b';")
    (job,) = made.dispatcher.jobs()
    assert output.getvalue().splitlines() == [
        "[INFO] Execute statement succeeded.",
        f"[INFO] Job ID: {job.id}",
        "[INFO] Session property has been set.",
    ]
    assert client.candidates("INSERT INTO go", "INSERT INTO go") == ("go", ["gone"])
    client.close()


def test_a_file_of_several_inserts_makes_several_jobs(
    listening: tuple[GatewayHere, str], tmp_path: Path
) -> None:
    made, url = listening
    before = {job.id for job in made.dispatcher.jobs()}
    insert = "INSERT INTO gone VALUES 1;"
    script = f"{GONE} {insert} {insert} EXECUTE STATEMENT SET BEGIN {insert} {insert} END;"
    (tmp_path / "script.sql").write_text(script)
    run(url, "-f", str(tmp_path / "script.sql"))
    assert len({job.id for job in made.dispatcher.jobs()} - before) == 3
