"""File sinks on an object store: whole objects, exactly once, whatever fails and wherever it stops."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.sink import RollingPolicy
from firesteel.connectors.files.systems import objects
from firesteel.connectors.files.systems.multipart import MultipartUploads
from firesteel.connectors.files.systems.objects import ObjectFiles
from firesteel.functions.sink import Leftovers
from firesteel.objectstores.client import TIMEOUT_VARIABLE
from harness import s3
from harness.faulty_proxy import FaultyProxy
from tests.connectors.buckets import Bucket, bucket, server, store
from tests.connectors.file_sinks import STEPS, Job, commit_crashing, run_steps, sink_of, visible

__all__ = ["bucket", "server", "store"]

CALLS = [(ObjectFiles, "_ask"), (MultipartUploads, "_ask")]


def test_a_part_is_an_object_that_appears_with_its_epoch(bucket: Bucket) -> None:
    job = Job(sink_of(f"{bucket.url}/out/", RollingPolicy.on_epoch(), part_suffix="-0"))
    committables = job.prepare(["a", "b"])
    assert bucket.visible() == {}
    assert len(bucket.hidden("out/_firesteel")) == 1
    job.decide()
    job.sink.create_committer().commit(committables)
    [(path, data)] = bucket.visible().items()
    assert path.startswith("out/part-")
    assert data == b"a\nb\n"
    assert bucket.hidden() == []


@pytest.mark.parametrize("segments", [1, 2, 4])
def test_the_commit_can_crash_anywhere_and_be_repeated(bucket: Bucket, segments: int) -> None:
    """Stops the commit before each of its requests in turn, twice in a row, then lets it through."""
    whole = ["".join(f"{number}\n" for number in range(segments))]
    crash_at = 0
    while True:
        crash_at += 1
        job = Job(sink_of(f"{bucket.url}/{crash_at}"))
        for number in range(segments - 1):
            job.run([str(number)])
        committables = job.prepare([str(segments - 1)], final=True)
        committer = job.sink.create_committer()
        crashed = 0
        for point in (crash_at, max(crash_at // 2, 1)):
            crashed += commit_crashing(committer, committables, point, *CALLS)
            assert bucket.texts(str(crash_at)) in ([], whole)
        for _ in range(2):
            committer.commit(committables)
            assert bucket.texts(str(crash_at)) == whole
        assert bucket.hidden(str(crash_at)) == []
        if not crashed:
            break
    assert crash_at >= 3


@given(steps=STEPS, size=st.integers(1, 30), every=st.booleans())
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exactly_once_whatever_fails(bucket: Bucket, steps: list[Any], size: int, every: bool) -> None:
    prefix = f"run-{len(bucket.paths())}-{time.monotonic_ns()}"
    rolling = RollingPolicy(every, size, rollover_interval=60, inactivity_interval=30)
    job = Job(sink_of(f"{bucket.url}/{prefix}", rolling))
    expected = run_steps(job, steps)
    assert "".join(bucket.texts(prefix)) == expected


def test_what_crashed_attempts_left_is_removed_and_nothing_else(bucket: Bucket) -> None:
    job = Job(sink_of(f"{bucket.url}/out"))
    job.run(["kept"])
    kept = bucket.hidden()
    lost = job.writer()
    lost.write(["lost"], None)
    lost.prepare_commit()
    bucket.put("out/_firesteel/another/1.try/part", b"theirs")
    bucket.put("out/_firesteel/notes", b"what is this")
    assert len(bucket.hidden()) == 4
    job.sink.create_committer().discard(Leftovers("job", "op", 2, (job.state,)))
    assert bucket.hidden() == sorted([*kept, "out/_firesteel/another/1.try/part", "out/_firesteel/notes"])


def test_a_driver_that_was_overtaken_changes_nothing(bucket: Bucket) -> None:
    for segments in (1, 3):
        job = Job(sink_of(f"{bucket.url}/{segments}"))
        for _ in range(segments - 1):
            job.run(["a"])
        committables = job.prepare(["a"], final=True)
        job.sink.create_committer().commit(committables)
        [path] = bucket.visible(str(segments))
        bucket.objects.delete(path)
        job.sink.create_committer().commit(committables)
        assert bucket.visible(str(segments)) == {}


def test_pieces_that_are_gone_are_an_error(bucket: Bucket) -> None:
    job = Job(sink_of(f"{bucket.url}/out"))
    job.run(["a"])
    for path in bucket.hidden():
        bucket.objects.delete(path)
    with pytest.raises(ConnectorError, match=r"requires all pieces of its open part .*1 of 2 that are gone"):
        job.prepare(["b"], final=True)


@pytest.fixture
def proxy(server: str, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Any:
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        yield proxy


BIG = ["x" * 1_000_000] * 12
"""More than one request of an upload."""


REQUESTS = [
    ("POST", "?uploads"),  # an upload begins
    ("PUT", ".upload"),  # what names it
    ("PUT", "partNumber=2"),
    ("POST", "?uploadId="),  # it is completed
    ("PUT", "/_firesteel/"),  # what is staged
    ("PUT", "/out/part-"),  # a copy
    ("POST", "?delete"),
]


@pytest.mark.parametrize("fault", [FaultyProxy.refuse, FaultyProxy.drop, FaultyProxy.cut])
def test_a_store_that_fails_now_and_then_is_outlasted(bucket: Bucket, proxy: FaultyProxy, fault: Any) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    for method, part in REQUESTS:
        fault(
            proxy,
            1,
            matching=lambda request, method=method, part=part: (
                request.method == method and part in request.path
            ),
        )
    job.run(BIG)
    job.run(["a"])
    assert len(proxy.failed) == len(REQUESTS)
    assert sorted(map(len, bucket.texts())) == [2, 12 * 1_000_001]


def test_a_store_that_stops_answering_within_an_upload_is_named_and_the_epoch_can_be_repeated(
    bucket: Bucket, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    monkeypatch.setenv(TIMEOUT_VARIABLE, "1")
    proxy.hang(matching=lambda request: "partNumber=2" in request.path)
    writer = job.writer()
    writer.write(BIG, None)
    with pytest.raises(ConnectorError, match=rf"{bucket.url}/out/part-.* cannot be written") as error:
        writer.prepare_commit()
    writer.abort()
    assert s3.SECRET_KEY not in str(error.value) + str(error.value.details)
    proxy.resume()
    monkeypatch.delenv(TIMEOUT_VARIABLE)
    job.run(BIG)
    assert list(map(len, bucket.texts())) == [12 * 1_000_001]
    assert bucket.hidden() == []


def uploads(bucket: Bucket) -> list[str]:
    """The uploads that have been begun and not ended."""
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")
    found = client.list_multipart_uploads(Bucket=bucket.url.removeprefix("s3://"))
    return [upload["Key"] for upload in found.get("Uploads", [])]


def test_a_large_part_is_an_upload_that_its_commit_completes(bucket: Bucket, proxy: FaultyProxy) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    committables = job.prepare(BIG)
    [key] = uploads(bucket)
    assert bucket.visible() == {}
    proxy.requests.clear()
    job.decide()
    for _ in range(2):
        job.sink.create_committer().commit(committables)
    assert [path.removeprefix(f"{bucket.url}/") for path in bucket.visible()] == [key]
    assert not [request for request in proxy.requests if request.method == "PUT"]  # nothing is copied
    assert list(map(len, bucket.texts())) == [12 * 1_000_001]
    assert (bucket.hidden(), uploads(bucket)) == ([], [])


def test_the_commit_of_an_upload_can_crash_anywhere_and_be_repeated(bucket: Bucket) -> None:
    crash_at = 0
    while True:
        crash_at += 1
        job = Job(sink_of(f"{bucket.url}/{crash_at}", RollingPolicy.on_epoch()))
        committables = job.prepare(BIG)
        crashed = commit_crashing(job.sink.create_committer(), committables, crash_at, *CALLS)
        job.sink.create_committer().commit(committables)
        assert list(map(len, bucket.texts(str(crash_at)))) == [12 * 1_000_001]
        assert (bucket.hidden(str(crash_at)), uploads(bucket)) == ([], [])
        if not crashed:
            break
    assert crash_at >= 2


def test_an_upload_that_fails_is_aborted(bucket: Bucket, proxy: FaultyProxy) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    writer = job.writer()
    writer.write(BIG, None)
    assert len(uploads(bucket)) == 1
    writer.abort()
    assert (bucket.hidden(), uploads(bucket)) == ([], [])
    prepared = job.writer()
    prepared.write(BIG, None)
    prepared.prepare_commit()
    prepared.abort()
    assert (bucket.hidden(), uploads(bucket)) == ([], [])


def test_uploads_that_crashed_attempts_left_are_aborted_and_no_others(bucket: Bucket) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    lost, crashed = job.writer(), job.writer()
    lost.write(BIG, None)
    lost.prepare_commit()
    crashed.write(BIG, None)
    job.run(["a"])
    ahead = job.writer()
    ahead.write(BIG, None)
    assert len(uploads(bucket)) == 3
    job.sink.create_committer().discard(Leftovers("job", "op", 1, (job.state,)))
    assert len(uploads(bucket)) == 1
    assert len(bucket.hidden()) == 1
    assert len(ahead.prepare_commit()) == 1
    ahead.abort()
    crashed.abort()


def test_an_upload_that_is_gone_is_an_error(bucket: Bucket, proxy: FaultyProxy) -> None:
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    committables = job.prepare(BIG)
    # As S3 answers for an upload that was aborted or completed; moto fails then.
    gone = b"<Error><Code>NoSuchUpload</Code></Error>"
    proxy.refuse(2, 404, lambda request: request.method == "POST", gone)
    with pytest.raises(ConnectorError, match="neither the upload nor the object"):
        job.sink.create_committer().commit(committables)
    [marker] = bucket.hidden()
    part = marker.rpartition("/")[2].removesuffix(".upload")
    bucket.put(f"out/{part}", b"completed before a crash")
    job.sink.create_committer().commit(committables)
    assert bucket.hidden() == []


def test_without_the_client_library_large_parts_are_staged_and_copied(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "is_available", lambda: False)
    monkeypatch.setenv("FIRESTEEL_OTHER", bucket.url)  # so that the file system is made anew
    job = Job(sink_of(f"{bucket.url}/out", RollingPolicy.on_epoch()))
    committables = job.prepare(BIG)
    assert uploads(bucket) == []
    assert len(bucket.hidden()) == 1
    for _ in range(2):
        job.sink.create_committer().commit(committables)
    assert list(map(len, bucket.texts())) == [12 * 1_000_001]
    assert bucket.hidden() == []


def test_open_parts_do_not_move_to_another_file_system(bucket: Bucket, tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a"])
    job.sink = sink_of(f"{bucket.url}/out")
    with pytest.raises(ConnectorError, match=rf"end where they were begun; got the part {tmp_path}/part-"):
        job.writer()


def test_a_job_that_goes_back_leaves_what_is_left_of_local_files(bucket: Bucket, tmp_path: Path) -> None:
    def going_back(job: Job) -> None:
        job.run(["a"])
        older, epoch = job.state, job.epoch
        job.run(["b"])
        job.run(["c"], final=True)
        for lineage in ("first", "second"):
            job.state, job.epoch, job.lineage = older, epoch, lineage
            job.run([lineage])
            job.run(["d"], final=True)

    going_back(Job(sink_of(f"{bucket.url}/out")))
    going_back(Job(sink_of(tmp_path)))
    assert sorted(bucket.texts()) == sorted(visible(tmp_path)) == ["a\nb\nc\n", "first\nd\n", "second\nd\n"]
    assert bucket.hidden() == []


LARGE = ["x" * 1_000_000] * 6
"""As large as a part of an upload must be."""


def test_large_segments_are_joined_within_the_store(bucket: Bucket, proxy: FaultyProxy) -> None:
    job = Job(sink_of(f"{bucket.url}/out"))
    for values in (LARGE, LARGE):
        job.run(values)
    committables = job.prepare(["end"], final=True)
    job.decide()
    proxy.requests.clear()
    job.sink.create_committer().commit(committables)
    read = [request.path for request in proxy.requests if request.method == "GET"]
    assert [path for path in read if "?uploads" not in path] == []  # no data, but a listing of uploads
    assert bucket.texts() == ["".join(f"{value}\n" for value in [*LARGE, *LARGE, "end"])]
    assert (bucket.hidden(), uploads(bucket)) == ([], [])


def test_joining_within_the_store_can_crash_anywhere_and_be_repeated(bucket: Bucket) -> None:
    crash_at = 0
    while True:
        crash_at += 1
        job = Job(sink_of(f"{bucket.url}/{crash_at}"))
        job.run(LARGE)
        committables = job.prepare(["end"], final=True)
        crashed = 0
        for _ in range(2):
            crashed += commit_crashing(job.sink.create_committer(), committables, crash_at, *CALLS)
        job.sink.create_committer().commit(committables)
        assert [len(text) for text in bucket.texts(str(crash_at))] == [6 * 1_000_001 + 4]
        assert (bucket.hidden(str(crash_at)), uploads(bucket)) == ([], [])
        if not crashed:
            break
    assert crash_at >= 5
