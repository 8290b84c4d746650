"""What workers log and print says of which job it is; called in this process as a worker calls it."""

from __future__ import annotations

import json
import logging
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from firesteel.common.log_context import LogContext, LogForm
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.plan import EpochPlan
from firesteel.spark.announcement import Announcement
from firesteel.spark.kept import Kept
from firesteel.spark.shipped import ANSWER, AnsweringTask, Batches, Preparation
from firesteel.spark.worker_logs import MarkedStream, WorkerLogs

Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Does(AnsweringTask[None]):
    work: Callable[[], Any]

    who = "the test's task"

    def answer(self, batches: Batches) -> None:
        self.work()


@pytest.fixture(autouse=True)
def _worker(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Afterwards streams are as before."""
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)


def logs(name: str, form: LogForm | None = None, *, prints: bool = True) -> WorkerLogs:
    return WorkerLogs(LogContext("0b0d", name, form=form), prints)


def run(how: WorkerLogs | None, work: Callable[[], Any]) -> None:
    task = pickle.loads(cloudpickle.dumps(Does(Preparation(logs=how), work)))
    root = logging.getLogger()
    before, root.handlers = root.handlers, []  # as in a worker
    try:
        [row] = ANSWER.rows(task(iter(())))
    finally:
        root.handlers = before
    task.read(row)


def test_what_functions_print_has_the_jobs_name(capsys: Captured) -> None:
    run(logs("orders"), lambda: print("one\ntwo"))
    run(logs("returns"), lambda: print("three", file=sys.stderr))
    said = capsys.readouterr()
    assert said.out == "[orders] one\n[orders] two\n"
    assert said.err == "[returns] three\n"


def test_what_is_published_in_workers_says_the_epoch(capsys: Captured) -> None:
    run(logs("orders").at(12), lambda: print("published"))
    assert capsys.readouterr().out == "[orders epoch 12] published\n"


def test_a_line_is_written_when_it_is_complete_or_the_task_ends(capsys: Captured) -> None:
    def work() -> None:
        sys.stdout.writelines(["be", "gun"])
        sys.stdout.flush()

    run(logs("orders"), work)
    run(logs("returns"), lambda: print("begun", end=""))
    assert capsys.readouterr().out == "[orders] begun\n[returns] begun\n"


def test_what_threads_of_a_function_print_has_it_too(capsys: Captured) -> None:
    def work() -> None:
        thread = threading.Thread(target=print, args=("from a thread",))
        thread.start()
        thread.join()

    run(logs("orders"), work)
    assert capsys.readouterr().out == "[orders] from a thread\n"


def test_as_json_printed_lines_are_records(capsys: Captured) -> None:
    run(logs("orders", "json"), lambda: print('a "word"'))
    [line] = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["logger"], said["message"], said["job_name"]) == ("stdout", 'a "word"', "orders")


def test_a_logger_without_handlers_writes_firesteels_lines(capsys: Captured) -> None:
    for form in ("text", "json"):
        run(logs("orders", form), lambda: logging.getLogger("mine").warning("too %s", "many"))  # type: ignore[arg-type]
        run(logs("orders", form), lambda: logging.getLogger("mine").info("unheard"))  # type: ignore[arg-type]
    text, line = capsys.readouterr().err.splitlines()
    assert text.endswith("WARNING [orders] too many")
    assert (json.loads(line)["logger"], json.loads(line)["message"]) == ("mine", "too many")


def test_a_program_that_configures_logging_keeps_its_format(capsys: Captured) -> None:
    def work() -> None:
        logging.basicConfig(format="MINE %(message)s")
        logging.getLogger("mine").warning("hello")

    run(logs("orders"), work)
    assert capsys.readouterr().err == "[orders] MINE hello\n"


def test_without_other_jobs_prints_are_as_they_are(capsys: Captured) -> None:
    before = sys.stdout
    run(logs("orders", prints=False), lambda: print("plain"))
    assert sys.stdout is before
    run(logs("orders"), lambda: print("marked"))
    assert isinstance(sys.stdout, MarkedStream)
    run(logs("orders", prints=False), lambda: print("plain"))
    run(None, lambda: print("plain"))
    assert capsys.readouterr().out == "plain\n[orders] marked\nplain\nplain\n"


def test_a_marked_stream_is_otherwise_the_stream() -> None:
    def work() -> None:
        assert sys.stdout.encoding
        assert not sys.stdout.isatty()
        with pytest.raises(AttributeError):
            sys.stdout.nothing  # type: ignore[attr-defined]  # noqa: B018

    run(logs("orders"), work)


def test_a_job_that_is_closed_in_the_task_of_another_speaks_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    kept = Kept()
    one, other = str(tmp_path / "one"), str(tmp_path / "other")

    def told(*running: str) -> Announcement:
        return Announcement(EpochPlan("job", EpochFacts(1, "try", 0), 1, 0), "driver", frozenset(running))

    first = kept.job(one, told(one))
    first.logs = logs("returns")
    monkeypatch.setattr(first.worker, "close", lambda: print("closed"))
    with logs("orders").used():
        print("before", end="")
        kept.job(other, told(other))
        print("after")
    assert capsys.readouterr().out == "[orders] before\n[returns] closed\n[orders] after\n"
