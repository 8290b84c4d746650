"""The driver's end of the commands: each is carried out once at most, and answered, whatever storage does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import msgspec
import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import EngineError, ProgramError, StateError
from firesteel.common.job_status import JobStatus
from firesteel.control import inbox as inboxes
from firesteel.control.commands import Request, now_ms, read_status, send, take_reply, write_status
from firesteel.control.inbox import Inbox, Vital
from firesteel.control.own_process import look_at_process
from firesteel.control.views.failures import MOST, Failure, Failures, read_failures, write_failures
from firesteel.control.views.metrics import JobMetrics, read_metrics
from firesteel.runtime.processes import ProcessView
from harness.waiting import until
from tests.recovery import ledger, pipeline
from tests.recovery.upkeep import run


class Controls:
    """Notes what it is asked for; answers at once, or when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.answers: list[Future[str]] = []
        self.waits = False
        self.error: Exception | None = None

    def _ask(self, kind: str, argument: object = None) -> Future[str]:
        self.asked.append((kind, argument))
        if self.error is not None:
            raise self.error
        answer: Future[str] = Future()
        answer.set_running_or_notify_cancel()
        if not self.waits:
            answer.set_result(f"{kind} done")
        self.answers.append(answer)
        return answer

    @property
    def caution(self) -> str | None:
        return "careful"

    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]:
        return self._ask("drain" if drain else "stop", savepoint)

    def cancel(self) -> Future[str]:
        return self._ask("cancel")

    def savepoint(self, target: str | None = None) -> Future[str]:
        return self._ask("savepoint", target)

    def checkpoint(self) -> Future[str]:
        return self._ask("checkpoint")

    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]:
        return self._ask("keep" if keep else "rescale", parallelism)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes, "POLL_MS", 5)
    monkeypatch.setattr(inboxes, "HEARTBEAT_MS", 20)


@pytest.fixture
def storage(tmp_path) -> Storage:
    return Storage.of(tmp_path / "state")


@pytest.fixture
def open_inbox(storage) -> Iterator[Callable[..., Inbox]]:
    opened = []

    def open_one(controls: Controls, status: JobStatus = JobStatus.RUNNING) -> Inbox:
        opened.append(Inbox(storage, "id", "name", controls, lambda: Vital(status, 7, 2)))
        opened[-1].start()
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def reply(storage: Storage, command: Request):
    return until(lambda: take_reply(storage, command))


def left(storage: Storage) -> list[str]:
    return storage.list("commands") + storage.list("replies")


def test_every_kind_of_command_is_carried_out_and_answered(storage, open_inbox):
    controls = Controls()
    open_inbox(controls)
    kinds = [("stop", None), ("stop", ""), ("cancel", None), ("savepoint", "there"), ("rescale", "3")]
    kinds.append(("checkpoint", None))
    for kind, argument in kinds:
        assert reply(storage, send(storage, kind, argument)).result == f"{kind} done"
    assert reply(storage, send(storage, "stop", "there", drain=True)).result == "drain done"
    assert reply(storage, send(storage, "rescale", "4", keep=True)).result == "keep done"
    assert controls.asked == [
        ("stop", None),
        ("stop", ""),
        ("cancel", None),
        ("savepoint", "there"),
        ("rescale", 3),
        ("checkpoint", None),
        ("drain", "there"),
        ("keep", 4),
    ]
    until(lambda: left(storage) == [])


def test_a_driver_shows_its_process_and_its_jvm_though_that_may_hang(storage):
    asked, hangs = threading.Event(), threading.Event()

    def look(threads: bool) -> ProcessView:
        asked.set()
        if not threads:
            hangs.wait()
            raise EngineError("does not answer", who="the JVM")
        return look_at_process(threads)

    inbox = Inbox(storage, "id", "name", Controls(), lambda: Vital(JobStatus.RUNNING, 7, 2), look)
    inbox.start()
    waiting = send(storage, "inspect", "memory")
    asked.wait()
    shown = reply(storage, send(storage, "inspect", "threads")).result
    view = msgspec.json.decode(shown, type=ProcessView)
    assert view.resident > 0
    assert any("test_a_driver_shows_its_process" in thread.text for thread in view.threads)
    hangs.set()
    assert reply(storage, waiting).error == "the JVM does not answer"
    inbox.close()


