"""The contract of sinks, passed by those that come with Firesteel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.common import Row, Types
from firesteel.connectors.files.sink import (
    BasePathBuckets,
    Compaction,
    FileSink,
    RollingPolicy,
    TextLines,
    committer,
)
from firesteel.connectors.sql import SqlSink
from firesteel.functions.sink import Sink
from firesteel.testing.contracts import SinkContract, SinkSystem
from tests.connectors.conftest import Target


class Parts(SinkSystem):
    """Part files of lines of text."""

    def __init__(self, directory: Path, rolling: RollingPolicy, compaction: Compaction | None = None) -> None:
        self._directory = directory / "out"
        self._rolling = rolling
        self._compaction = compaction

    def sink(self) -> Sink[Any]:
        return FileSink(
            self._directory, TextLines(), BasePathBuckets(), self._rolling, compaction=self._compaction
        )

    def rows(self) -> Sequence[Any]:
        return [line for path in self._directory.glob("[!.]*") for line in path.read_text().splitlines()]


class TestPartsOfAnEpoch(SinkContract):
    executors: ClassVar[Sequence[Any]] = ("process", pytest.param("spark", marks=pytest.mark.spark))

    def system(self, directory: Path) -> SinkSystem:
        return Parts(directory, RollingPolicy.on_epoch())


class TestPartsOfSeveralEpochs(SinkContract):
    def system(self, directory: Path) -> SinkSystem:
        return Parts(directory, RollingPolicy(part_size=150))


class TestCompactedParts(SinkContract):
    """Workers join them, however small they are."""

    executors: ClassVar[Sequence[Any]] = ("process", pytest.param("spark", marks=pytest.mark.spark))

    @pytest.fixture(autouse=True)
    def all_are_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(committer, "SMALL", 0)

    def system(self, directory: Path) -> SinkSystem:
        return Parts(directory, RollingPolicy.on_epoch(), Compaction(epochs=3, packed=400))


class Table(SinkSystem):
    """A table of a database; with `keyed` rows replace each other."""

    type_info = Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.LONG()])

    def __init__(self, target: Target, way: Any = "staged", *, keyed: bool = False) -> None:
        self._target = target
        self._way = way
        self._key = ["name"] if keyed else []
        target.run(f"CREATE TABLE t (name VARCHAR(20) {'PRIMARY KEY' if keyed else ''}, number BIGINT)")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_target": self._target.url}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _target=Target(state["_target"]))

    def sink(self) -> Sink[Any]:
        return SqlSink(self._target.url, "t", ["name", "number"], key=self._key, way=self._way)

    def records(self, count: int) -> Sequence[Any]:
        return [Row(f"name {number}", number) for number in range(count)]

    def row(self, record: Any) -> Any:
        return tuple(record)

    def rows(self) -> Sequence[Any]:
        return self._target.rows("SELECT name, number FROM t")

    def crashed(self) -> None:
        self._target.hang_up()


class TestSqlite(SinkContract):
    def system(self, directory: Path) -> SinkSystem:
        return Table(Target(f"sqlite:///{directory}/target.db"))


@pytest.mark.xdist_group("postgres")
class TestPostgres(SinkContract):
    way: ClassVar[str] = "staged"
    keyed: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def database(self, postgres_target: Target) -> None:
        self.target = postgres_target

    def system(self, directory: Path) -> SinkSystem:
        return Table(self.target, self.way, keyed=self.keyed)


@pytest.mark.xdist_group("postgres")
class TestPostgresKeyed(TestPostgres):
    keyed: ClassVar[bool] = True


@pytest.mark.xdist_group("postgres")
class TestPostgresPrepared(TestPostgres):
    way: ClassVar[str] = "prepared"
