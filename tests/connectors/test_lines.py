from __future__ import annotations

import bz2
import codecs
import gzip
import io
import itertools
import lzma
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.files import lines
from firesteel.connectors.files.file import PlainStream, SourceFile
from firesteel.connectors.files.format import WAITING, LineFormat
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.functions.source import END_OF_SPLIT, UNLIMITED, Source, Split

pieces = st.text(st.sampled_from("ab,é€😀\x0b\x0c\x1c\u2028\n\r"), max_size=40) | st.sampled_from(
    ["\r\n", "\n", "\r", "", "a\r\n\r\nb", "\r\r\n\n"]
)
texts = st.lists(pieces, max_size=8).map("".join)


def java_lines(text: str) -> list[str]:
    """What Java's readLine gives."""
    return [line.rstrip("\n") for line in io.StringIO(text, newline=None)]


class FeedLines(LineFormat[str]):
    """Lines that end with ``\\n`` alone, as in files of JSON."""

    feeds_only = True

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[str]:
        return [line.decode() for line in lines.feed_lines(block)]


def feed_lines(text: str) -> list[str]:
    *found, rest = text.split("\n")
    return [line.removesuffix("\r") for line in [*found, *([rest] if rest else [])]]


def read_split(source: Source, split: Split, bounds: list[int]) -> list[str]:
    found = []
    for start, end in itertools.pairwise(bounds):
        batches = source.read(split, start, end)
        while True:
            try:
                found.extend(next(batches))
            except StopIteration as stop:
                if stop.value is END_OF_SPLIT:
                    return found
                break
    return found


def read_all(source: Source, cuts: list[int] = []) -> list[str]:  # noqa: B006 - never changed
    found = []
    for split in source.splits(frozenset()):
        end = UNLIMITED if split.end is None else split.end
        inner = sorted({cut for cut in cuts if split.start < cut < end})
        found.extend(read_split(source, split, [split.start, *inner, end]))
    return found


@given(text=texts, cuts=st.lists(st.integers(0, 200)), block=st.integers(1, 9), size=st.integers(1, 60))
@settings(max_examples=400, deadline=None)
def test_any_partition_yields_each_line_once(text: str, cuts: list[int], block: int, size: int) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        path = Path(directory, "a.txt")
        path.write_bytes(text.encode())
        source = FileSource([path], TextLineFormat(), split_size=size)
        assert read_all(source, cuts) == java_lines(text)
        source = FileSource([path], FeedLines(), split_size=size)
        assert read_all(source, cuts) == feed_lines(text)


@given(text=texts, cuts=st.lists(st.integers(0, 200)), block=st.integers(1, 9), forget=st.booleans())
@settings(max_examples=150, deadline=None)
def test_compressed_files_read_as_plain_ones(text: str, cuts: list[int], block: int, forget: bool) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        if forget:
            patch.setattr(WAITING, "_limit", 0)
        path = Path(directory, "a.gz")
        half = len(text) // 2
        path.write_bytes(gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode()))
        assert read_all(FileSource([path], TextLineFormat()), cuts) == java_lines(text)
        assert read_all(FileSource([path], FeedLines()), cuts) == feed_lines(text)
        WAITING.clear()


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("GZIP", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)],
)
def test_every_compression(tmp_path: Path, suffix: str, compress) -> None:
    text = "".join(f"line {number}\n" for number in range(100_000))
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(compress(text.encode()))
    assert read_all(FileSource([path], TextLineFormat()), [1000, 500_000]) == text.splitlines()


def test_zstd(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "a.zst"
    path.write_bytes(pa.compress(b"a\nb\n", codec="zstd", asbytes=True))
    assert read_all(FileSource([path], TextLineFormat())) == ["a", "b"]


def test_unknown_compression(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK")
    with pytest.raises(ConnectorError, match=r"a\.zip requires files that are plain or compressed"):
        read_all(FileSource([path], TextLineFormat()))


@pytest.mark.parametrize("charset", ["UTF-16", "utf-16-le", "UTF-32", "iso2022_jp", "ISO-8859-1", "gbk"])
def test_charsets(tmp_path: Path, charset: str) -> None:
    text = "a\nb中c\r\n\nd" if charset not in {"ISO-8859-1"} else "a\nbéc\r\n\nd"
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.encode(text, charset))
    assert read_all(FileSource([path], TextLineFormat(charset), split_size=3), [2, 4]) == java_lines(text)


def test_malformed_bytes_become_replacement_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\xff\nb\xe4\n")
    assert read_all(FileSource([path], TextLineFormat())) == ["a\ufffd", "b\ufffd"]


def test_unknown_charset() -> None:
    with pytest.raises(ConfigurationError, match="requires a charset that exists; got 'UTF-9'"):
        TextLineFormat("UTF-9")


def test_the_next_epoch_goes_on_without_reading_from_the_start(tmp_path: Path) -> None:
    WAITING.clear()
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % number for number in range(100_000))))
    source = FileSource([path], TextLineFormat())
    [split] = source.splits(frozenset())
    assert list(source.read(split, 0, 10)) == [["0", "1", "2", "3", "4"]]
    assert len(WAITING) == 1
    reader = next(iter(WAITING._readers.values()))
    assert sum(map(len, source.read(split, 10, UNLIMITED))) == 99_995
    assert reader.at_end
    assert len(WAITING) == 0


def test_a_range_read_again_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % number for number in range(1000))))
    source = FileSource([path], TextLineFormat())
    [split] = source.splits(frozenset())
    first = list(source.read(split, 100, 200))
    assert list(source.read(split, 100, 200)) == first
    assert list(source.read(split, 100, 200)) == first
    WAITING.clear()


def test_a_short_range_of_a_large_file_reads_little_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = PlainStream.read

    def counting(stream: PlainStream, size: int = -1) -> bytes:
        data = plain(stream, size)
        read.append(len(data))
        return data

    path = tmp_path / "a.txt"
    path.write_text("".join(f"{number:09}\n" for number in range(100_000)))
    source = FileSource([path], TextLineFormat())
    [split] = source.splits(frozenset())
    monkeypatch.setattr(PlainStream, "read", counting)
    assert read_split(source, split, [500_000, 501_000]) == [
        f"{number:09}" for number in range(50_000, 50_100)
    ]
    assert sum(read) < 20_000
