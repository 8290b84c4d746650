"""File sources and sinks on HDFS, whose names change whole and at once, and on Azure, where they do not change.

Both need a large download, so `./run check` runs these tests.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.sink import RollingPolicy
from firesteel.connectors.files.systems import joined, name_of, system_of
from firesteel.connectors.files.systems.hdfs import HdfsFiles
from firesteel.connectors.files.systems.objects import ObjectFiles
from firesteel.functions.sink import Leftovers
from firesteel.objectstores.client import TIMEOUT_VARIABLE
from harness import azurite, hdfs
from harness.faulty_proxy import FaultyProxy
from tests.connectors.column_ends import read, row_type, write
from tests.connectors.file_sinks import STEPS, Job, commit_crashing, run_steps, sink_of
from tests.connectors.test_objects_as_sources import LINES, NAMES, TEXT, lines_of, text_of
from tests.connectors.test_table_files import sink_of as table_sink_of
from tests.connectors.test_table_files import source_of as table_source_of

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("stores")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with hdfs.serving() as url:
        yield url


@pytest.fixture(scope="module")
def container() -> Iterator[str]:
    if shutil.which("npm") is None:
        pytest.skip("no npm here, which fetches Azurite")
    with azurite.serving() as endpoint, pytest.MonkeyPatch.context() as patch:
        for name, value in azurite.environment(endpoint).items():
            patch.setenv(name, value)
        yield f"az://{azurite.new_container(endpoint)}"


@pytest.fixture(params=["cluster", pytest.param("container", marks=pytest.mark.thorough)])
def store(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def base(store: str) -> str:
    return f"{store}/{time.monotonic_ns()}"


def put(path: str, data: bytes) -> None:
    system_of(path).replace(path, data)


def visible(base: str) -> list[str]:
    files = system_of(base)
    found = {path for path, _ in files.below(base)} - {*hidden(base)}
    ordered = sorted(found, key=lambda path: int(path.rsplit("-", 1)[1]))
    return [files.range(path, 0, files.status(path).size, None).decode() for path in ordered]


def hidden(base: str) -> list[str]:
    return [
        path
        for path, _ in system_of(base).below(base)
        if name_of(path).startswith(".") or "/_firesteel/" in path
    ]


def test_parts_of_a_file_have_each_line_once_and_patterns_are_those_of_local_files(
    base: str, tmp_path: Path
) -> None:
    put(f"{base}/a.txt", TEXT)
    source = text_of(f"{base}/a.txt", split_size=300_000)
    splits = list(source.splits(frozenset()))
    assert len(splits) > 3
    assert lines_of(source, splits) == LINES
    for name in NAMES:
        put(joined(base, name), name.encode())
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for pattern in ("in", "in/*/*.txt", "in/[!x]*", "in/_dir", "i*/[ab].*", "in/p=*"):
        found = sorted(lines_of(text_of(f"{base}/{pattern}")))
        assert found == sorted(lines_of(text_of(f"{tmp_path}/{pattern}")))
        assert found


def test_a_file_that_was_replaced_is_refused_and_one_that_grew_is_not(base: str) -> None:
    put(f"{base}/a.txt", b"first\n")
    source = text_of(f"{base}/a.txt")
    splits = list(source.splits(frozenset()))
    put(f"{base}/a.txt", b"first\nsecond\n")
    if system_of(base).renames:  # and has no versions
        assert lines_of(source, splits) == ["first"]
    put(f"{base}/a.txt", b"other\nsecond\n")
    with pytest.raises(ConnectorError, match="got other content"):
        lines_of(source, splits)
    with pytest.raises(ConnectorError, match="requires a file or a directory that exists"):
        list(text_of(f"{base}/none").splits(frozenset()))


CALLS = [(HdfsFiles, "_failures"), (ObjectFiles, "_ask")]


@pytest.mark.parametrize("segments", [1, 3])
def test_the_commit_can_crash_anywhere_and_be_repeated(base: str, segments: int) -> None:
    whole = ["".join(f"{number}\n" for number in range(segments))]
    crash_at = 0
    while True:
        crash_at += 1
        path = f"{base}/{crash_at}"
        job = Job(sink_of(path))
        for number in range(segments - 1):
            job.run([str(number)])
        committables = job.prepare([str(segments - 1)], final=True)
        crashed = commit_crashing(job.sink.create_committer(), committables, crash_at, *CALLS)
        assert visible(path) in ([], whole)
        for _ in range(2):
            job.sink.create_committer().commit(committables)
            assert visible(path) == whole
        assert [name for name in hidden(path) if "joined." not in name] == []
        if not crashed:
            break
    assert crash_at >= 3


@given(steps=STEPS, size=st.integers(1, 30), every=st.booleans())
@settings(deadline=None, max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exactly_once_whatever_fails(store: str, steps: list[Any], size: int, every: bool) -> None:
    path = f"{store}/{time.monotonic_ns()}"
    job = Job(sink_of(path, RollingPolicy(every, size, rollover_interval=60, inactivity_interval=30)))
    expected = run_steps(job, steps)
    assert "".join(visible(path)) == expected


def test_what_crashed_attempts_left_is_removed(base: str) -> None:
    job = Job(sink_of(base))
    job.run(["kept"])
    kept = hidden(base)
    lost = job.writer()
    lost.write(["lost"], None)
    lost.prepare_commit()
    assert len(hidden(base)) == 2
    job.sink.create_committer().discard(Leftovers("job", "op", 2, (job.state,)))
    assert hidden(base) == kept


def test_tables_with_partitions(base: str, tmp_path: Path) -> None:
    columns = "n INT, k STRING"
    commit = {"sink.partition-commit.policy.kind": "success-file"}
    sink = table_sink_of(columns, base, "parquet", ["k"], **commit)  # type: ignore[arg-type]
    write(sink, row_type(columns), [(1, "a"), (2, "b"), (3, "a")])
    files = system_of(base)
    assert not files.missing([f"{base}/k=a/_SUCCESS", f"{base}/k=b/_SUCCESS"])
    source = table_source_of("n INT", base, "parquet")  # type: ignore[arg-type]
    assert sorted(read(source, row=row_type("n INT"))) == [(1,), (2,), (3,)]
    [part] = [path for path, _ in files.below(f"{base}/k=b") if not name_of(path).startswith("_")]
    assert pq.read_table(files.seekable(part, files.status(part))).to_pydict() == {"n": [2]}


def test_a_name_node_that_fails_is_outlasted_and_one_that_is_away_is_named(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = f"/{time.monotonic_ns()}"
    base = f"{cluster}{inner}"
    with FaultyProxy(cluster.replace("webhdfs", "http")).serving() as proxy:
        monkeypatch.setenv("FIRESTEEL_WEBHDFS", f"http://127.0.0.1:9,{proxy.url}")
        path = f"hdfs://namenode{inner}"
        job = Job(sink_of(f"{path}/out", RollingPolicy.on_epoch()))
        proxy.refuse(2, 503)
        proxy.drop(2)
        job.run(["a"])
        assert visible(f"{base}/out") == ["a\n"]
        assert len(proxy.failed) == 4
        monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5")
        proxy.hang()
        with pytest.raises(ConnectorError, match=rf"(?s){path}/in cannot be looked up.*FIRESTEEL_WEBHDFS"):
            list(text_of(f"{path}/in").splits(frozenset()))
