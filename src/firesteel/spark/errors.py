"""Spark's failures in words: what a user can act on, without a stack trace of the JVM."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import EngineError, FiresteelError

_HINTS: Final = (
    (re.compile(r"OutOfMemoryError|exceeding memory limits"), "give the driver or the executors more memory"),
    (
        re.compile(r"ExecutorLostFailure|worker lost"),
        "an executor was lost; the epoch is run again from the last commit",
    ),
    (
        re.compile(r"Python worker exited unexpectedly|crashed"),
        "a Python worker died (killed, or out of memory?)",
    ),
    (re.compile(r"No module named '?firesteel"), "install firesteel on every worker of the cluster"),
    (re.compile(r"No space left on device"), "free disk space on the workers"),
    (re.compile(r"cancelled|canceled|interrupted", re.IGNORECASE), "the epoch was interrupted"),
)


def engine_error(error: Exception) -> FiresteelError:
    """Turn an exception of pyspark or py4j into an EngineError whose `details` hold the original text."""
    if isinstance(error, FiresteelError):
        return error
    text = str(error)
    hint = next(
        (hint for pattern, hint in _HINTS if pattern.search(text)), "run with --debug for Spark's own words"
    )
    return EngineError(
        "could not run the epoch's job", who="Spark", got=_first_cause(text), hint=hint, details=text
    )


def _first_cause(text: str) -> str:
    """Return the line that says most: the last Python error, else the job's abort reason, else the first line."""
    python = re.findall(r"^\s*(?:[\w.]*Error|[\w.]*Exception): .+$", text, re.MULTILINE)
    if python:
        return str(python[-1]).strip()[:300]
    reason = re.search(r"Job aborted due to stage failure: ([^\n]+)", text)
    if reason:
        return reason.group(1)[:300]
    return (text.strip().splitlines() or ["no message"])[0][:300]
