"""Hidden files that crashes leave are removed when the job has resumed, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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

BROKEN = [True]


def fail_after(records: int) -> Callable[[str], str]:
    def checked(line: str) -> str:
        if BROKEN and int(line) >= records // 2:
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


def run(directory: Path, records: int) -> None:
    source = ScriptedSource([str(number) for number in range(records)])
    with executing(epoch_records=2, parallelism=1, state_dir=str(directory / "state")):
        env = StreamExecutionEnvironment.get_execution_environment()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").uid("lines")
        out = FluentSink.for_row_format(str(directory / "out"), Encoder.simple_string_encoder()).build()
        lines.map(fail_after(records)).sink_to(out).uid("out")
        env.execute("lines")


def test_a_job_that_has_resumed_removes_what_was_left(tmp_path: Path) -> None:
    with pytest.raises(UserFunctionError):
        run(tmp_path, 8)
    log = ManifestLog.open(Storage.of(tmp_path / "state"))
    assert log is not None
    last = log.latest()
    assert last is not None
    [sink] = [operator for operator in last.operators if operator == id_of_uid("out")]
    part = tmp_path / "out" / "part-0"
    mine = hidden_path(part, scope_of(log.job.job_id, sink), last.epoch, "killed")
    another = hidden_path(part, scope_of("another", sink), last.epoch, "killed")
    for path in (mine, another):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    BROKEN.clear()
    run(tmp_path, 8)
    assert left_in(tmp_path / "out") == {str(another)}
    visible = [path for path in (tmp_path / "out").rglob("part-*") if not path.name.startswith(".")]
    assert sorted(line for path in visible for line in path.read_text().split()) == list("01234567")
