"""Spark's failures as messages that you can act on, without a stack trace of the JVM."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import EngineError, FiresteelError

_HINTS: Final = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (
            r"SparkContext was shut down|stopped SparkContext|Master removed our application",
            "the Spark application has ended; start the job again: it resumes from its last commit",
        ),
        (r"OutOfMemoryError|exceeding memory limits", "give the driver or the executors more memory"),
        (
            r"ExecutorLostFailure|FetchFailed|worker lost",
            "executors keep failing, and their logs say why; fix the cause and start the job again",
        ),
        (
            r'Cannot run program "[^"]*"',
            "the workers do not have this Python: set PYSPARK_PYTHON, or --conf spark.pyspark.python=PATH, to theirs",
        ),
        (
            r"PYTHON_VERSION_MISMATCH",
            "driver and workers must run the same minor version of Python: set PYSPARK_PYTHON to the workers' Python",
        ),
        (
            r"No module named '(?P<module>[^'.]+)",
            "install {module} in the workers' Python, or ship it with env.add_python_file",
        ),
        (
            r"Python worker exited unexpectedly|crashed",
            "a worker process was killed (out of memory?), or native code it calls crashed",
        ),
        (r"No space left on device", "free disk space on the workers"),
        (r"(?i)cancelled|canceled|interrupted", "the epoch was interrupted"),
    )
)

_ABORTED: Final = re.compile(
    r"Job aborted due to stage failure: "
    r"(?:.*?(?:most recent failure: Lost task [^:]*: |Most recent failure reason: ))?"
)
_JAVA_CLASS: Final = re.compile(r"^(?:: )?(?:Exception in thread \"\w+\" )?(?:[a-z]\w*\.)+[\w$]+: ")
_CALLING: Final = re.compile(r"^An error occurred while calling [^\n]*\n")
_PYTHON_ERROR: Final = re.compile(
    r"^[ ]*((?!org\.apache\.|java\.|scala\.)(?:\w[\w.]*Error|[\w.]*Exception): .+)$", re.MULTILINE
)
_MOST: Final = 300


def engine_error(error: Exception) -> FiresteelError:
    """Turn an exception of pyspark or py4j into an EngineError whose `details` hold the original text.

    >>> print(engine_error(RuntimeError("Job aborted due to stage failure: No space left on device")))
    Spark could not run the epoch's job; got No space left on device
      hint: free disk space on the workers
    """
    if isinstance(error, FiresteelError):
        return error
    text = str(error)
    return EngineError(
        "could not run the epoch's job", who="Spark", got=first_cause(text), hint=_hint(text), details=text
    )


def _hint(text: str) -> str:
    for pattern, hint in _HINTS:
        if found := pattern.search(text):
            return hint.format(**found.groupdict())
    return "run with --debug to see Spark's own message"


def first_cause(text: str) -> str:
    """Return the most useful line: the last Python error, else why the job was aborted, else the first line."""
    python = _PYTHON_ERROR.findall(text)
    if python:
        return str(python[-1])[:_MOST]
    aborted = _ABORTED.search(text)
    reason = text[aborted.end() :] if aborted else _CALLING.sub("", text.strip())
    line = _JAVA_CLASS.sub("", (reason.splitlines() or ["no message"])[0])
    return line.partition(". Consider setting")[0][:_MOST]
