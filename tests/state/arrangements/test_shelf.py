"""Chunks in mapped files."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import StateError
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.shelf import MappedFiles

LAYOUT = Layout(pa.schema([("key", pa.int64()), ("text", pa.string())]), ("key",))


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    return tmp_path / "local"


def rows(first: int, count: int) -> pa.RecordBatch:
    keys = np.arange(first, first + count)
    return pa.RecordBatch.from_pydict({"key": keys, "text": [f"text {key % 100}" for key in keys.tolist()]})


def mapped_files() -> int:
    """Return how many files of chunks this process maps."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split(maxsplit=5)[4] for line in maps if "firesteel-chunk-" in line})


def test_an_arrangement_in_files_is_the_same(directory: Path) -> None:
    in_files, in_memory = (
        Arrangement(LAYOUT, MappedFiles(1000), chunk_rows=500),
        Arrangement(LAYOUT, chunk_rows=500),
    )
    for start in range(0, 5_000, 1_000):
        for arrangement in (in_files, in_memory):
            arrangement.put(rows(start // 2, 1_000))
            arrangement.changes()
    assert [*in_files.rows()] == [*in_memory.rows()]
    wanted = rows(100, 50).select(["key"])
    assert in_files.get(wanted).rows.num_rows == 50
    assert not [*directory.iterdir()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_files_go_with_the_chunks() -> None:
    gc.collect()
    before = mapped_files()
    kept = [MappedFiles(1000).keep(rows(0, 1_000)).rows for _ in range(5)]
    assert mapped_files() == before + 5
    assert kept[0] == rows(0, 1_000)
    kept.clear()
    gc.collect()
    assert mapped_files() == before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_small_chunks_stay_in_memory() -> None:
    before = mapped_files()
    batch = rows(0, 10)
    assert MappedFiles().keep(batch).rows is batch
    assert mapped_files() == before


def test_a_part_of_a_batch_takes_the_space_of_that_part(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    memory_map = pa.memory_map
    monkeypatch.setattr(
        pa, "memory_map", lambda path: sizes.append(Path(path).stat().st_size) or memory_map(path)
    )
    MappedFiles(1000).keep(rows(0, 100_000).slice(10, 1_000))
    assert max(sizes) < 100_000


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(occupied))
    with pytest.raises(StateError, match="a part of an arrangement"):
        MappedFiles(1000).keep(rows(0, 1_000))
