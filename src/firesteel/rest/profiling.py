"""Profiles of jobs, as Flink's web UI asks for them: samples for a time, and a flame graph of all operators."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from firesteel.common.errors import StateError
from firesteel.control.asking import look_for_answer
from firesteel.control.commands import Request, forget_reply, now_ms, send
from firesteel.control.views.flame_svg import flame_svg
from firesteel.control.views.flamegraphs import CpuKind, flame_tree, read_samples
from firesteel.rest.standing import Standing

MOST_SECONDS: Final = 300
"""The longest profile (Flink: rest.profiling.duration-max)."""

MODES: Final[dict[str, CpuKind]] = {"CPU": "on_cpu", "ITIMER": "on_cpu", "WALL": "full"}
"""Flink's modes that samples of Python functions can answer: it also knows ALLOC and LOCK."""

_KEPT: Final = 10
"""How many profiles of a driver are kept (Flink: rest.profiling.history-size)."""


@dataclass
class Profile:
    """One profile: the request to the driver and, once it has answered, the picture or the error."""

    mode: str
    seconds: int
    request: Request
    finished_at: int = 0
    picture: str | None = None
    error: str | None = None

    @property
    def file(self) -> str:
        """The name of the picture."""
        return f"{self.mode}_{self.request.sent_at}.svg"

    def described(self) -> dict[str, Any]:
        """Return it as Flink's list of profiles has it."""
        ended = self.picture is not None or self.error is not None
        return {
            "status": "FAILED" if self.error else "FINISHED" if ended else "RUNNING",
            "mode": self.mode,
            "triggerTime": self.request.sent_at,
            "finishedTime": self.finished_at if ended else None,
            "duration": self.seconds,
            "message": self.error or ("Profiling Successful" if ended else None),
            "outputFile": self.file if self.picture is not None else None,
        }

    def settle(self, job: Standing) -> None:
        """Take the driver's answer, if there is one by now."""
        if self.picture is not None or self.error is not None:
            return
        storage = job.storage()
        try:
            if look_for_answer(storage, self.request.id) is None:
                return
            forget_reply(storage, self.request.id)
            samples = read_samples(storage)
            operators = {operator.id for vertex in job.vertices for operator in vertex.operators}
            if samples is not None:
                tree = flame_tree(samples, operators, MODES[self.mode])
                self.picture = flame_svg(tree, f"{job.name}, {self.mode}, {self.seconds} s")
        except StateError as error:
            self.error = str(error)
        self.finished_at = now_ms()


class Profiles:
    """The last profiles of each driver, the newest first."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._of: dict[str, deque[Profile]] = {}

    def begin(self, manager: str, job: Standing, mode: str, seconds: int) -> Profile:
        """Have a job's driver take samples for so long. Raises StateError if it is not running."""
        made = Profile(mode, seconds, send(job.storage(), "flamegraph", str(seconds)))
        with self._turn:
            self._of.setdefault(manager, deque(maxlen=_KEPT)).appendleft(made)
        return made

    def of(self, manager: str, job: Standing) -> list[Profile]:
        """Return the profiles of a driver, with their pictures as far as they are finished."""
        with self._turn:
            found = list(self._of.get(manager, ()))
            for profile in found:
                profile.settle(job)
        return found
