"""Hidden files that crashes leave are removed when the job has resumed, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.documents import record_published
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.common import Encoder, WatermarkStrategy
from firesteel.common.errors import UserFunctionError
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.connectors.files.sink.hidden import hidden_path, scope_of
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink as FluentSink
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Leftovers, WriterContext
from firesteel.graph.uids import id_of_uid
from firesteel.testing import ScriptedSource, executing


def fail_after(records: int) -> Callable[[str], str]:
    def checked(line: str) -> str:
        if int(line) >= records:
            raise ValueError(line)
        return line

    return checked


OPEN = RollingPolicy(part_size=1 << 40)


@pytest.fixture
def sink(tmp_path: Path) -> FileSink:
    return FileSink(tmp_path / "out", TextLines(), bucket_assigner=BasePathBuckets(), rolling_policy=OPEN)


def written(sink: FileSink, epoch: int, attempt: str, job: str = "job", state: Any = None) -> Any:
    """Write a segment of an open part; return the state that refers to it."""
    writer = sink.create_writer(
        WriterContext(job, "sink", 0, 1, EpochFacts(epoch, attempt, 0, oldest=1), state)
    )
    writer.write(["line"], None)
    writer.prepare_commit()
    return writer.snapshot_state()


def left_in(directory: Path) -> set[str]:
    return {str(path) for path in directory.rglob(".*")}


def test_what_kept_epochs_need_and_what_others_write_stays(tmp_path: Path, sink: FileSink) -> None:
    kept = [written(sink, 3, "good"), written(sink, 2, "older")]
    others = [written(sink, 3, "theirs", job="another"), written(sink, 4, "ahead")]
    lost = [written(sink, 3, "lost"), written(sink, 1, "lost long ago")]
    (tmp_path / "out" / ".hidden").touch()
    sink.create_committer().discard(Leftovers("job", "sink", 3, tuple(kept)))
    files = {path for state in (*kept, *others) for path in state.files}
    assert left_in(tmp_path / "out") == files | {str(tmp_path / "out" / ".hidden")}
    assert not files & {path for state in lost for path in state.files}


def test_segments_that_were_merged_stay_as_long_as_an_older_epoch_may_need_them(sink: FileSink) -> None:
    state = None
    for epoch in range(1, 20):
        state = written(sink, epoch, "try", state=state)
    assert state.parts[""].merged
    sink.create_committer().discard(Leftovers("job", "sink", 19, (state,)))
    assert all(Path(path).exists() for path in state.files)


def run(directory: Path, works_for: int = 8) -> None:
    """Write 8 lines, of which the program fails at one after some."""
    source = ScriptedSource([str(number) for number in range(8)])
    with executing(epoch_records=2, parallelism=1, state_dir=str(directory / "state")):
        env = StreamExecutionEnvironment.get_execution_environment()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
        out = FluentSink.for_row_format(str(directory / "out"), Encoder.simple_string_encoder()).build()
        lines.map(fail_after(works_for)).sink_to(out).uid("out")
        env.execute("lines")


def leftovers_of(directory: Path) -> tuple[Storage, int, Path, Path]:
    """Leave hidden files of the job's last epoch, and of another job; return its storage, the epoch, and both."""
    storage = Storage.of(directory / "state")
    log = ManifestLog.open(storage)
    assert log is not None
    last = log.latest()
    assert last is not None
    [sink] = [operator for operator in last.operators if operator == id_of_uid("out")]
    part = directory / "out" / "part-0"
    mine = hidden_path(part, scope_of(log.job.job_id, sink), last.epoch, "killed")
    another = hidden_path(part, scope_of("another", sink), last.epoch, "killed")
    for path in (mine, another):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return storage, last.epoch, mine, another


def lines_in(directory: Path) -> list[str]:
    visible = [path for path in (directory / "out").rglob("part-*") if not path.name.startswith(".")]
    return sorted(line for path in visible for line in path.read_text().split())


def test_a_job_that_has_resumed_removes_what_was_left(tmp_path: Path) -> None:
    with pytest.raises(UserFunctionError):
        run(tmp_path, works_for=4)
    _, _, _, another = leftovers_of(tmp_path)
    run(tmp_path)
    assert left_in(tmp_path / "out") == {str(another)}
    assert lines_in(tmp_path) == list("01234567")


def test_a_job_that_only_publishes_its_last_epoch_again_removes_what_was_left(tmp_path: Path) -> None:
    run(tmp_path)
    storage, epoch, mine, another = leftovers_of(tmp_path)
    record_published(storage, epoch - 1)
    assert mine.exists()
    run(tmp_path)
    assert left_in(tmp_path / "out") == {str(another)}
    assert lines_in(tmp_path) == list("01234567")
