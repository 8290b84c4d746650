"""The contract of sources, passed by those that come with Firesteel."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common import Row, Types
from firesteel.common.typeinfo import TypeInformation
from firesteel.connectors.collection import CollectionSource
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.json_lines import JsonLinesFormat
from firesteel.connectors.files.parquet_files import ParquetFormat
from firesteel.connectors.files.source import FileSource
from firesteel.connectors.files.text_lines import TextLineFormat
from firesteel.connectors.number_sequence import NumberSequenceSource
from firesteel.functions.source import Source
from firesteel.testing.contracts import (
    BadRecordContract,
    ContinuousSourceContract,
    ContinuousSourceSystem,
    SourceContract,
    SourceSystem,
)


class Given(SourceSystem):
    """A source that makes its records itself."""

    def __init__(self, source: Source[Any], records: Sequence[Any], kind: TypeInformation) -> None:
        self._source = source
        self._records = records
        self.type_info = kind

    def source(self) -> Source[Any]:
        return self._source

    def records(self) -> Sequence[Any]:
        return self._records


class TestCollection(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        return Given(CollectionSource(range(50)), range(50), Types.LONG())


class TestNumberSequence(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        return Given(NumberSequenceSource(1, 50), range(1, 51), Types.LONG())


class TestDataGenerator(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        source = DataGeneratorSource(lambda index: index * 3, count=50, type_info=Types.LONG())
        return Given(source, range(0, 150, 3), Types.LONG())


class Lines(ContinuousSourceSystem):
    """Files of text; `compressed` by gzip."""

    type_info = Types.STRING()

    def __init__(self, directory: Path, *, watched: bool = False, compressed: bool = False) -> None:
        self._directory = directory / "in"
        self._directory.mkdir()
        self._watched = watched
        self._compressed = compressed
        self._lines: list[str] = []
        for _ in range(3):
            self.add()

    def source(self) -> Source[Any]:
        interval = 20 if self._watched else None
        return FileSource([self._directory], TextLineFormat(), discovery_interval=interval, split_size=400)

    def records(self) -> Sequence[Any]:
        return self._lines

    def add(self) -> None:
        first = len(self._lines)
        lines = [f"line {number} {'-' * (number % 7)}" for number in range(first, first + 40)]
        data = "".join(f"{line}\n" for line in lines).encode()
        unfinished = self._directory / f".{first}"
        unfinished.write_bytes(gzip.compress(data) if self._compressed else data)
        unfinished.rename(self._directory / f"{first}.{'gz' if self._compressed else 'txt'}")
        self._lines.extend(lines)


class TestLinesOfFiles(SourceContract):
    executors: ClassVar[Sequence[Any]] = ("process", pytest.param("spark", marks=pytest.mark.spark))

    def system(self, directory: Path) -> SourceSystem:
        return Lines(directory)


class TestLinesOfCompressedFiles(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        return Lines(directory, compressed=True)


class TestWatchedDirectory(ContinuousSourceContract):
    def system(self, directory: Path) -> ContinuousSourceSystem:
        return Lines(directory, watched=True)


NAMED = Types.ROW_NAMED(["n", "s"], [Types.LONG(), Types.STRING()])


class Rows(SourceSystem):
    """Files of rows in some format."""

    type_info = NAMED

    def __init__(self, directory: Path, format: FileFormat[Any], files: Sequence[bytes]) -> None:
        self._directory = directory / "in"
        self._directory.mkdir()
        self._format = format
        for number, data in enumerate(files):
            (self._directory / f"{number}.part").write_bytes(data)

    def source(self) -> Source[Any]:
        return FileSource([self._directory], self._format, split_size=300)

    def records(self) -> Sequence[Any]:
        return [Row(n=number, s=f"s{number}") for number in range(60)]


def halves() -> list[range]:
    return [range(30), range(30, 60)]


class TestJsonLines(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        files = ["".join(f'{{"n": {n}, "s": "s{n}"}}\n' for n in half).encode() for half in halves()]
        return Rows(directory, JsonLinesFormat(NAMED), files)


class TestParquet(SourceContract):
    def system(self, directory: Path) -> SourceSystem:
        files = []
        for half in halves():
            target = pa.BufferOutputStream()
            pq.write_table(pa.table({"n": half, "s": [f"s{n}" for n in half]}), target, row_group_size=7)
            files.append(target.getvalue().to_pybytes())
        return Rows(directory, ParquetFormat(), files)


class TestBadLine(BadRecordContract):
    def spoiled(self, directory: Path) -> tuple[SourceSystem, str]:
        return Rows(
            directory, JsonLinesFormat(NAMED), [b'{"n": 1, "s": "a"}\n{"n": \n']
        ), "0.part requires JSON .* byte 19"
