"""The lines of the log: text and JSON, with the job, the epoch and the operator that they are of."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os
import re
import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError
from firesteel.common.log_context import (
    LogContext,
    LogForm,
    WorkingSubtask,
    at_epoch,
    carrying,
    current_log_context,
    logging_for,
    whole_process_for,
)
from firesteel.common.log_formats import LogContextFilter, LogFormatter, log_form, process_form

ORDERS = LogContext("0b0d", "orders", 12, lambda: WorkingSubtask("count", 0, 2))


class Log:
    """A logger with a handler of Firesteel's form, and what it has written."""

    def __init__(self, form: LogForm = "text") -> None:
        self.written = io.StringIO()
        handler = logging.StreamHandler(self.written)
        handler.setFormatter(LogFormatter(form))
        self.logger = logging.Logger("firesteel.test")
        self.logger.addHandler(handler)

    @property
    def text(self) -> str:
        """What was written, without the times."""
        return re.sub(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ", "", self.written.getvalue())

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


def test_text_begins_with_what_it_is_about() -> None:
    log = Log()
    log.logger.warning("of nothing")
    with logging_for(ORDERS):
        log.logger.warning("of a subtask")
    with logging_for(LogContext("0b0d", "orders")):
        log.logger.info("of a job")
    assert (
        log.text
        == "WARNING of nothing\nWARNING [orders epoch 12 count (1/2)] of a subtask\nINFO [orders] of a job\n"
    )


def test_json_has_all_that_is_known() -> None:
    log = Log("json")
    before = datetime.now(UTC)
    with logging_for(ORDERS):
        log.logger.warning("%d of\nthem", 3)
    log.logger.info("of nothing")
    said, other = log.lines
    moment = said.pop("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", moment)
    assert abs((datetime.fromisoformat(moment) - before).total_seconds()) < 60
    assert said == {
        "level": "WARNING",
        "logger": "firesteel.test",
        "message": "3 of\nthem",
        "job_id": "0b0d",
        "job_name": "orders",
        "epoch": 12,
        "operator": "count",
        "subtask": 0,
        "parallelism": 2,
        "process": os.getpid(),
    }
    assert other.keys() == {"time", "level", "logger", "message", "process"}


def test_an_exception_is_a_field_of_json_and_follows_text() -> None:
    text, lines = Log(), Log("json")
    try:
        raise ValueError("bad")
    except ValueError:
        text.logger.exception("it failed")
        lines.logger.exception("it failed")
    [line] = lines.lines
    assert line["message"] == "it failed"
    assert text.text == f"ERROR it failed\n{line['exception']}\n"
    assert line["exception"].splitlines()[0] == "Traceback (most recent call last):"
    assert line["exception"].splitlines()[-1] == "ValueError: bad"


def test_the_job_decides_about_its_own_lines() -> None:
    log = Log()
    with logging_for(LogContext("0b0d", "orders", form="json")):
        log.logger.info("its own")
    [line] = log.lines
    assert line["job_name"] == "orders"


@pytest.mark.parametrize("name", ["a\nb", "ü" * 500, '"]', "\udc80"])
def test_no_name_breaks_a_line(name: str) -> None:
    text, lines = Log(), Log("json")
    with logging_for(LogContext("0b0d", name)):
        text.logger.info("hello")
        lines.logger.info("hello")
    [line] = text.text.splitlines()
    assert len(line) < 80
    [found] = lines.lines
    assert found["job_name"] == name


def test_what_a_record_says_itself_counts() -> None:
    log = Log()
    log.logger.info("ended", extra={"job_id": "77"})
    with logging_for(ORDERS):
        log.logger.info("ended", extra={"epoch": 3})
    assert log.text == "INFO [job 77] ended\nINFO [orders epoch 3 count (1/2)] ended\n"


def test_a_program_may_use_the_names_for_its_own() -> None:
    text, lines = Log(), Log("json")
    own = {"operator": ["+", "-"], "subtask": "a", "log_context": 1}
    for log in (text, lines):
        log.logger.info("computed", extra=own)
    assert text.text == "INFO [['+', '-']] computed\n"
    [line] = lines.lines
    assert (line["operator"], line["subtask"]) == (["+", "-"], "a")


def test_a_context_is_of_its_thread_and_ends_with_its_block() -> None:
    found: list[LogContext | None] = []
    with logging_for(ORDERS):
        for target in (
            lambda: found.append(current_log_context()),
            carrying(lambda: found.append(current_log_context())),
        ):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        at_epoch(13)
        found.append(current_log_context())
    assert [context and context.epoch for context in found] == [None, 12, 13]
    assert current_log_context() is None


def test_in_a_process_of_one_task_all_threads_have_its_context() -> None:
    found: list[LogContext | None] = []
    with whole_process_for(ORDERS):
        thread = threading.Thread(target=lambda: found.append(current_log_context()))
        thread.start()
        thread.join()
        with logging_for(LogContext("1", "own")):
            assert current_log_context() == LogContext("1", "own")
    assert found == [ORDERS]
    assert current_log_context() is None


def test_programs_may_use_the_parts_with_handlers_of_their_own() -> None:
    written = io.StringIO()
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {"context": {"()": "firesteel.common.log_formats.LogContextFilter"}},
            "formatters": {
                "lines": {"()": "firesteel.common.log_formats.LogFormatter", "form": "json"},
                "own": {"format": "%(job_name)s %(epoch)s: %(message)s"},
            },
            "handlers": {
                name: {
                    "class": "logging.StreamHandler",
                    "stream": written,
                    "formatter": name,
                    "filters": ["context"],
                }
                for name in ("lines", "own")
            },
            "loggers": {"test.own": {"handlers": ["lines", "own"], "propagate": False}},
        }
    )
    logger = logging.getLogger("test.own")
    try:
        with logging_for(ORDERS):
            logger.warning("hello")
        logger.warning("hello")
    finally:
        logger.handlers.clear()
        logger.propagate = True
    of_job, own, of_none, own_of_none = written.getvalue().splitlines()
    assert json.loads(of_job)["epoch"] == 12
    assert own == "orders 12: hello"
    assert "epoch" not in json.loads(of_none)
    assert own_of_none == "None None: hello"


def test_a_record_that_another_thread_writes_keeps_its_context() -> None:
    record = logging.makeLogRecord({"msg": "hello", "levelname": "INFO"})
    with logging_for(ORDERS):
        assert LogContextFilter().filter(record)
    assert LogFormatter().format(record).endswith("INFO [orders epoch 12 count (1/2)] hello")


def test_the_format_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRESTEEL_LOG_FORMAT", raising=False)
    assert process_form({}) == "text"
    monkeypatch.setenv("FIRESTEEL_LOG_FORMAT", "json")
    assert process_form({}) == "json"
    assert process_form({"firesteel.logging.format": "text"}) == "text"
    assert process_form({"firesteel.logging.format": "xml"}) == "text"
    with pytest.raises(
        ConfigurationError, match=r"'firesteel.logging.format' requires text or json; got 'xml'"
    ):
        log_form("xml")
