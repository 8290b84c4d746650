"""Crashes at chosen points of an epoch: the process seems to stop there, and nothing is tidied up behind it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from firesteel.checkpoint import savepoint
from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.objects import Storage
from firesteel.connectors.files.sink import writer
from firesteel.connectors.files.sink.committer import CopyingCommitter, FileCommitter
from firesteel.control import JobSettings, loop
from firesteel.control.journal import Journal
from firesteel.control.loop import EpochLoop
from firesteel.testing import LocalExecutor, executor

Point = tuple[int, str]
"""The epoch, and what was just about to be done, or had just been done."""


class Crash(BaseException):
    """The process is gone. No exception the engine would catch: nothing goes on after it."""


class Crasher:
    """Notes every point a job passes; at the one where `dies(count, point)` is true, the job crashes."""

    def __init__(self, dies: Callable[[int, Point], bool] = lambda count, point: False) -> None:
        self.points: list[Point] = []
        self.crashed: Point | None = None
        self.epoch = 1
        self.published = 0
        self._dies = dies

    def reach(self, what: str) -> None:
        """Crash here, or note that the job came by."""
        if self.crashed is not None:
            raise Crash  # whoever still runs is gone, too
        point = (self.published if publishes_beside() else self.epoch, what)
        self.points.append(point)
        if self._dies(len(self.points), point):
            self.crashed = point
            raise Crash

    def around(self, what: str, call: Callable[[], Any]) -> Any:
        """Pass a point before and one after a call."""
        self.reach(f"before {what}")
        result = call()
        self.reach(f"after {what}")
        return result

    def executor(self, job_id: str, state_url: str, settings: JobSettings) -> LocalExecutor:
        """An executor that a crash leaves as it is: no operator is closed, no writer gives up."""
        local = LocalExecutor(job_id, state_url, settings)
        close = local.close
        local.close = lambda: None if self.crashed else close()  # type: ignore[method-assign]
        return local


def publishes_beside() -> bool:
    """Whether this thread publishes an epoch while another one runs the next."""
    return threading.current_thread().name.startswith("firesteel-publishing")


_active = {"crasher": Crasher()}


def reach(what: str) -> None:
    """For functions and sinks of a test's program: a point of their own."""
    _active["crasher"].reach(what)


def around(what: str, call: Callable[[], Any]) -> Any:
    """For functions and sinks of a test's program: the points around what they do."""
    return _active["crasher"].around(what, call)


@contextmanager
def points(crasher: Crasher, *, upkeep: bool = False) -> Iterator[Crasher]:
    """Have all that an epoch consists of pass by `crasher`, and all `upkeep` of its state: what compaction, collection,
    savepoints, restoring, changes of parallelism and of types consist of.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_active, "crasher", crasher)
        patch.setattr(os, "fsync", lambda descriptor: None)  # a process dies here, not its machine
        _wrap_planning(patch, crasher)
        _wrap_publishing(patch, crasher)
        _wrap_tasks(patch, crasher)
        _wrap_storage(patch, crasher)
        _wrap_file_commits(patch, crasher)
        opened = _wrap_part_files(patch)
        if upkeep:
            _wrap_maintenance(patch, crasher)
            _wrap_savepoints(patch, crasher)
            _wrap_changes(patch, crasher)
        try:
            yield crasher
        finally:
            for file in opened:  # as the system does for a process that is gone: nothing more is written
                getattr(file, "raw", file).close()


def _wrap_planning(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    plan = EpochLoop._plan

    def planning(self: Any) -> Any:
        crasher.epoch = self._journal.epoch + 1
        return crasher.around("planning", lambda: plan(self))

    patch.setattr(EpochLoop, "_plan", planning)


def _wrap_publishing(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    publish = Journal.publish

    def publishing(self: Journal, *arguments: Any) -> None:
        crasher.published = self.epoch
        publish(self, *arguments)

    patch.setattr(Journal, "publish", publishing)


def _wrap_tasks(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    run_task, persist = executor.run_task, CheckpointedState.persist

    def running(plan: Any, epoch: Any, level: int, subtask: int, *arguments: Any) -> Iterator[Any]:
        crasher.reach(f"before task {level}.{subtask}")
        yield from run_task(plan, epoch, level, subtask, *arguments)
        crasher.reach(f"after task {level}.{subtask}")

    def writing(self: Any, address: Any, *arguments: Any) -> Any:
        return crasher.around(
            f"writing a run of {address.subtask}", lambda: persist(self, address, *arguments)
        )

    patch.setattr(executor, "run_task", running)
    patch.setattr(CheckpointedState, "persist", writing)


def _wrap_storage(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    create, put = Storage.create, Storage.put

    def creating(self: Storage, path: str, data: bytes) -> None:
        if path.startswith("manifests/"):
            crasher.around("the manifest", lambda: create(self, path, data))
        else:
            create(self, path, data)

    def putting(self: Storage, path: str, data: Any) -> None:
        if path == "published":
            crasher.around("noting what is published", lambda: put(self, path, data))
        else:
            put(self, path, data)

    patch.setattr(Storage, "create", creating)
    patch.setattr(Storage, "put", putting)


def _wrap_part_files(patch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of all part files that are opened from now on."""
    opened: list[Any] = []
    init = writer._Active.__init__

    def opening(self: writer._Active, *arguments: Any) -> None:
        init(self, *arguments)
        opened.append(self.file)

    patch.setattr(writer._Active, "__init__", opening)
    return opened