def test_failures_of_earlier_drivers_are_kept_and_those_of_this_one_added(storage):
    failures = [Failure(number, "Error", f"failure {number}") for number in range(MOST + 1)]
    write_failures(storage, Failures(tuple(failures[:3])))
    seen = Failures(tuple(failures[3:4]))
    inbox = Inbox(storage, "id", "name", Controls(), lambda: Vital(JobStatus.RUNNING, 7, 2, failures=seen))
    inbox.start()
    until(lambda: read_failures(storage) == Failures(tuple(failures[:4])))
    seen = Failures(tuple(failures[3:]))
    inbox.close()
    assert read_failures(storage) == Failures(tuple(failures[1:]))


def test_who_takes_a_savepoint_is_warned(storage, open_inbox):
    open_inbox(Controls())
    assert reply(storage, send(storage, "savepoint")).warning == "careful"
    assert reply(storage, send(storage, "stop", "")).warning is None


@pytest.mark.parametrize("wrong", [None, "0", "-1", "two", ""])
def test_a_parallelism_must_be_one(storage, open_inbox, wrong):
    controls = Controls()
    open_inbox(controls)
    answer = reply(storage, send(storage, "rescale", wrong))
    assert f"rescale requires a parallelism of at least 1; got {wrong!r}" in answer.error
    assert controls.asked == []


def test_what_the_job_refuses_is_told(storage, open_inbox):
    controls = Controls()
    controls.error = ProgramError("cannot do that")
    open_inbox(controls)
    assert "cannot do that" in reply(storage, send(storage, "savepoint")).error


def test_a_command_is_carried_out_once_however_long_it_takes(storage, open_inbox):
    controls = Controls()
    controls.waits = True
    open_inbox(controls)
    slow = send(storage, "savepoint", "slow")
    until(lambda: controls.asked)
    beats = read_status(storage).heartbeat_at
    until(lambda: read_status(storage).heartbeat_at > beats)
    controls.waits = False
    assert reply(storage, send(storage, "savepoint", "fast")).result == "savepoint done"
    assert [argument for _, argument in controls.asked] == ["slow", "fast"]
    controls.answers[0].set_result("at last")
    assert reply(storage, slow).result == "at last"


def test_commands_left_from_before_are_refused(storage, open_inbox):
    open_inbox(Controls()).close()
    write_status(storage, msgspec.structs.replace(read_status(storage), heartbeat_at=now_ms()))
    old = [send(storage, kind) for kind in ("cancel", "stop", "savepoint")]
    controls = Controls()
    open_inbox(controls)
    for command in old:
        assert "the driver it was sent to is gone; send it again" in reply(storage, command).error
    assert reply(storage, send(storage, "savepoint")).result == "savepoint done"
    assert controls.asked == [("savepoint", None)]


