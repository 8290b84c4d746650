"""The lines of Firesteel's log: text or JSON, with the job, the epoch and the operator that they are of.

Firesteel formats with these what goes through its own handlers. A program that has handlers of its own may use them
there, as `logging.config.dictConfig` does: `{"()": "firesteel.common.log_formats.LogFormatter", "form": "json"}`.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.log_context import LogForm, current_log_context

LOG_FORMAT: Final = "firesteel.logging.format"
"""The option."""

LOG_FORMAT_VARIABLE: Final = "FIRESTEEL_LOG_FORMAT"
"""The environment variable that says the same for all jobs of a process, and for those of a cluster."""

_FIELDS: Final = ("job_id", "job_name", "epoch", "operator", "subtask", "parallelism")
_LONGEST_NAME: Final = 60
"""Operators of queries have names as long as their text."""


def log_form(text: str) -> LogForm:
    """Return the value of the option. Raises ConfigurationError for any but `text` and `json`.

    >>> log_form("JSON")
    'json'
    """
    match text.strip().lower():
        case "text":
            return "text"
        case "json":
            return "json"
    raise ConfigurationError("requires text or json", who=f"option {LOG_FORMAT!r}", got=repr(text))


def process_form(options: Mapping[str, str]) -> LogForm:
    """Return the format of what a process logs that is of no job: that of its options, or of its environment.

    A value that makes no sense is text here; the job that has the option is refused.
    """
    try:
        return log_form(options.get(LOG_FORMAT) or os.environ.get(LOG_FORMAT_VARIABLE) or "text")
    except ConfigurationError:
        return "text"


class LogContextFilter(logging.Filter):
    """Writes into each record what it is about: `job_id`, `job_name`, `epoch`, `operator`, `subtask`, `parallelism`.

    Those that are not known are None. Put it on a handler that passes records to another thread, such as
    `logging.handlers.QueueHandler`, and on one whose format names the attributes.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        known = fields_of(record)
        vars(record).update({name: known.get(name) for name in _FIELDS})
        return True


class LogFormatter(logging.Formatter):
    """Writes a record in the format that its job asks for, else in `form`.

    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "hello", "job_name": "orders", "epoch": 12})
    >>> LogFormatter().format(record)
    '... INFO [orders epoch 12] hello'
    """

    def __init__(self, form: LogForm = "text") -> None:
        super().__init__("%(asctime)s %(levelname)s %(log_context)s%(message)s")
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON, or lines of text of which the others are those of an exception."""
        context = current_log_context()
        known = fields_of(record)
        form = self._form if context is None or context.form is None else context.form
        if form == "json":
            return self._as_json(record, known)
        record.log_context = f"[{brief(known)}] " if known else ""
        return super().format(record)

    def _as_json(self, record: logging.LogRecord, known: Mapping[str, Any]) -> str:
        more: dict[str, str] = {}
        if record.exc_info and record.exc_info[0] is not None:
            more["exception"] = self.formatException(record.exc_info)
        elif record.exc_text:
            more["exception"] = record.exc_text
        if record.stack_info:
            more["stack"] = self.formatStack(record.stack_info)
        return json_line(
            record.created, record.levelname, record.name, record.getMessage(), {**known, **more}
        )


def json_line(at: float, level: str, logger: str, message: str, more: Mapping[str, Any]) -> str:
    """Return a line of the log; `at` is in seconds since 1970.

    >>> json_line(0.5, "INFO", "firesteel.control", "hello", {"job_name": "orders"})
    '{"time": "1970-01-01T00:00:00.500+00:00", "level": "INFO", ... "message": "hello", "job_name": "orders", ...'
    """
    time_of_day = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    line = {"time": time_of_day, "level": level, "logger": logger, "message": message, **more}
    return json.dumps({**line, "process": os.getpid()}, ensure_ascii=False, default=str)


def printed_line(form: LogForm, stream: str, text: str) -> str:
    """Return a line that a function of the current context has printed, as a line of the log."""
    context = current_log_context()
    known = {} if context is None else context.fields()
    if form == "json":
        return json_line(time.time(), "INFO", stream, text, known)
    return f"[{brief(known)}] {text}" if known else text


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a record is about: what it says itself (`extra=`), and what its thread works on."""
    said = {name: value for name in _FIELDS if (value := vars(record).get(name)) is not None}
    context = current_log_context()
    return said if context is None else {**context.fields(), **said}


def brief(known: Mapping[str, Any]) -> str:
    """Return the fields of a context as the beginning of a line.

    >>> brief({"job_name": "orders", "epoch": 12, "operator": "count", "subtask": 0, "parallelism": 2})
    'orders epoch 12 count (1/2)'
    """
    parts = []
    if "job_name" in known:
        parts.append(_short(known["job_name"]))
    elif "job_id" in known:
        parts.append(f"job {_short(known['job_id'])}")
    if "epoch" in known:
        parts.append(f"epoch {known['epoch']}")
    if "operator" in known:
        parts.append(_short(known["operator"]))
    if isinstance(subtask := known.get("subtask"), int):
        parts.append(f"({subtask + 1}/{known.get('parallelism', '?')})")
    return " ".join(parts)


def _short(name: object) -> str:
    """Return a name on one line; programs may give attributes of these names any value."""
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."
