"""File sinks whose epochs fail, whose commits are interrupted, and whose writers come too late."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.sink import RollingPolicy
from tests.connectors.file_sinks import STEPS, Job, commit_crashing, hidden, run_steps, sink_of, visible


def test_an_epoch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy(part_size=3)))
    job.run(["a"])
    before = hidden(tmp_path)
    writer = job.writer()
    writer.write(["lost"] * 5, None)
    writer.abort()
    assert hidden(tmp_path) == before
    job.run(["b"], final=True)
    assert visible(tmp_path) == ["a\nb\n"]


def test_an_epoch_that_was_prepared_but_not_decided_is_run_again(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path, RollingPolicy(part_size=3)))
    job.run(["a"])
    job.prepare(["b", "c", "d"])
    assert visible(tmp_path) == []
    job.run(["b", "c"], final=True)
    assert visible(tmp_path) == ["a\nb\n", "c\n"]


def test_a_zombie_writer_does_no_harm(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a"])
    zombie = job.writer()
    zombie.write(["zombie"], None)
    job.run(["b"])
    zombie.write(["zombie"], None)
    zombie.prepare_commit()
    job.run(["c"], final=True)
    zombie.abort()
    assert visible(tmp_path) == ["a\nb\nc\n"]


CALLS = [(Path, name) for name in ("rename", "unlink", "open", "exists")]


@pytest.mark.parametrize("segments", [1, 2, 3, 20])
def test_the_commit_can_crash_anywhere_and_be_repeated(tmp_path: Path, segments: int) -> None:
    """Stops the commit before each of its file operations in turn, twice in a row, then lets it through."""
    crash_at = 0
    while True:
        crash_at += 1
        directory = tmp_path / f"{segments}-{crash_at}"
        job = Job(sink_of(directory))
        for number in range(segments - 1):
            job.run([str(number)])
        committables = job.prepare([str(segments - 1)], final=True)
        committer = job.sink.create_committer()
        crashed = 0
        for point in (crash_at, max(crash_at // 2, 1)):
            crashed += commit_crashing(committer, committables, point, *CALLS)
            assert visible(directory) in ([], ["".join(f"{number}\n" for number in range(segments))])
        for _ in range(2):
            committer.commit(committables)
            assert visible(directory) == ["".join(f"{number}\n" for number in range(segments))]
        assert [path for path in hidden(directory) if not path.name.count("joined.")] == []
        if not crashed:
            break
    assert crash_at >= 3


def test_a_part_that_its_reader_took_away_does_not_come_back(tmp_path: Path) -> None:
    for segments in (1, 3):
        job = Job(sink_of(tmp_path))
        for _ in range(segments - 1):
            job.run(["a"])
        committables = job.prepare(["a"], final=True)
        job.sink.create_committer().commit(committables)
        for file in tmp_path.iterdir():
            file.unlink()
        job.sink.create_committer().commit(committables)
        assert list(tmp_path.iterdir()) == []


def test_a_paused_driver_that_commits_late_changes_nothing(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    job.run(["a"])
    committables = job.prepare(["b"], final=True)
    late = job.sink.create_committer()

    def join(segments: Sequence[Path], target: Any) -> None:
        job.sink.create_committer().commit(committables)
        raise OSError(errno.ENOENT, "gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_format", type("Paused", (), {"join": staticmethod(join)}))
        with pytest.raises(ConnectorError, match="requires that the files it prepared can be renamed"):
            late.commit(committables)
    assert visible(tmp_path) == ["a\nb\n"]
    assert hidden(tmp_path) == []


def test_a_part_that_is_open_for_long_is_neither_many_files_nor_a_long_state(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    for number in range(300):
        job.run([str(number)])
    [part] = job.state.parts.values()
    assert [segment.tier for segment in part.segments] == [2] + [1] * 2 + [0] * 12
    assert len(hidden(tmp_path)) == len(part.segments)
    job.run([], final=True)
    assert visible(tmp_path) == ["".join(f"{number}\n" for number in range(300))]
    assert hidden(tmp_path) == []


def test_a_merge_whose_epoch_fails_is_undone(tmp_path: Path) -> None:
    job = Job(sink_of(tmp_path))
    for number in range(15):
        job.run([str(number)])
    assert len(job.prepare(["lost"])) == 1
    committables = job.prepare(["15"])
    job.decide()
    for _ in range(2):
        job.sink.create_committer().commit(committables)
    job.run([], final=True)
    assert visible(tmp_path) == ["".join(f"{number}\n" for number in range(16))]


@given(steps=STEPS, size=st.integers(1, 30), every=st.booleans())
@settings(max_examples=60, deadline=None)
def test_exactly_once_whatever_fails(tmp_path_factory: Any, steps: list[Any], size: int, every: bool) -> None:
    path = tmp_path_factory.mktemp("sink")
    job = Job(sink_of(path, RollingPolicy(every, size, rollover_interval=60, inactivity_interval=30)))
    expected = run_steps(job, steps)
    assert "".join(visible(path)) == expected
