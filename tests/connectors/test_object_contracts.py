"""The contracts of sources and sinks, passed by files in an object store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.common import Types
from firesteel.connectors.files.sink import (
    BasePathBuckets,
    Compaction,
    FileSink,
    RollingPolicy,
    TextLines,
    committer,
)
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.testing.contracts import (
    ContinuousSourceContract,
    ContinuousSourceSystem,
    SinkContract,
    SinkSystem,
    SourceContract,
)
from tests.connectors.buckets import Bucket, bucket, server, store

__all__ = ["bucket", "server", "store"]


class Lines(ContinuousSourceSystem):
    """Objects of text."""

    type_info = Types.STRING()

    def __init__(self, bucket: Bucket, *, watched: bool = False) -> None:
        self._bucket = bucket
        self._watched = watched
        self._lines: list[str] = []
        for _ in range(3):
            self.add()

    def source(self) -> Source[Any]:
        interval = 20 if self._watched else None
        return FileSource(
            [f"{self._bucket.url}/in"], TextLineFormat(), discovery_interval=interval, split_size=400
        )

    def records(self) -> Sequence[Any]:
        return self._lines

    def add(self) -> None:
        first = len(self._lines)
        lines = [f"line {number} {'-' * (number % 7)}" for number in range(first, first + 40)]
        self._bucket.put(f"in/{first}.txt", "".join(f"{line}\n" for line in lines).encode())
        self._lines += lines


class TestObjectsOfLines(SourceContract):
    @pytest.fixture(autouse=True)
    def new_bucket(self, bucket: Bucket) -> None:
        self.bucket = bucket

    def system(self, directory: Path) -> Lines:
        return Lines(self.bucket)


class TestWatchedObjects(ContinuousSourceContract):
    @pytest.fixture(autouse=True)
    def new_bucket(self, bucket: Bucket) -> None:
        self.bucket = bucket

    def system(self, directory: Path) -> Lines:
        return Lines(self.bucket, watched=True)


class Parts(SinkSystem):
    """Objects of lines of text."""

    def __init__(self, bucket: Bucket, rolling: RollingPolicy, compaction: Compaction | None) -> None:
        self._url = f"{bucket.url}/out"
        self._bucket: Bucket | None = bucket
        self._rolling = rolling
        self._compaction = compaction

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bucket": None}

    def sink(self) -> Sink[Any]:
        return FileSink(self._url, TextLines(), BasePathBuckets(), self._rolling, compaction=self._compaction)

    def rows(self) -> Sequence[Any]:
        assert self._bucket is not None
        found = self._bucket.visible("out").values()
        return [line for data in found for line in data.decode().splitlines()]


class TestObjectsOfAnEpoch(SinkContract):
    rolling: ClassVar[RollingPolicy] = RollingPolicy.on_epoch()
    compaction: ClassVar[Compaction | None] = None

    @pytest.fixture(autouse=True)
    def new_bucket(self, bucket: Bucket) -> None:
        self.bucket = bucket

    def system(self, directory: Path) -> SinkSystem:
        return Parts(self.bucket, self.rolling, self.compaction)


class TestObjectsOfSeveralEpochs(TestObjectsOfAnEpoch):
    rolling = RollingPolicy(part_size=150)


class TestObjectsThatWorkersJoin(TestObjectsOfAnEpoch):
    compaction = Compaction(epochs=3)

    @pytest.fixture(autouse=True)
    def all_are_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(committer, "SMALL", 0)
