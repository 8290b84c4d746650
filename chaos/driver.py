"""The driver of the job: a process that can be started, asked, killed and restarted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from chaos.job import ChaosJob
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.control.commands import Kind, read_status, send, take_reply
from harness.guard import guard

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 180


class ChaosError(Exception):
    """Raised when an expected event does not happen."""


def wait_until(what: str, condition: Callable[[], object], driver: Driver | None = None) -> None:
    """Wait for a condition. Raises ChaosError if the driver ends first or the wait takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if driver is not None and driver.ended is not None:
            raise ChaosError(f"the driver ended ({driver.ended}) before {what}:\n{driver.log()}")
        if time.monotonic() > deadline:
            log = driver.log() if driver is not None else ""
            raise ChaosError(f"waited {PATIENCE_S} s in vain until {what}\n{log}")
        time.sleep(0.02)


class Driver:
    """One job's driver, whose state can move to another directory."""

    def __init__(self, job: ChaosJob, directory: Path, master: str, database: str) -> None:
        self._job = job
        self._directory = directory
        self._master = master
        self._subcommand, self._arguments = job.command(directory, database)
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.parallelism = 2
        self.states = 0
        self.restore_from: str | None = None

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        if self.ended is None:
            self.kill(whole=True)

    @property
    def state(self) -> Path:
        """The state directory of the job."""
        return self._job.state(self._program_state)

    @property
    def _program_state(self) -> Path:
        return self._directory / f"state-{self.states}"

    @property
    def ended(self) -> int | None:
        """The exit code, None while it runs."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start the job; it resumes from its last epoch, or starts from the given savepoint."""
        self._starts += 1
        options = ["--state-dir", str(self._program_state), "--master", self._master]
        options += ["--parallelism", str(self.parallelism)]
        if self.restore_from is not None:
            options += ["--from", self.restore_from]
        for pair in ("spark.executor.memory=512m", "firesteel.compaction.epochs=10", *_RESTARTS):
            options += ["--conf", pair]
        command = [sys.executable, "-m", "firesteel.cli", self._subcommand, *options]
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *self._arguments], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        guard().watch(self._process.pid)

    def kill(self, whole: bool) -> None:
        """Kill the driver: only its Python process, or with `whole` also Spark's JVM."""
        if self._process is None:
            return
        if whole:
            os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        if whole:
            guard().forget(self._process.pid)

    def ask(self, kind: Kind, argument: str | None = None) -> str:
        """Send a command and return the answer."""
        storage = Storage.of(self.state)
        wait_until("it can be asked", self._alive, self)
        command = send(storage, kind, argument)
        replies: list[str] = []

        def answered() -> bool:
            reply = take_reply(storage, command)
            if reply is None:
                return False
            if reply.error is not None:
                raise ChaosError(f"{kind} was refused: {reply.error}")
            replies.append(reply.result or "")
            return True

        wait_until(f"{kind} is answered", answered)
        return replies[0]

    def wait_end(self) -> None:
        """Wait until the process ends by itself."""
        assert self._process is not None
        self._process.wait(PATIENCE_S)
        guard().forget(self._process.pid)

    def epoch(self) -> int:
        """Return the last committed epoch."""
        return max(ManifestReader(Storage.of(self.state)).epochs(), default=0)

    def log(self) -> str:
        """Return the end of the driver's output since its start."""
        return self._log_file.read_text(errors="replace")[-4000:] if self._log_file.exists() else ""

    @property
    def _log_file(self) -> Path:
        return self._directory / f"driver-{self._starts:03d}.log"

    def _alive(self) -> bool:
        """Return whether the status is that of this process: a killed one looks alive for a while."""
        assert self._process is not None
        status = read_status(Storage.of(self.state))
        return status is not None and status.pid == self._process.pid


_RESTARTS = (
    "restart-strategy.type=fixed-delay",
    "restart-strategy.fixed-delay.attempts=100",
    "restart-strategy.fixed-delay.delay=200ms",
)
