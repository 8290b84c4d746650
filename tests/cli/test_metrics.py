"""`firesteel metrics`: what a job's operators measure, while it runs and afterwards."""

from __future__ import annotations

import json

import pytest

from tests.cli.gated import RECORDS

pytestmark = pytest.mark.usefixtures("machine")


def values(firesteel, job, metric: str) -> dict[str, float]:
    done = firesteel("metrics", "--json", job.state)
    assert done.exit_code == 0, done.output
    return {
        operator["name"]: view["value"]
        for operator in json.loads(done.stdout)["operators"]
        for view in operator["metrics"]
        if view["name"] == metric
    }


def test_the_metrics_of_a_job_are_shown(firesteel, job):
    job.start()
    job.finish()
    assert values(firesteel, job, "numRecordsIn") == {
        "numbers": RECORDS,
        "count": RECORDS,
        "Writer": RECORDS,
    }
    lines = firesteel("metrics", job.state).stdout.splitlines()
    assert lines[0].split() == ["OPERATOR", "METRIC", "VALUE", "LEAST", "GREATEST"]
    (shown,) = (line.split() for line in lines if line.startswith("count ") and "numRecordsIn " in line)
    assert shown[2] == str(RECORDS)
    assert int(shown[3]) + int(shown[4]) == RECORDS


def test_another_driver_begins_at_zero(firesteel, job):
    handle = job.start()
    job.read(20)
    firesteel("stop", job.state)
    handle.wait(30)
    assert values(firesteel, job, "numRecordsIn")["count"] == 20
    job.start()
    job.finish()
    assert values(firesteel, job, "numRecordsIn")["count"] == RECORDS - 20


def test_a_directory_without_a_job_and_a_job_without_metrics(firesteel, job, tmp_path):
    (tmp_path / "empty").mkdir()
    done = firesteel("metrics", tmp_path / "empty")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no driver has reported metrics" in done.stderr
    assert firesteel("metrics", tmp_path / "nowhere").exit_code == 1
