"""File sources on an object store: ranges, patterns, new objects, changed ones, and errors that name them."""

from __future__ import annotations

import gzip
import io
import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common.errors import ConnectorError
from firesteel.common.typeinfo import Types
from firesteel.connectors.files.format import WAITING
from firesteel.connectors.files.parquet_files import ParquetFormat
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.functions.source import UNLIMITED, Split
from firesteel.objectstores.client import TIMEOUT_VARIABLE
from harness import s3
from harness.faulty_proxy import FaultyProxy
from tests.connectors.buckets import Bucket, bucket, server, store

__all__ = ["bucket", "server", "store"]

LINES = [f"{number} is a line, and this is {'longer ' * (number % 7)}" for number in range(40_000)]
TEXT = "\n".join(LINES).encode()


@pytest.fixture(autouse=True)
def nobody_waits() -> Iterator[None]:
    WAITING.clear()
    yield
    WAITING.clear()


def lines_of(source: FileSource[Any], splits: Any = None) -> list[Any]:
    found: list[Any] = []
    for split in source.splits(frozenset()) if splits is None else splits:
        end = UNLIMITED if split.end is None else split.end
        for batch in source.read(pickle.loads(pickle.dumps(split)), split.start, end):
            found.extend(batch)
    return found


def text_of(*paths: str, **options: Any) -> FileSource[str]:
    return FileSource(list(paths), TextLineFormat(), **options)


def test_parts_of_a_large_object_have_each_line_once(bucket: Bucket) -> None:
    source = text_of(bucket.put("in/a.txt", TEXT), split_size=300_000)
    splits = list(source.splits(frozenset()))
    assert len(splits) > 3
    assert lines_of(source, splits) == LINES
    [first, *_] = splits
    middle = first.start + 77_777
    pieces = [(first.start, middle), (middle, first.end or 0)]
    cut = [line for start, end in pieces for batch in source.read(first, start, end) for line in batch]
    assert cut == lines_of(source, [first])


def test_compressed_objects_are_read_on_where_the_last_range_ended(bucket: Bucket) -> None:
    source = text_of(bucket.put("in/a.txt.gz", gzip.compress(TEXT)))
    [split] = source.splits(frozenset())
    ends = [0, 1000, 500_000, len(TEXT) + 10]
    assert [line for pair in pairwise(ends) for batch in source.read(split, *pair) for line in batch] == LINES


NAMES = [
    *("in/a.txt", "in/b.log", "in/deep/c.txt", "in/deep/_d/e.txt", "in/_hidden", "in/.dot", "in/_dir/x.txt"),
    *("in/p=a%2Fb/x y.txt", "in/ü/+.txt", "in/.hidden/y.txt", "other/z.txt", "in.txt"),
]


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("in", 5),
        ("in/", 5),
        ("in/*.txt", 1),
        ("in/*/*.txt", 4),
        ("in/[!x]*", 5),
        ("in/dee?", 1),
        ("in/_hidden", 1),
        ("in/_dir", 1),
        ("in/deep/c.txt", 1),
        ("in/p=*", 1),
        ("i*/[ab].*", 2),
        ("in/.h*/y.txt", 1),
    ],
)
def test_directories_and_patterns_are_those_of_local_files(
    bucket: Bucket, tmp_path: Path, pattern: str, count: int
) -> None:
    for name in NAMES:
        bucket.put(name, name.encode())
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = sorted(lines_of(text_of(f"{bucket.url}/{pattern}")))
    assert found == sorted(lines_of(text_of(f"{tmp_path}/{pattern}")))
    assert len(found) == count


def test_a_whole_bucket(bucket: Bucket) -> None:
    bucket.put("a", b"1")
    bucket.put("b/c", b"2")
    assert lines_of(text_of(bucket.url)) == ["1", "2"]


def test_new_objects_are_found_and_a_directory_may_be_empty_at_first(bucket: Bucket) -> None:
    source = text_of(f"{bucket.url}/in", discovery_interval=1000)
    assert list(source.splits(frozenset())) == []
    bucket.put("in/a", b"1")
    [first] = source.splits(frozenset())
    bucket.put("in/b", b"2")
    [second] = source.splits(frozenset({first.id}))
    assert lines_of(source, [first, second]) == ["1", "2"]


