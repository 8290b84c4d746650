"""Keeps a cluster's session running: starts its process, and another one when that has ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from firesteel.common.child_processes import start_apart
from firesteel.rest.records import write
from firesteel.rest.session import SessionRecord, SessionSettings

SESSION: Final = (sys.executable, "-m", "firesteel.cli.session")
"""The command that keeps a session, without its last argument: the session's directory."""

_FIRST_DELAY_MS: Final = 500
_LONGEST_DELAY_MS: Final = 60_000
_LASTING_MS: Final = 600_000
"""A session that lived for longer has not ended in vain."""


class SessionKeeping:
    """The session of one cluster. Like drivers, it outlives the server, and the next server finds it."""

    def __init__(
        self,
        record: SessionRecord,
        settings: SessionSettings,
        environment: Mapping[str, str],
        clock: Callable[[], int],
        command: Sequence[str] = SESSION,
    ) -> None:
        self._record = record
        self._environment = environment
        self._now = clock
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0
        self._in_vain = 0
        record.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(record.directory / "settings.json", settings)

    def ready(self) -> bool:
        """Return whether drivers can join; if there is no session, start one, unless that has just been tried."""
        if self._record.open():
            return True
        running = self._process is not None and self._process.poll() is None
        if not running and not self._record.lives() and self._now() >= self._due():
            self._start()
        return False

    def _due(self) -> int:
        if self._process is None:
            return 0
        return self._started_at + min(_LONGEST_DELAY_MS, _FIRST_DELAY_MS << min(self._in_vain, 10))

    def _start(self) -> None:
        now = self._now()
        self._in_vain = 0 if now - self._started_at > _LASTING_MS else self._in_vain + 1
        self._process = start_apart(
            [*self._command, str(self._record.directory)],
            log=self._record.log,
            directory=self._record.directory,
            environment=self._environment,
        )
        self._started_at = now
