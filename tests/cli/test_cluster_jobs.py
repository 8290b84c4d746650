"""Commands take the address of a job in a cluster where they take its state directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.rest.client import ClusterClient

URL = "http://127.0.0.1:8081"
JOB = {"jid": "a" * 32, "name": "visits", "state": "FAILED", "duration": 17_000}


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """A cluster with a job whose state directory cannot be reached from here."""
    place = str(tmp_path / "nowhere")

    def ask(self, method, path, body=None):
        assert (method, body) == ("GET", None)
        return {"jobs": [JOB]} if path == "/jobs/overview" else {"state-directory": place}

    monkeypatch.setattr(ClusterClient, "ask", ask)
    return place


@pytest.mark.parametrize("command", [("metrics",), ("checkpoints",), ("flamegraph",), ("state", "ls")])
def test_the_state_directory_of_the_job_is_read(firesteel, nowhere, command):
    done = firesteel(*command, f"{URL}/jobs/visits")
    assert done.exit_code == 1
    assert nowhere in done.stderr
    assert not Path(nowhere).exists()


@pytest.mark.parametrize("command", [("savepoint",), ("stop", "--savepoint")])
def test_a_relative_directory_for_a_savepoint_is_refused(firesteel, command):
    done = firesteel(*command, f"{URL}/jobs/visits", "kept")
    assert done.exit_code == 1
    assert "requires an absolute path or a URL for a job in a cluster; got kept" in done.stderr
    assert "hint: the job's driver writes the savepoint" in done.stderr


def test_a_job_that_has_ended_is_listed_with_its_duration(firesteel):
    header, row = firesteel("jobs", URL).stdout.splitlines()
    assert header.split() == ["NAME", "ID", "STATUS", "DURATION"]
    assert row.split() == ["visits", "a" * 32, "FAILED", "17", "s"]
