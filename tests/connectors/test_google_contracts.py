"""The contracts of sources and sinks, passed by files in what speaks as Google Cloud Storage does."""

from __future__ import annotations

from types import ModuleType

import pytest

import tests.connectors.test_object_contracts as of_objects
from firesteel.connectors.files.systems import system_of
from firesteel.connectors.files.systems.system import ChangedError
from harness import gcs
from tests.connectors.buckets import Bucket, bucket, server

__all__ = ["bucket", "server"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def store() -> ModuleType:
    return gcs


class TestObjectsOfLines(of_objects.TestObjectsOfLines):
    pass


class TestObjectsOfAnEpoch(of_objects.TestObjectsOfAnEpoch):
    pass


class TestObjectsOfSeveralEpochs(of_objects.TestObjectsOfSeveralEpochs):
    pass


def test_what_the_client_does(bucket: Bucket) -> None:
    """The requests that the contracts rest on, each by itself; names with characters that URLs escape, too."""
    path = f"{bucket.url}/in/a b%c=d/1.txt"
    files = system_of(path)
    files.replace(path, b"first")
    status = files.status(path)
    assert (status.size, files.range(path, 1, 3, status)) == (5, b"ir")
    assert [found for found, _ in files.below(f"{bucket.url}/in")] == [path]
    files.replace(path, b"other")
    with pytest.raises(ChangedError):
        files.range(path, 1, 3, status)
    files.move(path, f"{bucket.url}/out/1.txt")
    assert (files.missing([path]), bucket.visible("out")) == ([path], {"out/1.txt": b"other"})
    files.remove([f"{bucket.url}/out/1.txt", f"{bucket.url}/out/none"])
    assert bucket.paths() == []
