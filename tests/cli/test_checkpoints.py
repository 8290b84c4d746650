"""`firesteel checkpoints`: the epochs that are kept, and where they come from."""

from __future__ import annotations

import hashlib
import json

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.control.views.checkpoints import find_checkpoints
from tests.cli.gated import RECORDS, counts, running

pytestmark = pytest.mark.usefixtures("machine")


def listed(firesteel, directory, *options):
    done = firesteel("checkpoints", "--json", directory, *options)
    return json.loads(done.stdout)


def run(firesteel, program, job, *options):
    done = firesteel("run", *options, "--state-dir", job.state, program, job.gate, job.name)
    assert done.exit_code == 0, done.output


def state_size(directory, epoch):
    layers = ManifestReader(Storage.of(directory)).all_layers(0, epoch)
    return sum(layer.size for found in layers.values() for layer in found)


def test_epochs_with_their_sizes_records_and_program(firesteel, program, job):
    job.let(RECORDS)
    run(firesteel, program, job, "--conf", "execution.checkpointing.num-retained=4")
    found = listed(firesteel, job.state, "--verify")
    assert [checkpoint["epoch"] for checkpoint in found] == [9, 10, 11, 12]
    for checkpoint in found:
        assert (checkpoint["records"], checkpoint["intact"], checkpoint["new_history"]) == (5, True, False)
        assert checkpoint["state_bytes"] == state_size(job.state, checkpoint["epoch"])
        assert 0 < checkpoint["written_bytes"] < checkpoint["state_bytes"]
        assert checkpoint["program"] == "gated_program.py"
        assert checkpoint["fingerprint"] == hashlib.sha256(program.read_bytes()).hexdigest()[:12]
        assert checkpoint["parallelism"] == [2]
    assert [checkpoint["finished"] for checkpoint in found] == [False] * 3 + [True]
    lines = firesteel("checkpoints", job.state).stdout.splitlines()
    assert lines[0].split()[:5] == ["EPOCH", "TIME", "STATE", "WRITTEN", "RECORDS"]
    assert len(lines) == 5
    assert "INTACT" not in lines[0]
    assert lines[-1].endswith("finished")


def test_sizes_are_right_where_compactions_come_between(firesteel, program, job):
    job.let(RECORDS)
    options = ("--conf", "firesteel.compaction.epochs=2", "--conf", "execution.checkpointing.num-retained=99")
    run(firesteel, program, job, *options)
    manifests = ManifestReader(Storage.of(job.state))
    found = find_checkpoints(Storage.of(job.state))
    assert len(found) == 12
    assert any(manifests.read(checkpoint.epoch).compacted for checkpoint in found)
    for checkpoint in found:
        assert checkpoint.state_bytes == state_size(job.state, checkpoint.epoch)


def test_going_back_begins_a_new_history(firesteel, program, job, tmp_path):
    job.start()
    job.read(20)
    assert firesteel("stop", job.state).exit_code == 0
    job.let(RECORDS)
    run(firesteel, program, job, "--from", "2", "--conf", "execution.checkpointing.num-retained=99")
    assert job.rows == sorted(counts(0, 20) + counts(10, RECORDS))  # what was seen stays seen
    found = listed(firesteel, job.state)
    by_epoch = {checkpoint["epoch"]: checkpoint for checkpoint in found}
    assert [epoch for epoch in by_epoch if by_epoch[epoch]["new_history"]] == [5]
    assert (by_epoch[5]["restored_from"], by_epoch[5]["records"]) == ("epoch 2", 0)
    assert by_epoch[5]["state_bytes"] == state_size(job.state, 2) == state_size(job.state, 5)
    assert "starts again from epoch 2" in firesteel("checkpoints", job.state).stdout
    with running(tmp_path / "third") as third:
        third.let(RECORDS)
        run(firesteel, program, third, "--from", job.state)
        (first,) = listed(firesteel, third.state)
        assert (first["restored_from"], first["finished"]) == (str(job.state), True)


def test_a_savepoint_is_one_line(firesteel, job):
    job.start()
    job.read(20)
    path = firesteel("savepoint", job.state).stdout.strip()
    (found,) = listed(firesteel, path, "--verify")
    assert (found["epoch"], found["intact"], found["written_bytes"]) == (4, True, 0)
    assert found["state_bytes"] == state_size(job.state, 4)


def test_damage_is_found_and_named(firesteel, job):
    job.start()
    job.finish()
    storage = Storage.of(job.state)
    run_of_last = next(
        run for snapshot in ManifestReader(storage).read(12).operators.values() for run in snapshot.runs
    )
    storage.put(run_of_last.path, b"something else")
    assert firesteel("checkpoints", job.state).exit_code == 0
    done = firesteel("checkpoints", "--verify", job.state)
    assert done.exit_code == 1
    assert f"epoch 12: {job.state}/{run_of_last.path} must be" in done.stdout
    found = listed(firesteel, job.state, "--verify")
    assert [checkpoint["intact"] for checkpoint in found] == [True] * 9 + [False]


def test_a_damaged_manifest_leaves_the_others_listed(firesteel, job):
    job.start()
    job.finish()
    storage = Storage.of(job.state)
    storage.put(manifest_path(12), b"something else")
    done = firesteel("checkpoints", job.state)
    assert done.exit_code == 1
    assert f"epoch 12: {job.state}/{manifest_path(12)} must be as it was written" in done.stdout
    assert [checkpoint["epoch"] for checkpoint in listed(firesteel, job.state)] == list(range(1, 13))
    assert firesteel("jobs", job.state).stdout.count("DAMAGED") == 1


def test_a_job_without_an_epoch(firesteel, job):
    job.start()
    done = firesteel("checkpoints", job.state)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"no epoch has been committed in {job.state}\n"
