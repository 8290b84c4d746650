"""Looks at this process, and at the JVM of an executor, for those who watch a job from outside."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType

from firesteel.control.executor import Executor
from firesteel.runtime.processes import ProcessView, ThreadView
from firesteel.runtime.usage import resident_memory


def look_at_process(threads: bool, executor: Executor | None = None) -> ProcessView:
    """Return what there is to see of this process, and of its executor's JVM.

    Raises EngineError if the JVM does not answer.
    """
    jvm = None if executor is None else executor.jvm(threads=threads)
    return ProcessView(resident_memory(), jvm, threads_here() if threads else ())


def threads_here() -> tuple[ThreadView, ...]:
    """Return the threads of this process that run Python code.

    >>> threads_here()[0].text.splitlines()[0].startswith('"MainThread" Id=')
    True
    """
    known = {thread.ident: thread for thread in threading.enumerate()}
    frames = sorted(
        sys._current_frames().items(), key=lambda entry: entry[0] != threading.main_thread().ident
    )
    return tuple(_view(ident, known.get(ident), frame) for ident, frame in frames)


def _view(ident: int, thread: threading.Thread | None, frame: FrameType) -> ThreadView:
    name = f"thread {ident}" if thread is None else thread.name
    about = "" if thread is None or not thread.daemon else "daemon "
    number = ident if thread is None else thread.native_id
    return ThreadView(name, thread_text(name, f"{about}Id={number}", _calls(frame)))


def thread_text(name: str, about: str, calls: Iterator[str] | tuple[str, ...]) -> str:
    """Return a thread as Flink's thread dumps have it; the innermost of its calls is first.

    >>> print(thread_text("main", "Id=1", ("run", "start")), end="")
    "main" Id=1
    \tat run
    \tat start
    <BLANKLINE>
    """
    return "".join([f'"{name}" {about}\n', *(f"\tat {call}\n" for call in calls), "\n"])


def _calls(frame: FrameType) -> Iterator[str]:
    current: FrameType | None = frame
    while current is not None:
        code = current.f_code
        module = current.f_globals.get("__name__", "?")
        yield f"{module}.{code.co_qualname}({code.co_filename.rpartition('/')[2]}:{current.f_lineno})"
        current = current.f_back
