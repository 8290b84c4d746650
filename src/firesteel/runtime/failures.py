"""The conversion of an exception of user code into an error that names the operator, the line and the record."""

from __future__ import annotations

import asyncio
import platform
import sys
import traceback
from collections.abc import Iterator, Sequence
from traceback import FrameSummary
from typing import Any, Final

from firesteel.common.errors import (
    EngineError,
    FiresteelError,
    RecordError,
    SerializationError,
    UserFunctionError,
)
from firesteel.common.frames import is_engine, is_installed, is_standard

_CALLED_BY_ENGINE: Final = (
    "cloudpickle",
    "lmdb",
    "msgspec",
    "obstore",
    "pandas",
    "py4j",
    "pyarrow",
    "pyspark",
    "xxhash",
)
"""Libraries whose errors say nothing about the user's code, unless that code called them."""

RAISED: Final = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
"""The exceptions of user code: `sys.exit()` in a function must not end a worker without a message. An interrupt from a
terminal reaches no worker, and in the process of a test it reaches the main thread, which runs no function.
"""

_COMPREHENSIONS: Final = ("<listcomp>", "<genexpr>", "<dictcomp>")
_SUMMARY: Final = 200


def user_failure(
    error: BaseException, who: str, values: Sequence[Any] | None = None, iterator: Iterator[Any] | None = None
) -> FiresteelError:
    """Return `error` as an error that names the operator and the last record that `iterator` (over `values`) returned.

    A Firesteel error that already names a place in the program is returned as it is; one about a state or a format
    gets the operator's name.
    """
    record = _last_taken(values, iterator)
    if isinstance(error, FiresteelError):
        if error.who is None:
            error.who = who
        # "map 'parse' (job.py:12)" is a place, "state 'count'" is none.
        elif not error.who.endswith(")") and not error.who.startswith(f"{who}: "):
            error.who = f"{who}: {error.who}"
        about_record = isinstance(error, RecordError | SerializationError)
        if about_record and record is not None and error.details is None:
            error.details = f"record: {record}"
        return error
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
        error = error.__cause__  # Python turns it into a RuntimeError in a generator
    frames = _user_frames(traceback.extract_tb(error.__traceback__), called=iterator is not None)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _missing_module(error, who, frames)
    if frames is None:
        return EngineError(
            f"met an unexpected {type(error).__name__}: {error}",
            who=who,
            details="".join(traceback.format_exception(error)),
        )
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    details = "".join(traceback.format_list(frames)) + "".join(traceback.format_exception_only(error))
    return UserFunctionError(
        f"failed: the function raised {type(error).__name__}: {error}{place}",
        who=who,
        got=None if record is None else f"the record {record}",
        hint="nothing of this epoch was committed; fix the function (or the input) and start the job again",
        details=details,
    )


def task_failure(error: BaseException, who: str) -> FiresteelError:
    """Return what ended a task as an error: one that has a subject is returned as it is, any other gets `who`."""
    return error if isinstance(error, FiresteelError) and error.who else user_failure(error, who)


def _missing_module(
    error: ModuleNotFoundError, who: str, frames: Sequence[FrameSummary] | None
) -> SerializationError:
    place = f" (imported at {frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return SerializationError(
        f"requires the module {error.name!r}{place}, which its worker's Python does not have",
        who=who,
        got=f"{sys.executable} on {platform.node()}",
        hint="ship it with env.add_python_file or `firesteel run --py-files`, install it with "
        "env.set_python_requirements or --requirements, or install it on every worker",
        details="".join(traceback.format_exception(error)),
    )


def _user_frames(frames: Sequence[FrameSummary], *, called: bool) -> list[FrameSummary] | None:
    """Return the frames of the user's code, the innermost last; None for an error of the engine.

    `called`: the outermost frame only calls the user's function, which may have no Python frame in user code:
    `map(int)`, `map(json.loads)`.
    """
    outside = [frame for frame in frames if not is_engine(frame.filename)]
    users = [frame for frame in outside if not _is_called_by_engine(frame.filename)]
    if users:
        return users
    engine = [frame for frame in frames if is_engine(frame.filename)]
    direct = called and all(frame.name in _COMPREHENSIONS for frame in engine[1:])
    return outside if direct else None


def _is_called_by_engine(file: str) -> bool:
    return is_standard(file) or is_installed(file, _CALLED_BY_ENGINE)


def _last_taken(values: Sequence[Any] | None, iterator: Iterator[Any] | None) -> str | None:
    if values is None or iterator is None:
        return None
    left = iterator.__length_hint__() if hasattr(iterator, "__length_hint__") else 0
    position = len(values) - left - 1
    if not 0 <= position < len(values):
        return None
    return summary(values[position])


def summary(value: Any) -> str:
    """Return a record as text of at most one line.

    >>> summary(("a", 1))
    "('a', 1)"
    """
    try:
        text = repr(value)
    except Exception as error:  # a user's __repr__ may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= _SUMMARY else f"{text[:_SUMMARY]}... ({len(text)} characters)"
