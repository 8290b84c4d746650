"""What users see if their program fails: their own lines and one message, never the inside of the engine."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Final

from firesteel.common.errors import FiresteelError, OutputClosedError
from firesteel.common.frames import is_engine, is_installed, is_standard

DEBUG_VARIABLE: Final = "FIRESTEEL_DEBUG"
"""The environment variable that requests whole tracebacks (any value but the empty one and `0`)."""

_ENGINE_PACKAGES: Final = ("pyspark", "py4j", "typer", "click")


def debug_requested() -> bool:
    """Return whether whole tracebacks are requested: by `FIRESTEEL_DEBUG=1`, or by the command line's `--debug`."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def describe_failure(error: BaseException) -> str:
    """Return a description of a failure for the user: the message of a FiresteelError, else the traceback of user code.

    If whole tracebacks are requested, both have every frame and all details.

    >>> print(describe_failure(FiresteelError("requires a callable", who="map", got="an int: 5")))
    error: map requires a callable; got an int: 5
    """
    if debug_requested():
        return _whole_story(error)
    if isinstance(error, FiresteelError):
        return f"error: {error}"
    story = traceback.TracebackException.from_exception(error, compact=True)
    if isinstance(error, SyntaxError) and not _user_frames(story):  # in the program itself; it names its line
        return "".join(story.format_exception_only()).rstrip()
    inside = _raised_inside(story)
    _keep_user_frames(story)
    text = "".join(story.format()).rstrip()
    return f"{text}\n  raised inside Firesteel: {DEBUG_VARIABLE}=1 shows where" if inside else text


def install_excepthook() -> None:
    """Make Python report uncaught errors with `describe_failure`; another installed hook stays.

    If nobody reads the output any more, the program ends silently.
    """
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _excepthook


def _excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, OutputClosedError):
        return
    if not issubclass(kind, KeyboardInterrupt):
        sys.stderr.write(f"{describe_failure(error)}\n")
    elif debug_requested():
        sys.__excepthook__(kind, error, trace)
    else:
        sys.stderr.write("interrupted: what was committed stays\n")


def _whole_story(error: BaseException) -> str:
    story = "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, FiresteelError) and error.details:
        story += f"\n\ndetails:\n{error.details.rstrip()}"
    return story


def _keep_user_frames(story: traceback.TracebackException) -> None:
    """Drop the frames of the engine, in causes too; if there are no others, they stay as the only clue."""
    users = _user_frames(story)
    if users:
        story.stack = traceback.StackSummary.from_list(users)
    for cause in (story.__cause__, story.__context__):
        if cause is not None:
            _keep_user_frames(cause)


def _user_frames(story: traceback.TracebackException) -> list[traceback.FrameSummary]:
    return [frame for frame in story.stack if not _is_engine(frame.filename)]


def _raised_inside(story: traceback.TracebackException) -> bool:
    """Return whether the innermost frame outside the standard library is the engine's, not the program's."""
    frames = [frame.filename for frame in story.stack if not is_standard(frame.filename)]
    return bool(frames) and _is_engine(frames[-1])


def _is_engine(filename: str) -> bool:
    return (
        is_engine(filename)
        or is_installed(filename, _ENGINE_PACKAGES)
        or filename.startswith(("<frozen runpy>", "<frozen importlib"))
    )