class Fails:
    """Has an operation of the storage fail so many times, or until it is told to work again."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str, times: int = 1_000_000) -> None:
        self.left, self.calls = times, 0
        operation = getattr(Storage, name)

        def operate(storage, *arguments):
            if self.left > 0:
                self.left -= 1
                self.calls += 1
                raise StateError("cannot be reached", who=f"{name} {arguments[0]}")
            return operation(storage, *arguments)

        patch.setattr(Storage, name, operate)


@pytest.mark.parametrize("operation", ["list", "put", "get", "delete", "entries"])
def test_commands_left_from_before_are_refused_though_storage_fails_at_first(
    storage, open_inbox, monkeypatch, operation
):
    """Else the new driver would carry out what an old one was asked for."""
    open_inbox(Controls()).close()
    write_status(storage, msgspec.structs.replace(read_status(storage), heartbeat_at=now_ms()))
    old = [send(storage, "cancel"), send(storage, "stop")]
    controls = Controls()
    with monkeypatch.context() as patch:
        fails = Fails(patch, operation, 3)
        open_inbox(controls)
        if operation != "get":  # which nothing but the commands themselves asks for
            until(lambda: fails.left == 0)
        for command in old:
            until(lambda sent=command: not storage.exists(f"commands/{sent.id}.json"))
    for command in old:
        assert "gone; send it again" in reply(storage, command).error
    assert controls.asked == []


@pytest.mark.parametrize("operation", ["list", "put", "get", "delete"])
def test_storage_that_fails_for_a_while_loses_no_command_and_does_none_twice(
    storage, open_inbox, monkeypatch, caplog, operation
):
    controls = Controls()
    open_inbox(controls)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "firesteel.control"):
        fails = Fails(patch, operation)
        command = send_quietly(storage)
        until(lambda: fails.calls > 3)
        fails.left = 0
        assert reply(storage, command).result == "rescale done"
    assert controls.asked == [("rescale", 4)]
    assert "cannot be reached" in caplog.text


def send_quietly(storage: Storage) -> Request:
    """A command, written without asking the storage for anything else."""
    command = Request(f"{now_ms():015d}-abcdef01", "rescale", "4", now_ms())
    storage.create(f"commands/{command.id}.json", msgspec.json.encode(command))
    return command


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"id": "x", "kind": "explode", "argument": null, "sent_at": 1}', b"[1]"],
    ids=["empty", "cut", "unknown kind", "something else"],
)
def test_a_command_nobody_can_read_is_refused_and_the_next_is_carried_out(storage, open_inbox, data):
    controls = Controls()
    open_inbox(controls)
    storage.put("commands/000000000000000-broken.json", data)
    broken = Request("000000000000000-broken", "stop", None, 0)
    assert "commands/000000000000000-broken.json must be as it was written" in reply(storage, broken).error
    assert reply(storage, send(storage, "savepoint")).result == "savepoint done"
    assert controls.asked == [("savepoint", None)]
    until(lambda: left(storage) == [])


def test_files_that_are_no_commands_are_left_alone(storage, open_inbox):
    controls = Controls()
    storage.put("commands/.DS_Store", b"x")
    storage.put("commands/note.json.bak", b"x")
    open_inbox(controls)
    assert reply(storage, send(storage, "savepoint")).result == "savepoint done"
    until(lambda: left(storage) == ["commands/.DS_Store", "commands/note.json.bak"])


def test_at_the_end_everything_is_answered(storage, open_inbox):
    controls = Controls()
    controls.waits = True
    mine = open_inbox(controls, JobStatus.FINISHED)
    write_status(
        storage, msgspec.structs.replace(read_status(storage), status="RUNNING", heartbeat_at=now_ms())
    )
    first = send_quietly(storage)
    until(lambda: controls.asked)
    mine.close()
    assert "the job ended before it came to this command" in reply(storage, first).error
    assert read_status(storage).status == "FINISHED"
    until(lambda: left(storage) == [])


def test_a_job_whose_inbox_never_reaches_its_storage_runs_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    pipeline.write_input(tmp_path / "in")
    put, listing = Storage.put, Storage.list

    def putting(self, path, data):
        if path == "status.json":
            raise StateError("cannot be reached", who=path)
        put(self, path, data)

    def listed(self, prefix):
        if prefix in ("commands", "replies"):
            raise StateError("cannot be reached", who=prefix)
        return listing(self, prefix)

    monkeypatch.setattr(Storage, "put", putting)
    monkeypatch.setattr(Storage, "list", listed)
    run(tmp_path)
    assert pipeline.output(tmp_path) == pipeline.expected()
    ledger.forget(str(tmp_path))


def test_what_is_no_command_is_said_once_and_disturbs_nothing(storage, open_inbox, tmp_path, caplog):
    controls = Controls()
    commands = tmp_path / "state" / "commands"
    with caplog.at_level(logging.WARNING):
        open_inbox(controls)
        send(storage, "cancel")
        until(lambda: controls.asked)
        (commands / "deep").mkdir(parents=True)
        (commands / "deep" / "x.json").write_text("{}")
        (commands / "notes.txt").write_text("not for you")
        (commands / "bad.json").write_text("{")
        until(lambda: not (commands / "bad.json").exists())
        for _ in range(3):
            assert reply(storage, send(storage, "savepoint")).result == "savepoint done"
    assert controls.asked == [("cancel", None), *[("savepoint", None)] * 3]
    texts = [record.getMessage() for record in caplog.records]
    assert len([text for text in texts if "deep/x.json" in text]) == 1
    assert len([text for text in texts if "bad.json" in text]) == 1
    assert (commands / "deep" / "x.json").exists()
    assert (commands / "notes.txt").exists()


def measured(epoch: int, at: int) -> JobMetrics:
    return JobMetrics(since=1, epoch=epoch, measured_at=at, operators=())


def test_metrics_are_written_for_each_epoch_and_status_but_seldom_while_the_job_is_idle(storage):
    now = {"vital": Vital(JobStatus.RUNNING, 1, 2, metrics=measured(1, 0))}
    inbox = Inbox(storage, "id", "name", Controls(), lambda: now["vital"])

    def written(status: JobStatus, metrics: JobMetrics) -> bool:
        now["vital"] = Vital(status, metrics.epoch, 2, metrics=metrics)
        inbox._report()
        return read_metrics(storage) == metrics

    assert written(JobStatus.RUNNING, measured(1, 0))
    assert not written(JobStatus.RUNNING, measured(1, 1))
    assert written(JobStatus.RUNNING, measured(2, 2))
    assert written(JobStatus.RESTARTING, measured(2, 3))
    assert not written(JobStatus.RESTARTING, measured(2, 4))
    inbox._idle_ms = 0
    assert written(JobStatus.RESTARTING, measured(2, 5))
