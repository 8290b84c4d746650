"""Epochs reach their tasks, whatever their size, and what outlives a task is left out of later collections."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.source import Split
from firesteel.runtime.plan import EpochPlan, SplitInput
from firesteel.spark import announcement, collector
from firesteel.spark.announcement import Announcement, announced, read_announcement
from firesteel.testing import executing


class Settings(dict[str, str]):
    """A session's settings, which are also the local properties of a job's tasks."""

    set = dict.__setitem__
    unset = dict.__delitem__


class Session:
    def __init__(self) -> None:
        self.conf = Settings()


class Context:
    """A task's context."""

    def __init__(self, session: Session) -> None:
        self._properties = dict(session.conf)

    def getLocalProperty(self, name: str) -> str | None:
        return self._properties.get(name)


def announcement_of(splits: int) -> Announcement:
    # Names without a pattern: they do not compress.
    names = [f"{(index * 2654435761) % 2**64:x}" for index in range(splits)]
    inputs = {0: {0: [SplitInput(Split(name), 0, 10) for name in names]}}
    epoch = EpochPlan("job", EpochFacts(7, "token-1", 1_000), 1, 6, inputs=inputs)
    return Announcement(epoch, "driver", frozenset({"state"}))


@pytest.mark.parametrize("splits", [1, 20_000])
def test_a_task_reads_what_was_announced(tmp_path: Path, splits: int) -> None:
    session, storage, told = Session(), Storage.of(tmp_path), announcement_of(splits)
    with announced(session, storage, told):
        context: Any = Context(session)
        assert read_announcement(context, storage.url) == told
        assert max(map(len, session.conf.values())) <= announcement._INLINE
    assert not session.conf
    assert storage.list("") == []


def test_tasks_of_a_process_read_an_epoch_once_and_the_next_one_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, storage, read = Session(), Storage.of(tmp_path), []
    monkeypatch.setattr(announcement, "_unpacked", lambda text: read.append(text) or unpacked(text))
    monkeypatch.setattr(announcement, "_INLINE", 10)
    for number, told in enumerate([announcement_of(1), announcement_of(2)], start=1):
        later = told._replace(epoch=replace(told.epoch, facts=EpochFacts(number, f"token-{number}", 1_000)))
        with announced(session, storage, later):
            context: Any = Context(session)
            assert [read_announcement(context, storage.url) for _ in range(5)] == [later] * 5
        assert len(read) == number


unpacked = announcement._unpacked


def test_a_failed_epoch_leaves_nothing_behind(tmp_path: Path) -> None:
    session, storage = Session(), Storage.of(tmp_path)
    with pytest.raises(RuntimeError), announced(session, storage, announcement_of(20_000)):
        raise RuntimeError
    assert not session.conf
    assert storage.list("") == []


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_job_whose_epochs_are_too_long_for_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "_INLINE", 10)
    with executing("spark", parallelism=2, epoch_records=4, state_dir=str(tmp_path)):
        env = StreamExecutionEnvironment.get_execution_environment()
        numbers = env.from_collection(list(range(20)))
        sums = numbers.key_by(lambda value: value % 3).reduce(lambda left, right: left + right)
        assert max(sums.execute_and_collect()) == sum(range(1, 20, 3))
    assert [path for path in Storage.of(tmp_path).list("plans") if "epoch" in path] == []


class Cycle:
    def __init__(self) -> None:
        self.itself = self


def cycles() -> int:
    return sum(isinstance(each, Cycle) for each in gc.get_objects())


def test_what_a_task_leaves_is_looked_at_again_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    try:
        kept = list(collector.task([Cycle(), Cycle()]))
        assert gc.get_freeze_count() > 0
        assert cycles() == 0  # set aside
        del kept
        monkeypatch.setattr(collector, "_last_whole", time.monotonic() - collector._WHOLE_SECONDS)
        collector.set_aside()
        gc.unfreeze()
        assert cycles() == 0  # gone
    finally:
        gc.unfreeze()
