"""Arrangements whose levels several processes share: they are what one process alone would have."""

from __future__ import annotations

import operator
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.state.arrangements import shared
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.shared import find, publish
from firesteel.state.arrangements.shelf import MappedFiles
from firesteel.state.live.durable import RunRef

ROWS = pa.schema([("time", pa.int64()), ("key", pa.int64())])
LAYOUTS = [
    Layout(ROWS, ("key",)),
    Layout(ROWS, ("key",), leading="time"),
    Layout(ROWS, ("key",), Kind.MULTISET, leading="time", time_to_live=5),
]


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))


def run_of(epoch: int, attempt: int = 0) -> RunRef:
    return RunRef(f"runs/a/{epoch}-{attempt}.run", 1, 1, "", epoch, "a", 0, 0, 127)


class Process:
    def __init__(self, directory: Path, layout: Layout, in_memory: int) -> None:
        self.files = MappedFiles(in_memory)
        self.arrangement = Arrangement(layout, self.files, chunk_rows=8)
        self.directory = directory
        self.epoch = 0

    def work(self, epoch: int, rows: pa.RecordBatch, drop: int) -> None:
        """Work on an epoch as the process that runs the subtask does."""
        self.files.share(self.directory, epoch)
        if epoch > 1 and self.epoch != epoch - 1:
            known = self.arrangement.committed()
            form = find(self.files, epoch - 1, run_of(epoch - 1), self.arrangement.layout, known)
            assert form is not None
            self.arrangement.restore(form)
        change(self.arrangement, epoch, rows, drop)
        publish(self.files, epoch, run_of(epoch), self.arrangement.committed())
        self.epoch = epoch


def change(arrangement: Arrangement, now: int, rows: pa.RecordBatch, drop: int) -> None:
    arrangement.advance(now)
    if arrangement.layout.leading is not None:
        arrangement.drop_up_to(drop)
    arrangement.put(rows)
    arrangement.changes()


def batch_of(number: int, source: random.Random) -> pa.RecordBatch:
    times = [number + source.randrange(4) for _ in range(20)]
    return pa.RecordBatch.from_pydict({"time": times, "key": [source.randrange(60) for _ in times]})


def everything(arrangement: Arrangement) -> list[dict[str, int]]:
    return [row for batch in arrangement.rows() for row in batch.to_pylist()]


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.integers(0, 2), min_size=3, max_size=30),
    st.sampled_from([0, 200, 1_000_000]),
    st.integers(0, 100),
)
@settings(max_examples=60)
def test_processes_take_over_from_each_other(
    layout: Layout, turns: list[int], in_memory: int, seed: int
) -> None:
    source, alone = random.Random(seed), Arrangement(layout, chunk_rows=8)
    with TemporaryDirectory() as directory:
        processes = [Process(Path(directory), layout, in_memory) for _ in range(3)]
        for epoch, turn in enumerate(turns, 1):
            rows = batch_of(epoch, source)
            processes[turn].work(epoch, rows, epoch - 4)
            change(alone, epoch, rows, epoch - 4)
            assert everything(processes[turn].arrangement) == everything(alone)
            assert processes[turn].arrangement.level_sizes() == alone.level_sizes()


def test_files_that_nobody_needs_are_removed(tmp_path: Path) -> None:
    source = random.Random(1)
    processes = [Process(tmp_path, LAYOUTS[0], 0) for _ in range(2)]
    counts = []
    for epoch in range(1, 80):
        processes[epoch % 3 % 2].work(epoch, batch_of(epoch, source), 0)
        counts.append(len([*tmp_path.iterdir()]))
    assert max(counts[40:]) < 150
    assert not [*tmp_path.glob("00000000003*.levels")]


def test_without_the_files_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(1)
    first, second = (Process(tmp_path, LAYOUTS[0], 0) for _ in range(2))
    second.files.share(tmp_path, 2)
    nothing = second.arrangement.committed()
    assert find(second.files, 1, run_of(1), LAYOUTS[0], nothing) is None
    first.work(1, batch_of(1, source), 0)
    assert find(second.files, 1, run_of(1, attempt=1), LAYOUTS[0], nothing) is None
    assert find(second.files, 1, run_of(1), LAYOUTS[0], nothing) is not None
    with monkeypatch.context() as patch:
        patch.setattr(shared, "boot_id", lambda: "another")
        assert find(second.files, 1, run_of(1), LAYOUTS[0], nothing) is None
    for file in tmp_path.glob("*.chunk"):
        file.unlink()
    assert find(second.files, 1, run_of(1), LAYOUTS[0], nothing) is None
    publish(first.files, 1, run_of(1), first.arrangement.committed())
    found = find(second.files, 1, run_of(1), LAYOUTS[0], nothing)
    assert found is not None
    second.arrangement.restore(found)
    assert everything(second.arrangement) == everything(first.arrangement)


def test_what_a_process_has_mapped_is_not_mapped_again(tmp_path: Path) -> None:
    process = Process(tmp_path, LAYOUTS[0], 0)
    process.work(1, pa.RecordBatch.from_pydict({"time": np.zeros(20, np.int64), "key": range(20)}), 0)
    known = process.arrangement.committed()
    found = find(process.files, 1, run_of(1), LAYOUTS[0], known)
    assert found is not None
    before, after = ([chunk for level in form.levels for chunk in level] for form in (known, found))
    assert all(map(operator.is_, before, after))
    assert len(before) == len(after) > 0
