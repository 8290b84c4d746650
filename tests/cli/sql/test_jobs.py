"""A job of SQL on Spark in a process of its own, controlled from other processes while files arrive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.driving import WORDS, arrive, counts, driver, visible
from tests.cli.sql.counting import script, totals, words
from tests.conftest import RunPython

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.timeout(600)]


@pytest.mark.long
def test_a_job_of_sql_is_controlled_from_other_processes(tmp_path: Path, run_python: RunPython) -> None:
    def firesteel(*arguments: object) -> str:
        done = run_python("-m", "firesteel.cli", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def only_job(states: str) -> dict[str, object]:
        [job] = json.loads(firesteel("jobs", "--json", states))
        assert isinstance(job, dict)
        return job

    (tmp_path / "in").mkdir()
    arrive(tmp_path, "1.csv")
    with driver(tmp_path, "--state-dir", "first", "-f", script(tmp_path, "one"), subcommand="sql") as first:
        first.wait_for(lambda: visible(tmp_path / "one") == counts(0, 1))
        job = only_job("first")["directory"]
        earlier = firesteel("savepoint", job, "kept")
        assert firesteel("rescale", job, 3) == "parallelism 3"
        arrive(tmp_path, "2.csv")
        first.wait_for(lambda: visible(tmp_path / "one").total() >= 2 * WORDS)
        assert (only_job("first")["status"], only_job("first")["parallelism"]) == ("RUNNING", 3)
        later = firesteel("stop", "--savepoint", job, "kept")
        assert first.end() == (0, "")
    assert visible(tmp_path / "one") == counts(0, 2)
    assert totals(tmp_path, "one") == words(2)
    arrive(tmp_path, "3.csv")

    def starts_from(savepoint: str, name: str, files: int, parallelism: int) -> None:
        options = ("-f", script(tmp_path, name), "-p", str(parallelism), "--from", savepoint)
        with driver(tmp_path, "--state-dir", f"state-{name}", *options, subcommand="sql") as again:
            again.wait_for(lambda: visible(tmp_path / name).total() >= (3 - files) * WORDS)
            firesteel("stop", only_job(f"state-{name}")["directory"])
            assert again.end() == (0, "")
        assert visible(tmp_path / name) == counts(files, 3)
        assert totals(tmp_path, name) == words(3)

    starts_from(earlier, "two", 1, 1)
    starts_from(later, "three", 2, 3)
