from __future__ import annotations

import os
from pathlib import Path

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.functions.source import Boundedness, DiscoveryContext, Split

NONE = frozenset[str]()


def source_of(*paths: object, **options) -> FileSource[str]:
    return FileSource(list(map(str, paths)), TextLineFormat(), **options)


def lines(source: FileSource[str], *splits: Split) -> list[str]:
    return [
        line
        for split in (splits or source.splits(NONE))
        for batch in source.read(split, split.start, split.end)
        for line in batch
    ]


def test_directories_are_read_with_all_below_but_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a", ".b", "_c", "sub/d", "sub/.e", "_sub/f", "sub/deep/g"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    assert lines(source_of(tmp_path)) == ["a", "sub/d", "sub/deep/g"]
    assert lines(source_of(tmp_path / "_c")) == ["_c"]
    assert lines(source_of(tmp_path / "*")) == ["a", "sub/d", "sub/deep/g"]
    assert lines(source_of(tmp_path / "sub", tmp_path / "a", tmp_path)) == ["a", "sub/d", "sub/deep/g"]
    assert lines(source_of(tmp_path.as_uri())) == ["a", "sub/d", "sub/deep/g"]


def test_large_files_are_split_whatever_the_parallelism(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("12\n" * 10)
    splits = list(source_of(path, split_size=8).splits(NONE))
    assert [(split.start, split.end) for split in splits] == [(0, 8), (8, 16), (16, 24), (24, 30)]
    assert [split.id for split in splits] == [f"{path}@{number}" for number in range(4)]
    [whole] = source_of(path, split_size=8, splittable=False).splits(NONE)
    assert (whole.start, whole.end) == (0, 30)


@pytest.mark.parametrize(
    ("split_size", "parallelism", "ends"), [(20, 8, [15, 30]), (8, 2, [15, 30]), (30, 2, [30])]
)
def test_the_parts_of_a_file_have_one_size_and_are_no_more_than_subtasks(
    tmp_path: Path, split_size: int, parallelism: int, ends: list[int]
) -> None:
    path = tmp_path / "a"
    path.write_text("12\n" * 10)
    source = source_of(path, split_size=split_size)
    splits = [*source.discover(DiscoveryContext(NONE, parallelism, 0))]
    assert [split.end for split in splits] == ends
    assert lines(source, *splits) == ["12"] * 10


def test_a_bounded_source_is_asked_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    source = source_of(tmp_path)
    [split] = source.splits(NONE)
    (tmp_path / "b").write_text("b")
    assert source.splits(frozenset({split.id})) == []


def test_a_watched_directory_gives_each_file_once(tmp_path: Path) -> None:
    source = source_of(tmp_path, discovery_interval=1000, split_size=2)
    assert source.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    assert source.discovery_interval == 1000
    known = NONE
    assert source.splits(known) == []
    (tmp_path / "a").write_text("a\nb")
    found = list(source.splits(known))
    assert lines(source, *found) == ["a", "b"]
    known |= {split.id for split in found}
    with (tmp_path / "a").open("a") as file:
        file.write("\nc\nd")
    (tmp_path / ".b").write_text("b")
    assert source.splits(known) == []
    assert lines(source, *found) == ["a", "b"]
    (tmp_path / ".b").rename(tmp_path / "b")
    restarted = source_of(tmp_path, discovery_interval=1000)
    assert lines(source, *restarted.splits(known)) == ["b"]


def test_empty_files_wait_for_content(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert source_of(tmp_path).splits(NONE) == []


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(
        ConnectorError, match="FileSource requires a file or a directory that exists; got the path"
    ):
        source_of(tmp_path / "none").splits(NONE)
    with pytest.raises(ConnectorError, match="requires a file or a directory"):
        source_of(tmp_path / "none" / "*.txt").splits(NONE)
    assert source_of(tmp_path / "*.txt").splits(NONE) == []


@pytest.mark.parametrize("path", ["ftp://host/key", "hdfs:///a", "file://elsewhere/a"])
def test_other_file_systems(path: str) -> None:
    with pytest.raises(ConnectorError, match="requires a local path or a URL of a file system"):
        source_of(path)


def test_options() -> None:
    with pytest.raises(ProgramError, match="requires a list of at least one path"):
        FileSource("a.txt", TextLineFormat())
    with pytest.raises(ConfigurationError, match="requires a split size and a discovery interval"):
        source_of("a", discovery_interval=0)


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\nb\nc\n")
    source = source_of(path)
    [split] = source.splits(NONE)
    os.truncate(path, 2)
    with pytest.raises(ConnectorError, match="it shrank from 6 to 2 bytes"):
        lines(source, split)


def test_a_file_that_shrinks_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\n" * 1_000_000)
    source = source_of(path)
    [split] = source.splits(NONE)
    batches = source.read(split, 0, split.end)
    next(batches)
    os.truncate(path, 2)
    with pytest.raises(ConnectorError, match=r"it shrank, .* bytes are missing"):
        list(batches)


def test_a_file_that_disappears(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a")
    source = source_of(path)
    [split] = source.splits(NONE)
    path.unlink()
    with pytest.raises(ConnectorError, match=f"file {path} requires a file that exists"):
        lines(source, split)


@pytest.mark.parametrize("content", ["x\nb\n", "x\nb\nmore\n"])
def test_a_file_that_is_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a"
    path.write_text("a\nb\n")
    source = source_of(path)
    [split] = source.splits(NONE)
    path.with_suffix(".new").write_text(content)
    os.utime(path.with_suffix(".new"), (1, 1))
    path.with_suffix(".new").rename(path)
    with pytest.raises(ConnectorError, match="requires that files stay as they are while a job reads them"):
        lines(source, split)


def test_a_touched_file_is_still_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a\n")
    source = source_of(path)
    [split] = source.splits(NONE)
    os.utime(path, (1, 1))
    assert lines(source, split) == ["a"]


def test_truncated_gzip(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(os.urandom(10_000))[:-100])
    source = source_of(path)
    [split] = source.splits(NONE)
    assert split.end is None
    with pytest.raises(ConnectorError, match=r"a\.gz requires compressed data that is whole"):
        list(source.read(split, 0, 2**63 - 1))
