"""Small part files that become larger ones before they appear."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.common.typeinfo import Types
from firesteel.connectors.files.parquet_files import ParquetParts
from firesteel.connectors.files.parts import PartCommit, Segment
from firesteel.connectors.files.sink import (
    BasePathBuckets,
    Compaction,
    FileSink,
    RollingPolicy,
    TextLines,
    committer,
)
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Leftovers, WriterContext
from firesteel.spark.executor import SparkExecutor
from firesteel.testing import executing
from firesteel.testing.executor import LocalExecutor
from tests.connectors.file_sinks import hidden


class Job:
    """Some subtasks of a sink, epoch by epoch."""

    def __init__(self, path: Path, compaction: Compaction, subtasks: int = 2, **options: Any) -> None:
        options.setdefault("rolling_policy", RollingPolicy.on_epoch())
        buckets = BasePathBuckets()
        self.sink = FileSink(path, TextLines(), buckets, compaction=compaction, **options)
        self.path = path
        self.epoch = 0
        self.states: list[Any] = [None] * subtasks
        self.committables: list[Any] = []

    def prepare(self, *values: str, final: bool = False, lineage: str = "", inherited: Any = ()) -> None:
        self.epoch += 1
        self.committables = []
        for subtask, text in enumerate(values):
            facts = EpochFacts(self.epoch, f"try-{self.epoch}-{lineage}", 0, final, lineage)
            writer = self.sink.create_writer(
                WriterContext(
                    "j", "o", subtask, len(values), facts, self.states[subtask], () if subtask else inherited
                )
            )
            writer.write(list(text), None)
            self.committables.extend(writer.prepare_commit())
            self.states[subtask] = writer.snapshot_state()

    def run(self, *values: str, **options: Any) -> list[str]:
        self.prepare(*values, **options)
        for _ in range(2):
            self.sink.create_committer().commit(self.committables)
        return self.texts()

    def texts(self) -> list[str]:
        found = [path for path in self.path.iterdir() if not path.name.startswith(".")]
        assert all(path.name.startswith("compacted-part-") for path in found)
        return sorted("".join(sorted(path.read_text().split())) for path in found)


def test_with_every_so_many_epochs(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=3))
    assert job.run("a", "b") == []
    assert job.run("c", "") == []
    assert job.run("d", "e") == ["abcde"]
    assert job.run("f", "") == ["abcde"]
    assert job.run("", "", final=True) == ["abcde", "f"]
    assert hidden(tmp_path) == []


def test_from_a_size_on(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(threshold=4))
    assert job.run("a", "b") == []
    assert job.run("a", "") == ["aa"]
    assert job.run("", "bb") == ["aa", "bbb"]
    assert job.run("a", "b", final=True) == ["aa", "ab", "bbb"]


def test_each_epoch_packed_to_a_size(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=1, packed=6), subtasks=4)
    assert len(job.run("aa", "b", "c", "d")) == 2
    assert sorted("".join(job.texts())) == list("aabcd")
    job.run("aaaaaaaaa", "b", "", "")
    assert "aaaaaaaaa" in job.texts()


def test_separately(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=2, separately=True))
    assert job.run("a", "b") == []
    assert job.run("c", "") == ["a", "b", "c"]


def test_with_a_delimiter_between_files_of_several_segments(tmp_path: Path) -> None:
    open_ = RollingPolicy(part_size=3)
    job = Job(tmp_path, Compaction(epochs=4, delimiter=b"--\n"), subtasks=1, rolling_policy=open_)
    for text in ("a", "b", "c"):
        assert job.run(text) == []
    job.prepare("d")
    job.sink.create_committer().commit(job.committables)
    [path] = tmp_path.glob("compacted-*")
    assert path.read_text() == "a\nb\n--\nc\nd\n"


def test_a_delimiter_needs_a_format_that_can_be_appended(tmp_path: Path) -> None:
    parquet = ParquetParts(Types.ROW([Types.INT()]))
    with pytest.raises(ConfigurationError, match="one after the other"):
        FileSink(tmp_path, parquet, compaction=Compaction(epochs=1, delimiter=b"\n"))
    FileSink(tmp_path, parquet, compaction=Compaction(epochs=1))


def test_files_that_wait_are_no_leftovers(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=4))
    job.run("a", "b")
    job.sink.create_committer().discard(Leftovers("j", "o", 1, tuple(job.states)))
    assert len(hidden(tmp_path)) == 2
    assert job.run("", "", final=True) == ["ab"]


def test_what_waits_in_subtasks_that_are_gone_appears(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=4))
    job.run("a", "b")
    left = job.states.pop()
    job.prepare("c", inherited=(left,))
    job.sink.create_committer().commit(job.committables)
    assert [path.read_text() for path in tmp_path.glob("part-*")] == ["b\n"]
    job.prepare("", final=True)
    job.sink.create_committer().commit(job.committables)
    assert [path.read_text() for path in tmp_path.glob("compacted-*")] == ["a\nc\n"]


def test_a_job_that_goes_back_loses_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path, Compaction(epochs=2), subtasks=1)
    job.run("a")
    old = list(job.states)
    assert job.run("b") == ["ab"]
    job.states, job.epoch = old, 1
    job.prepare("c", lineage="another")
    job.sink.create_committer().commit(job.committables)
    assert job.texts() == ["ab", "c"]


def test_the_same_parts_are_always_packed_in_the_same_way() -> None:
    parts = [
        PartCommit(f"/d/{name}", (Segment(f"/d/.{name}", size),))
        for name, size in zip("cabd", (5, 3, 4, 2), strict=True)
    ]
    units = Compaction(epochs=1, packed=7).units(parts)
    assert units == Compaction(epochs=1, packed=7).units(parts[::-1])
    assert [[segment.path[-1] for segment in unit.segments] for unit in units] == [["a", "b"], ["c", "d"]]
    assert [unit.final for unit in units] == ["/d/compacted-a", "/d/compacted-c"]


def test_workers_join_what_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they do may be done again, and by a driver that knows nothing of it."""
    monkeypatch.setattr(committer, "SMALL", 4)
    job = Job(tmp_path, Compaction(epochs=2))
    given: list[int] = []

    def carry_out(calls: Sequence[Callable[[], None]]) -> None:
        given.append(len(calls))
        for call in calls:
            for _ in range(2):
                pickle.loads(pickle.dumps(call))()
        if given == [1]:
            raise ConnectionError("the driver dies")

    def commit() -> None:
        committing = job.sink.create_committer()
        committing.use_workers(carry_out)
        committing.commit(job.committables)

    for text in ("a", "b"):
        job.prepare(text, "")
        commit() if text == "a" else None
    with pytest.raises(ConnectionError):
        commit()
    assert job.texts() == []
    joined = [path for path in tmp_path.iterdir() if path.name.endswith(".joined") or "joined" in path.name]
    assert len(joined) == 1
    commit()
    assert (job.texts(), given) == (["ab"], [1, 1])
    commit()
    assert (job.texts(), hidden(tmp_path), given) == (["ab"], [], [1, 1, 1])
    job.run("c", "")
    job.prepare("", "", final=True)
    commit()
    assert (job.texts(), given) == (["ab", "c"], [1, 1, 1])


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=pytest.mark.spark)])
def test_jobs_have_workers_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str) -> None:
    monkeypatch.setattr(committer, "SMALL", 0)
    kind: Any = LocalExecutor if on == "process" else SparkExecutor
    carried_out, carry_out = list[int](), kind.carry_out

    def watched(self: Any, calls: Sequence[Callable[[], None]]) -> None:
        carried_out.append(len(calls))
        carry_out(self, calls)

    monkeypatch.setattr(kind, "carry_out", watched)
    sink = FileSink(
        tmp_path, TextLines(), BasePathBuckets(), RollingPolicy.on_epoch(), compaction=Compaction(epochs=1)
    )
    with executing(on, parallelism=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([*map(str, range(20))], Types.STRING()).rebalance().map(
            lambda line: line, Types.STRING()
        ).sink_to(sink)
        env.execute()
    assert carried_out == [1]
    [path] = tmp_path.iterdir()
    assert sorted(map(int, path.read_text().split())) == [*range(20)]


def test_an_error_of_a_worker_names_the_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "SMALL", 0)
    job = Job(tmp_path, Compaction(epochs=1))
    job.prepare("a", "b")
    committing = job.sink.create_committer()
    committing.use_workers(lambda calls: [call() for call in calls] and None)
    for path in hidden(tmp_path)[1:]:
        (tmp_path / path).unlink()
    with pytest.raises(ConnectorError, match="compacted-part-"):
        committing.commit(job.committables)


def test_a_condition_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="a number of epochs or a size"):
        Compaction()
