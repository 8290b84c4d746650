"""The processes of servers that tests start; they end with the process that started them, however that ends."""

from __future__ import annotations

import atexit
import os
import pwd
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol, TypeVar

_STARTS_WITHIN_S = 60
_STOPS_WITHIN_S = 60


Running = TypeVar("Running")


def serve_until_interrupted(
    server: AbstractContextManager[Running], address: Callable[[Running], str]
) -> None:
    """Start a server, print its address, and stop it with Ctrl-C."""
    with suppress(KeyboardInterrupt), server as running:
        print(address(running), flush=True)
        signal.pause()


class Server(Protocol):
    """A server of a test's own; `environment` are the variables with its secrets."""

    @property
    def environment(self) -> dict[str, str]: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


AnyServer = TypeVar("AnyServer", bound=Server)


@contextmanager
def running(server: AnyServer) -> Iterator[AnyServer]:
    """Start a server, with its secrets in this process's environment; remove it at the end.

    If another server runs in this process, its secrets are there again afterwards.
    """
    before = {name: os.environ.get(name) for name in server.environment}
    atexit.register(server.close)
    try:
        server.start()
        os.environ.update(server.environment)
        yield server
    finally:
        server.close()
        atexit.unregister(server.close)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class ServerProcess:
    """A server that writes into `directory/log` and runs as the user `account`, or as you if that is None."""

    def __init__(self, command: Sequence[str | Path], directory: Path, account: str | None) -> None:
        self._command = command
        self._directory = directory
        self._account = account
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    def start(self, is_ready: Callable[[], bool], within_s: float = _STARTS_WITHIN_S) -> None:
        """Start the server and wait until it is ready."""
        with (self._directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                user=self._account,
            )
        # Its input ends when this process ends in any way; then the server must end, too.
        guard = ["sh", "-c", 'read -r _; kill -QUIT "$0"', str(self._process.pid)]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        until = time.monotonic() + within_s
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server does not start:\n{(self._directory / 'log').read_text()}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals) -> None:
        """Stop the server by a signal, if it runs."""
        process, self._process = self._process, None
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.kill()
            guard.communicate()
        if process is None or process.poll() is not None:
            return
        process.send_signal(how)
        try:
            process.wait(_STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def account_of(name: str) -> str | None:
    """Return the user as whom a server runs that refuses to run as root: this one, or "nobody" if there is none.

    It is None unless this process runs as root.
    """
    if os.geteuid() != 0:
        return None
    return name if name in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


_given: Final[set[int]] = set()
"""Ports that this process was given: the system may offer one again before anybody listens at it."""


def free_port() -> int:
    """Return a port of this machine that nobody listens at, another one each time."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port
