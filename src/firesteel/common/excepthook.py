"""What a person sees when their program fails: their lines and one message, never the inside of the engine."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Final

from firesteel.common.errors import FiresteelError, OutputClosedError
from firesteel.common.frames import is_engine, is_installed, is_standard

DEBUG_VARIABLE: Final = "FIRESTEEL_DEBUG"
"""The environment variable that asks for whole tracebacks (any value but the empty one and `0`)."""

_ENGINE_PACKAGES: Final = ("pyspark", "py4j", "typer", "click")


def debug_requested() -> bool:
    """Answer whether whole tracebacks are wanted: `FIRESTEEL_DEBUG=1`, or the command line's `--debug`."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def describe_failure(error: BaseException) -> str:
    """Say what went wrong, for a person: a FiresteelError as its message, anything else as the traceback of their code.

    Where whole tracebacks are requested, both come with everything there is to know.

    >>> print(describe_failure(FiresteelError("requires a callable", who="map", got="an int: 5")))
    error: map requires a callable; got an int: 5
    """
    if debug_requested():
        return _whole_story(error)
    if isinstance(error, FiresteelError):
        return f"error: {error}"
    story = traceback.TracebackException.from_exception(error, compact=True)
    if isinstance(error, SyntaxError) and not _user_frames(story):  # of the program itself; it names its line
        return "".join(story.format_exception_only()).rstrip()
    inside = _raised_inside(story)
    _keep_user_frames(story)
    text = "".join(story.format()).rstrip()
    return f"{text}\n  raised inside Firesteel: {DEBUG_VARIABLE}=1 shows where" if inside else text


def install_excepthook() -> None:
    """Make Python report uncaught errors by `describe_failure`; a hook somebody else installed stays.

    That nobody reads the output any more is no news to anybody: it ends the program without a word.
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
    """Drop the frames of the engine, in causes too; where nothing but those is left they stay, as the only clue."""
    users = _user_frames(story)
    if users:
        story.stack = traceback.StackSummary.from_list(users)
    for cause in (story.__cause__, story.__context__):
        if cause is not None:
            _keep_user_frames(cause)


def _user_frames(story: traceback.TracebackException) -> list[traceback.FrameSummary]:
    return [frame for frame in story.stack if not _is_engine(frame.filename)]


def _raised_inside(story: traceback.TracebackException) -> bool:
    """Whether the innermost frame outside the standard library is the engine's: then the program may be innocent."""
    frames = [frame.filename for frame in story.stack if not is_standard(frame.filename)]
    return bool(frames) and _is_engine(frames[-1])


def _is_engine(filename: str) -> bool:
    return (
        is_engine(filename)
        or is_installed(filename, _ENGINE_PACKAGES)
        or filename.startswith(("<frozen runpy>", "<frozen importlib"))
    )
