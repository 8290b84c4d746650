"""`firesteel jobs`: what is below a directory, and how it does."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.cli.tables import Column, show_table
from firesteel.common.errors import ConnectorError
from firesteel.control.commands import ALIVE_MS, DriverStatus, now_ms, read_status, write_status
from harness import s3
from tests.cli.gated import RECORDS, running

pytestmark = pytest.mark.usefixtures("machine")


def listed(firesteel, directory):
    """The jobs that are listed, by the last part of their directory."""
    done = firesteel("jobs", "--json", directory)
    assert done.exit_code == 0, done.output
    return {Path(job["directory"]).name: job for job in json.loads(done.stdout)}


def test_a_job_from_its_start_to_its_end(firesteel, job, tmp_path):
    job.start()
    job.read(20)
    found = listed(firesteel, job.directory)["state"]
    assert (found["name"], found["status"], found["epoch"], found["parallelism"]) == (
        "gated",
        "RUNNING",
        4,
        2,
    )
    assert (found["host"], found["pid"]) == (socket.gethostname(), os.getpid())
    assert found["id"] == job.handle.job_id
    assert 0 <= now_ms() - found["last_epoch_at"] < 60_000
    lines = firesteel("jobs", job.directory).stdout.splitlines()
    assert lines[0].split()[:4] == ["NAME", "ID", "STATUS", "EPOCH"]
    assert "DRIVER" in lines[0]
    assert lines[1].split()[:4] == ["gated", job.handle.job_id[:8], "RUNNING", "4"]
    assert lines[1].endswith(str(job.state))
    job.finish()
    assert listed(firesteel, job.state)["state"]["status"] == "FINISHED"
    assert "DRIVER" not in firesteel("jobs", job.state).stdout


def test_a_job_that_failed_says_why(firesteel, job):
    handle = job.start()
    job.gate.write_text("many")
    with pytest.raises(ConnectorError, match="could not find out what there is to read"):
        handle.wait(30)
    found = listed(firesteel, job.state)["state"]
    assert found["status"] == "FAILED"
    assert "could not find out what there is to read" in found["error"]
    assert "gated: source 'numbers'" in firesteel("jobs", job.state).stdout


def test_every_status_has_its_place(firesteel, tmp_path):
    now = now_ms()
    for name, status, heartbeat in [
        ("alive", "RUNNING", now),
        ("lost", "RUNNING", now - ALIVE_MS),
        ("waiting", "RESTARTING", now),
        ("ended", "CANCELED", now - 10 * ALIVE_MS),
        ("begun", None, now),
    ]:
        storage = Storage.of(tmp_path / name)
        log = ManifestLog.open_or_create(storage, 128)
        if status is not None:
            write_status(
                storage, DriverStatus(log.job.job_id, f"the {name}", status, 7, 2, "far", 77, now, heartbeat)
            )
    (tmp_path / "other" / "inner").mkdir(parents=True)
    ManifestLog.open_or_create(Storage.of(tmp_path / "other" / "inner"), 128)
    Storage.of(tmp_path / "damaged").put("job.json", b"{")
    found = listed(firesteel, tmp_path)
    assert {name: job["status"] for name, job in found.items()} == {
        "alive": "RUNNING",
        "lost": "LOST",
        "waiting": "RESTARTING",
        "ended": "CANCELED",
        "begun": "UNKNOWN",
        "damaged": "DAMAGED",
    }
    assert "damaged/job.json must be as it was written" in found["damaged"]["error"]
    text = firesteel("jobs", tmp_path).stdout
    assert text.count("far/77") == 3  # not where the driver has ended
    assert f"{tmp_path / 'damaged'}: {tmp_path / 'damaged'}/job.json must be" in text


def test_no_jobs_at_all(firesteel, tmp_path):
    done = firesteel("jobs", tmp_path)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"no jobs in {tmp_path}, nor directly below it\n"
    assert listed(firesteel, tmp_path) == {}
    done = firesteel("jobs", tmp_path / "nowhere")
    assert done.exit_code == 1
    assert "nowhere is missing" in done.stderr


def test_a_terminal_gets_a_table(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    columns = [Column("NAME"), Column("EPOCH", number=True), Column("EMPTY")]
    show_table(columns, [["a [b]", "7", ""], ["LOST", "1,000", ""]])
    printed = capsys.readouterr().out
    assert "a [b]" in printed
    assert "LOST" in printed
    assert "EMPTY" not in printed


def test_jobs_in_a_bucket(firesteel, tmp_path, monkeypatch, program):
    with s3.serving() as url:
        s3.point_to(url, monkeypatch)
        bucket = f"s3://{s3.new_bucket(url)}/jobs"
        with running(tmp_path / "job", state=f"{bucket}/gated") as job:
            job.start()
            job.read(10)
            (found,) = json.loads(firesteel("jobs", "--json", bucket).stdout)
            assert (found["directory"], found["status"]) == (f"{bucket}/gated", "RUNNING")
            saved = firesteel("stop", "--savepoint", f"{bucket}/gated", f"{bucket}/kept").stdout.strip()
            assert saved.startswith(f"{bucket}/kept/savepoint-000002-")
        assert read_status(Storage.of(f"{bucket}/gated")).status == "FINISHED"
        with running(tmp_path / "second", state=f"{bucket}/second") as job:
            job.let(RECORDS)
            done = firesteel("run", "--from", saved, "--state-dir", "unused", program, job.gate, job.name)
            assert done.exit_code == 0, done.output
        (checkpoint,) = json.loads(firesteel("checkpoints", "--json", "--verify", saved).stdout)
        assert (checkpoint["epoch"], checkpoint["intact"]) == (2, True)