@pytest.mark.parametrize("path", ["in/none", "in/none*/x"])
def test_a_path_without_objects_is_an_error(bucket: Bucket, path: str) -> None:
    with pytest.raises(
        ConnectorError, match=rf"requires a file or a directory that exists.*{bucket.url}/in/none"
    ):
        list(text_of(f"{bucket.url}/{path}").splits(frozenset()))


def test_an_object_that_was_replaced_is_refused(bucket: Bucket) -> None:
    source = text_of(bucket.put("in/a.txt", TEXT))
    splits = list(source.splits(frozenset()))
    bucket.put("in/a.txt", TEXT[:-1] + b"!")
    with pytest.raises(ConnectorError, match=rf"{bucket.url}/in/a.txt.* stay as they are.*got other content"):
        lines_of(source, splits)
    bucket.objects.delete("in/a.txt")
    with pytest.raises(ConnectorError, match=rf"{bucket.url}/in/a.txt.* got it is gone"):
        lines_of(source, splits)


def parquet(rows: int, groups: int) -> bytes:
    target = io.BytesIO()
    table = pa.table({f"c{column}": [f"{row}-{column}" for row in range(rows)] for column in range(20)})
    pq.write_table(table, target, row_group_size=rows // groups, compression="none", use_dictionary=False)
    return target.getvalue()


def test_of_parquet_only_the_ranges_that_are_wanted_are_asked_for(
    bucket: Bucket, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bucket.put("in/a.parquet", parquet(20_000, 4))
    row_type = _row_type("c3")
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        source = FileSource([path], ParquetFormat(row_type), split_size=2_000_000)
        splits: list[Split] = list(source.splits(frozenset()))
        assert len(splits) > 1
        rows = lines_of(source, splits)
        assert [row.c3 for row in rows] == [f"{row}-3" for row in range(20_000)]
        assert len(proxy.requests) < 12 + 4 * len(splits)
        assert sum(1 for request in proxy.requests if request.method == "GET") >= 5


def _row_type(*names: str) -> Any:
    return Types.ROW_NAMED(list(names), [Types.STRING()] * len(names))


def test_parquet_that_was_replaced_is_refused(bucket: Bucket) -> None:
    path = bucket.put("in/a.parquet", parquet(1000, 2))
    source = FileSource([path], ParquetFormat())
    splits = list(source.splits(frozenset()))
    bucket.put("in/a.parquet", parquet(1000, 1))
    with pytest.raises(ConnectorError, match="stay as they are"):
        lines_of(source, splits)
    bucket.put("in/b.parquet", b"no parquet")
    with pytest.raises(ConnectorError, match=r"b\.parquet requires a Parquet file that is whole"):
        list(FileSource([f"{bucket.url}/in/b.parquet"], ParquetFormat()).splits(frozenset()))


@pytest.mark.parametrize("fault", [FaultyProxy.refuse, FaultyProxy.drop, FaultyProxy.cut])
def test_a_store_that_fails_now_and_then_is_outlasted(
    bucket: Bucket, server: str, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    path = bucket.put("in/a.txt", TEXT)
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        for method in ("GET", "HEAD"):
            fault(proxy, 2, matching=lambda request, method=method: request.method == method)
        assert lines_of(text_of(path)) == LINES
        assert len(proxy.failed) >= 3


def test_a_store_that_is_away_is_named_in_time_and_without_credentials(
    bucket: Bucket, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bucket.put("in/a.txt", TEXT)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5")
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        source = text_of(path)
        [split] = source.splits(frozenset())
        proxy.hang()
        with pytest.raises(ConnectorError, match=rf"{path} cannot be read") as error:
            lines_of(source, [split])
    assert s3.SECRET_KEY not in str(error.value) + str(error.value.details)
    assert s3.SECRET_KEY.encode() not in pickle.dumps((source, split))


def test_a_bucket_that_is_not_there(bucket: Bucket) -> None:
    with pytest.raises(ConnectorError, match=r"s3://nobodys-bucket/in.*NoSuchBucket"):
        list(text_of("s3://nobodys-bucket/in").splits(frozenset()))


@pytest.mark.parametrize("path", ["ftp://host/a", "s3:///a", "https://host/a", "s3://key:secret@bucket/a"])
def test_urls_of_other_kinds_are_refused(path: str) -> None:
    with pytest.raises(ConnectorError, match="requires a") as error:
        text_of(path)
    assert "secret" not in str(error.value)