def _wrap_file_commits(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    publish, copy, join = FileCommitter._publish, CopyingCommitter._publish, FileCommitter._join

    def publishing(self: Any, part: Any) -> None:
        crasher.around("a part file", lambda: publish(self, part))

    def copying(self: Any, part: Any) -> None:
        crasher.around("a part file", lambda: copy(self, part))

    def joining(self: Any, *arguments: Any) -> None:
        crasher.around("joining segments", lambda: join(self, *arguments))

    patch.setattr(FileCommitter, "_publish", publishing)
    patch.setattr(CopyingCommitter, "_publish", copying)
    patch.setattr(FileCommitter, "_join", joining)


def _wrap_maintenance(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    merge, delete = executor.merge, Storage.delete

    def merging(storage: Storage, task: Any) -> Any:
        return crasher.around("a merge", lambda: merge(storage, task))

    def deleting(self: Storage, path: str) -> None:
        kind = {"manifests": "a manifest", "runs": "a run"}.get(path.partition("/")[0])
        if kind is None:
            delete(self, path)
        else:
            crasher.around(f"the removal of {kind}", lambda: delete(self, path))

    patch.setattr(executor, "merge", merging)
    patch.setattr(Storage, "delete", deleting)


def _wrap_savepoints(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    copy, write, create, put = savepoint.copy_run, savepoint.write_manifest, Storage.create, Storage.put

    def copying(source: Storage, run: Any, target: Storage) -> None:
        crasher.around("a copied run", lambda: copy(source, run, target))

    def writing(storage: Storage, manifest: Any) -> None:
        crasher.around("a savepoint's manifest", lambda: write(storage, manifest))

    def creating(self: Storage, path: str, data: bytes) -> None:
        if path == "job.json":
            crasher.around(path, lambda: create(self, path, data))
        else:
            create(self, path, data)

    def putting(self: Storage, path: str, data: Any) -> None:
        if path == "savepoint.json":
            crasher.around(path, lambda: put(self, path, data))
        else:
            put(self, path, data)

    patch.setattr(savepoint, "copy_run", copying)
    patch.setattr(savepoint, "write_manifest", writing)
    patch.setattr(Storage, "create", creating)
    patch.setattr(Storage, "put", putting)


def _wrap_changes(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    change, evolve = EpochLoop._go_on_at, loop.evolve

    def changing(self: Any, parallelism: int) -> None:
        crasher.around("a change of parallelism", lambda: change(self, parallelism))

    def evolving(*arguments: Any) -> None:
        crasher.around("a change of types", lambda: evolve(*arguments))

    patch.setattr(EpochLoop, "_go_on_at", changing)
    patch.setattr(loop, "evolve", evolving)
