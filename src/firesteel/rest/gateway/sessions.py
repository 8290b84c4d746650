"""The sessions of clients: each has its catalogs, options and operations (Flink: SessionManagerImpl).

A session that no request comes for is closed. Bounds keep one client from taking all: of sessions (`limits`), and of
operations in one, of which the oldest that have ended are forgotten first.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from firesteel.common.configuration import Configuration
from firesteel.common.errors import StateError
from firesteel.common.importing import OwnModules
from firesteel.rest.gateway.limits import Limits
from firesteel.rest.gateway.operations import Execute, Operation
from firesteel.rest.gateway.python_files import FILES, own_modules
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.session import Session, Submit
from firesteel.table.table_environment import new_session
from firesteel.table.upkeep import Maintainer

MOST_OPERATIONS: Final = 100
_STORE: Final = "table.catalog-store."


@dataclass
class GatewaySession:
    """A session of a client. `gathering` are the texts of a statement set that was begun and has not ended."""

    handle: str
    name: str | None
    session: Session
    used_at: float
    gathering: list[str] | None = None
    operations: dict[str, Operation] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)
    _modules: tuple[str, OwnModules] = ("", OwnModules(()))

    def modules(self) -> OwnModules:
        """Return the modules of the session's files, which are those that its options name now.

        Raises ConfigurationError for a file that does not exist.
        """
        named = self.session.config.get(FILES, "")
        if named != self._modules[0]:
            self._modules = (named, own_modules(self.session.config.to_map()))
        return self._modules[1]

    def submit(self, execute: Execute) -> Operation:
        """Begin an operation. Raises StateError if too many have not ended."""
        for handle in [name for name, operation in self.operations.items() if operation.ended]:
            if len(self.operations) < MOST_OPERATIONS:
                break
            self.operations.pop(handle).close()
        if len(self.operations) >= MOST_OPERATIONS:
            raise StateError(
                f"has {MOST_OPERATIONS} operations that have not ended", who=f"session {self.handle}"
            )
        operation = Operation(execute, self.turn)
        self.operations[operation.handle] = operation
        operation.start()
        return operation

    def operation(self, handle: str) -> Operation:
        """Return an operation. Raises StateError if there is none."""
        found = self.operations.get(handle)
        if found is None:
            raise StateError("does not exist", who=f"the operation {handle}")
        return found

    def close(self) -> None:
        """End all operations."""
        for operation in list(self.operations.values()):
            operation.close()


class Sessions:
    """All sessions.

    `submit` makes jobs of INSERTs, `maintainer` those of materialised tables; `clock` gives seconds.
    """

    def __init__(
        self,
        submit: Submit | None,
        maintainer: Maintainer | None,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._submit = submit
        self._maintainer = maintainer
        self._limits = limits
        self._clock = clock
        self._changing = threading.Lock()
        self._sessions: dict[str, GatewaySession] = {}

    def open(self, name: str | None, properties: Mapping[str, str]) -> GatewaySession:
        """Open a session with options.

        Raises StateError if there are too many, ConfigurationError for options that are wrong.
        """
        begun = EnvironmentSettings.new_instance().in_streaming_mode()
        session = new_session(begun.with_configuration(Configuration.from_dict(dict(properties))).build())
        for key, value in properties.items():
            if not key.startswith(_STORE):  # it counts when a session begins, and cannot be set later
                session.config.set(key, value)
        session.defaults = dict(session.config.to_map())
        session.submit = self._submit
        session.maintainer = self._maintainer
        opened = GatewaySession(str(uuid.uuid4()), name, session, self._clock())
        self.close_idle()
        with self._changing:
            if not self._limits.allows(len(self._sessions)):
                raise StateError(f"has {len(self._sessions)} sessions already", who="the SQL gateway")
            self._sessions[opened.handle] = opened
        return opened

    def get(self, handle: str) -> GatewaySession:
        """Return a session, which is not idle from now on. Raises StateError if there is none."""
        with self._changing:
            found = self._sessions.get(handle)
            if found is None:
                raise StateError(
                    "does not exist", who=f"session {handle}", hint="it may have been idle for too long"
                )
            found.used_at = self._clock()
            return found

    def close(self, handle: str) -> None:
        """Close a session. Raises StateError if there is none."""
        self.get(handle)
        with self._changing:
            session = self._sessions.pop(handle, None)
        if session is not None:
            session.close()

    def close_idle(self) -> None:
        """Close the sessions that no request came for."""
        if not self._limits.closes_idle:
            return
        since = self._clock() - self._limits.idle_ms / 1000
        with self._changing:
            late = [name for name, one in self._sessions.items() if one.used_at < since]
            ended = [self._sessions.pop(name) for name in late]
        for session in ended:
            session.close()

    def close_all(self) -> None:
        """Close all sessions."""
        with self._changing:
            ended = list(self._sessions.values())
            self._sessions.clear()
        for session in ended:
            session.close()
