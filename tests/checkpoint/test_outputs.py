"""Output that sinks store beside the checkpoints: durable, checked, and removed when its epoch is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.outputs import StoredOutputs
from firesteel.common.errors import StateCorruptedError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Committer, OutputStore, Sink, SinkWriter, WriterContext
from tests.recovery.jobs import environment


def test_what_is_stored_is_read_until_it_is_removed(tmp_path: Path) -> None:
    outputs = StoredOutputs(Storage.of(tmp_path))
    context = WriterContext("job", "sink", 3, 4, EpochFacts(7, "c0ffee-1", 0), outputs=outputs)
    first, second = context.store(b"first"), context.store(b"first")
    assert first.name.startswith("sink/000000000007-00003-c0ffee-1-")
    assert first != second
    assert outputs.get(first) == b"first"
    outputs.remove([first])
    outputs.remove([first])
    with pytest.raises(StateCorruptedError, match=first.name):
        outputs.get(first)
    assert outputs.get(second) == b"first"


def test_damage_is_found(tmp_path: Path) -> None:
    outputs = StoredOutputs(Storage.of(tmp_path))
    stored = outputs.put("sink/000000000007-x", b"records")
    (tmp_path / "outputs" / stored.name).write_bytes(b"recordz")
    with pytest.raises(StateCorruptedError, match="another checksum"):
        outputs.get(stored)


class Stored(Sink):
    """Stores each epoch's values, and writes them to a file when they are published; removes nothing itself."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return Writer(context)

    def create_committer(self) -> Committer:
        return Publish(self._path)


class Writer(SinkWriter):
    def __init__(self, context: WriterContext) -> None:
        self._context = context
        self._values: list[int] = []

    def write(self, values, timestamps):
        self._values.extend(values)

    def prepare_commit(self):
        return [self._context.store(",".join(map(str, self._values)).encode())]


class Publish(Committer):
    def __init__(self, path: Path) -> None:
        self._path = path

    def attach(self, outputs: OutputStore) -> None:
        self._outputs = outputs

    def commit(self, committables):
        with self._path.open("a") as file:
            for stored in committables:
                file.write(self._outputs.get(stored).decode() + "\n")


def test_garbage_of_published_epochs_is_collected(tmp_path: Path) -> None:
    policy = MaintenancePolicy(3, 3, inline=True)
    with environment(tmp_path, parallelism=2, epoch_records=4, maintenance=policy) as env:
        env.from_collection(range(40)).sink_to(Stored(tmp_path / "published"))
        env.execute()
    found = (tmp_path / "published").read_text().replace("\n", ",").strip(",").split(",")
    assert sorted(map(int, found)) == list(range(40))
    left = {int(path.name[:12]) for path in (tmp_path / "state" / "outputs").rglob("0*")}
    assert left == {10}
