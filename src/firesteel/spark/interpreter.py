"""The Python that the workers of a job run, and the jobs that share worker processes.

Spark keeps worker processes apart by their interpreter and their environment variables. It reads both from the
application when a DataFrame gets a Python function.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, Final

from pyspark import SparkFiles

from firesteel.common.errors import ConfigurationError

_VARIABLE: Final = "FIRESTEEL_WORKER_PYTHON"


@contextmanager
def workers_with(session: Any, key: str | None, executable: str | None) -> Iterator[None]:
    """Make `executable` run the functions that DataFrames get in this block, in processes that only jobs with the same
    `key` share.

    None for either changes nothing. Raises ConfigurationError if the session does not support it (Spark Connect).
    """
    if key is None and executable is None:
        yield
        return
    context = _context(session)
    before = context.pythonExec
    if key is not None:
        context.environment[_VARIABLE] = key
    if executable is not None:
        context.pythonExec = executable
    try:
        yield
    finally:
        context.pythonExec = before
        context.environment.pop(_VARIABLE, None)


def resolved(executable: str, archives: tuple[tuple[str, str], ...], *, cluster: bool) -> str:
    """Return the path by which Spark finds an interpreter, which may be in an archive.

    `archives` are (name of the unpacked directory, name that the program uses) pairs.

    >>> resolved("venv/bin/python", (("venv-0a1b", "venv"),), cluster=True)
    './venv-0a1b/bin/python'
    >>> resolved("/usr/bin/python3", (), cluster=True)
    '/usr/bin/python3'
    """
    first, *rest = PurePosixPath(executable).parts
    for unpacked, target in archives:
        if first == target:
            root = (
                "." if cluster else SparkFiles.getRootDirectory()
            )  # an executor's own directory is its root
            return "/".join((root, unpacked, *rest))
    return executable


def _context(session: Any) -> Any:
    try:
        return session.sparkContext
    except Exception as error:
        raise ConfigurationError(
            "cannot give a job a separate Python environment",
            who="Spark Connect",
            hint="have the server's workers run the Python that the job needs, and leave out "
            "set_python_requirements, add_python_archive and set_python_executable",
        ) from error
