"""A storage server that refuses, hangs up, or stops answering."""

from __future__ import annotations

import os
import pickle
import time
import traceback
from collections.abc import Callable, Iterator
from io import BytesIO

import pytest
from obstore.exceptions import GenericError

from firesteel.checkpoint.objects import AlreadyExists, NotFound, Storage
from firesteel.common.errors import ConfigurationError, StateError
from firesteel.objectstores.client import TIMEOUT_VARIABLE
from harness import s3
from harness.faulty_proxy import FaultyProxy

BIG = os.urandom(5_500_000)
"""More than one part of an upload."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3.serving() as url:
        yield url


@pytest.fixture
def proxy(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        yield proxy


@pytest.fixture
def storage(server: str, proxy: FaultyProxy) -> Storage:
    storage = Storage.of(f"s3://{s3.new_bucket(server)}/state")
    storage.put("small", b"small")
    storage.put("big", BIG)
    proxy.requests.clear()
    return storage


def create(storage: Storage) -> bool:
    """What whoever creates an object does: one that is there already may be its own."""
    try:
        storage.create("made/new", b"new")
    except AlreadyExists:
        return storage.get("made/new") == b"new"
    return storage.list("made") == ["made/new"]


def put(storage: Storage, path: str, data: bytes) -> bool:
    storage.put(path, data)
    return storage.get(path) == data


def put_file(storage: Storage) -> bool:
    file = BytesIO(b"?" + BIG)
    file.seek(1)
    storage.put("file", file)
    return storage.get("file") == BIG


def delete(storage: Storage) -> bool:
    storage.delete_all(["small", "none"])
    return storage.list("") == ["big"]


OPERATIONS: dict[str, Callable[[Storage], bool]] = {
    "get": lambda storage: storage.get("big") == BIG,
    "chunks": lambda storage: b"".join(storage.chunks("big")) == BIG,
    "get_many": lambda storage: storage.get_many(["small"] * 5) == [b"small"] * 5,
    "exists": lambda storage: storage.exists("small") and not storage.exists("none"),
    "list": lambda storage: storage.list("") == ["big", "small"],
    "names_after": lambda storage: storage.names_after("", "big") == ["small"],
    "put": lambda storage: put(storage, "new", b"new"),
    "put in parts": lambda storage: put(storage, "new", BIG),
    "put file": put_file,
    "create": create,
    "delete": delete,
}

FAULTS: dict[str, Callable[[FaultyProxy], None]] = {
    "503": lambda proxy: proxy.refuse(2, 503),
    "429": lambda proxy: proxy.refuse(2, 429),
    "drop": lambda proxy: proxy.drop(2),
    "cut": lambda proxy: proxy.cut(2),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_fails_at_first_succeeds(
    storage: Storage, proxy: FaultyProxy, operation: str, fault: str
) -> None:
    FAULTS[fault](proxy)
    assert OPERATIONS[operation](storage)
    assert len(proxy.failed) >= 2


def test_an_upload_whose_completion_is_not_confirmed(storage: Storage, proxy: FaultyProxy) -> None:
    proxy.cut(2, lambda request: request.method == "POST" and "uploadId=" in request.path)
    assert put(storage, "new", BIG)
    assert len(proxy.failed) == 2


def test_an_unconfirmed_create_meets_itself(storage: Storage, proxy: FaultyProxy) -> None:
    proxy.cut(1, lambda request: request.method == "PUT")
    with pytest.raises(AlreadyExists, match="/new exists already"):
        storage.create("new", b"new")
    assert storage.get("new") == b"new"


LASTING: dict[str, Callable[[FaultyProxy], None]] = {
    "refuses": lambda proxy: proxy.refuse(1000),
    "hangs up": lambda proxy: proxy.drop(1000),
    "says half": lambda proxy: proxy.cut(1000),
    "is silent": lambda proxy: proxy.hang(),
}


@pytest.mark.parametrize("fault", LASTING)
@pytest.mark.parametrize(
    ("operation", "named"),
    [
        ("get", "state/big cannot be read"),
        ("list", "state/ cannot be listed"),
        ("put", "state/new cannot be written"),
        ("put in parts", "state/new cannot be written"),
        ("create", "state/made/new cannot be written"),
    ],
)
def test_what_keeps_failing_is_named_in_time(
    storage: Storage,
    proxy: FaultyProxy,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    named: str,
    fault: str,
) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.4")
    impatient = Storage.of(storage.url)
    LASTING[fault](proxy)
    began = time.monotonic()
    with pytest.raises(StateError, match=named) as error:
        OPERATIONS[operation](impatient)
    took = time.monotonic() - began
    assert not isinstance(error.value, NotFound | AlreadyExists)
    assert took < 0.4 * 2 + 1, took  # with time for what a busy machine does
    assert "Debug source" not in str(error.value)
    assert ("no answer in time" in str(error.value)) == (fault == "is silent")


def test_a_server_that_is_not_there(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.3")
    with pytest.raises(StateError, match=r"state/small cannot be read; got .*127\.0\.0\.1:9"):
        Storage.of(storage.url).get("small")


def test_a_bucket_that_is_not_there_is_no_missing_object(storage: Storage) -> None:
    other = Storage.of("s3://nobodys-bucket/state")
    for attempt in (
        lambda: other.put("a", b""),
        lambda: other.create("a", b""),
        lambda: other.get("a"),
        lambda: other.list(""),
    ):
        with pytest.raises(StateError, match=r"s3://nobodys-bucket/state/.*NoSuchBucket") as error:
            attempt()
        assert not isinstance(error.value, NotFound)


QUOTING = (
    f"<?xml version='1.0'?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>no match</Message>"
    f"<AWSAccessKeyId>{s3.ACCESS_KEY}</AWSAccessKeyId><StringToSign>{s3.SECRET_KEY}</StringToSign></Error>"
).encode()


@pytest.mark.parametrize("status", [400, 403, 503])
def test_what_a_server_quotes_of_a_request_is_not_repeated(
    storage: Storage, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.2")
    proxy.refuse(1000, status, body=QUOTING)
    with pytest.raises(StateError, match="SignatureDoesNotMatch: no match") as error:
        Storage.of(storage.url).get("small")
    said = "".join(traceback.format_exception(error.value)) + str(error.value.details)
    assert s3.ACCESS_KEY not in said
    assert s3.SECRET_KEY not in said


def test_a_refusal_that_stays_is_not_repeated(storage: Storage, proxy: FaultyProxy) -> None:
    proxy.refuse(1000, 403)
    with pytest.raises(StateError, match="state/small cannot be read"):
        storage.get("small")
    assert len(proxy.failed) == 1


@pytest.mark.parametrize("value", ["soon", "-1", "0", "1e9", "nan"])
def test_a_timeout_that_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    with pytest.raises(ConfigurationError, match=rf"{TIMEOUT_VARIABLE} must be a number.*got '{value}'"):
        Storage.of("s3://bucket/state")


def test_listings_and_deletes_of_many_are_few_requests(storage: Storage, proxy: FaultyProxy) -> None:
    storage.create("m/1", b"")
    storage.create("m/2", b"")
    proxy.requests.clear()
    assert storage.names_after("m", "m/1") == ["m/2"]
    [listing] = proxy.requests
    assert "start-after=state%2Fm%2F1" in listing.path
    proxy.requests.clear()
    storage.delete_all(["m/1", "m/2", "m/3"])
    assert [request.method for request in proxy.requests] == ["POST"]


def test_credentials_are_not_in_what_travels(storage: Storage) -> None:
    said = f"{storage!r} {pickle.dumps(storage)!r}"
    assert s3.SECRET_KEY not in said
    assert s3.ACCESS_KEY not in said


def test_no_credentials_are_said_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """What obstore raises without credentials, on a machine that has no role."""
    said = (
        "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 39.001227ms - Server "
        "returned non-2xx status code: 403 Forbidden: denied"
    )
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")  # else whether there is a role depends on this machine
    storage = Storage.of("s3://bucket/jobs")

    def ask(*_: object, **__: object) -> None:
        raise GenericError(said)

    monkeypatch.setattr("firesteel.checkpoint.objects.persevere", ask)
    with pytest.raises(StateError) as caught:
        storage.get("job.json")
    assert "got no credentials in the environment, and none from the machine" in str(caught.value)
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in str(caught.value)
    assert "169.254" not in str(caught.value)
