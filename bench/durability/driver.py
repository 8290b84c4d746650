"""A driver process that can be started, observed through its notes, asked, killed and restarted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.durability.job import Load
from bench.environments import ROOT
from bench.part import RunError
from firesteel.checkpoint.objects import Storage
from firesteel.control import asking
from firesteel.control.commands import Kind

PATIENCE_S: Final = 900
_POLL_S: Final = 0.02

Note = dict[str, Any]


class Driver:
    """The driver of one job, which starts from a savepoint or empty; see `bench.durability.program`.

    Everything it writes is in a directory that is removed at the end.
    """

    def __init__(
        self,
        load: Load,
        savepoint: Path | None,
        *,
        gate: int | None = None,
        epoch_records: int | None = None,
    ) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.state = self._directory / "state"
        options = {"keys": load.keys, "changed": load.changed, "from": savepoint, "gate": gate}
        options["epoch-records"] = epoch_records
        self._options = [
            text
            for name, value in {"state": self.state, **options}.items()
            if value is not None
            for text in (f"--{name}", str(value))
        ]

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def start(self) -> None:
        """Start the process; the job resumes where it stopped."""
        self._starts += 1
        self._work.mkdir(exist_ok=True)
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        command = [sys.executable, "-m", "bench.durability.program", "--notes", str(self._notes)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *self._options],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": path, "SPARK_LOCAL_DIRS": str(self._work)},
            )

    def kill(self) -> float:
        """Kill the process group: Python and its JVM, whose workers end with it. Return the time."""
        assert self._process is not None
        at = time.time()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        return at

    def forget_working_copies(self) -> None:
        """Remove all traces of the job from this machine."""
        self._work.rename(self._directory / f"forgotten-{self._starts}")

    def notes(self) -> list[Note]:
        """Return the notes of the process since its last start."""
        if not self._notes.exists():
            return []
        whole = self._notes.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def epochs(self) -> list[Note]:
        """Return the epochs that it has committed since its last start."""
        return [note for note in self.notes() if note["what"] == "epoch"]

    def wait(self, until: Callable[[list[Note]], bool]) -> list[Note]:
        """Wait until its epochs meet a condition, and return them. Raises RunError if the process ends before."""
        deadline = time.monotonic() + PATIENCE_S
        while not until(epochs := self.epochs()):
            self._check(deadline)
            time.sleep(_POLL_S)
        return epochs

    def ask(self, kind: Kind, argument: str | None = None) -> str:
        """Send a command and return the answer."""
        return asking.ask(Storage.of(self.state), kind, argument, PATIENCE_S)

    def stop(self, savepoint: Path | None = None) -> str:
        """Stop the job, with a savepoint if a directory is given, and wait for the end of the process."""
        assert self._process is not None
        answer = self.ask("stop", None if savepoint is None else str(savepoint))
        if self._process.wait(PATIENCE_S):
            raise RunError(f"the job ended with {self._process.returncode}\n{self._said()}")
        return answer

    def _check(self, deadline: float) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RunError(f"the job ended with {self._process.returncode}\n{self._said()}")
        if time.monotonic() > deadline:
            raise RunError(f"the job did not get on in {PATIENCE_S} s\n{self._said()}")

    def _said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:]

    @property
    def _work(self) -> Path:
        return self._directory / "work"

    @property
    def _notes(self) -> Path:
        return self._directory / f"notes-{self._starts}"

    @property
    def _log(self) -> Path:
        return self._directory / f"log-{self._starts}"
