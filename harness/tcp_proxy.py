"""A proxy in front of a server of any protocol, which simulates faults of the network between it and its clients."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

_AT_ONCE: Final = 1 << 16
_RESET: Final = struct.pack("ii", 1, 0)
"""A linger of no time: closing a socket resets its connection."""


class TcpProxy:
    """Passes the connections to a port of this machine on to another port there, unless a fault is set.

    What a silent connection holds back is passed on by `resume`, however late, if both ends are still there.
    """

    def __init__(self, port: int, target: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self._target = target
        self._connections: list[_Connection] = []
        self._lock = threading.Lock()
        self._closing = False
        self.asks, self.answers = threading.Event(), threading.Event()
        self.struck = threading.Event()
        """Set when the fault that was to come after some bytes has come."""
        self._left: int | None = None
        self._fault: Callable[[], None] = lambda: None
        self._socket = socket.create_server(("127.0.0.1", port))
        self.resume()

    def reset(self) -> None:
        """Break all connections; new ones may come."""
        with self._lock:
            broken, self._connections = self._connections, []
        for connection in broken:
            connection.reset()

    def silence(self) -> None:
        """Let no byte pass in either direction, as if all packets were lost; connections are accepted."""
        self.asks.clear()
        self.answers.clear()

    def silence_answers(self) -> None:
        """Let requests pass, and no answers."""
        self.answers.clear()

    def after(self, answers: int, fault: Callable[[], None]) -> None:
        """Let so many more bytes of answers pass; then a fault comes, in the middle of one."""
        with self._lock:
            self.struck.clear()
            self._left, self._fault = answers, fault

    def resume(self) -> None:
        """Let everything pass."""
        with self._lock:
            self._left = None
        self.asks.set()
        self.answers.set()

    @contextmanager
    def serving(self) -> Iterator[TcpProxy]:
        """Serve, in threads."""
        thread = threading.Thread(target=self._accept, name="tcp-proxy")
        thread.start()
        try:
            yield self
        finally:
            self._closing = True
            self._socket.shutdown(socket.SHUT_RDWR)
            thread.join()
            self._socket.close()
            self.reset()
            self.resume()

    def before_fault(self, data: bytes) -> int:
        """Return how many bytes of an answer still pass before the fault that is to come."""
        with self._lock:
            if self._left is None:
                return len(data)
            passing = min(len(data), self._left)
            self._left -= passing
            return passing

    def strike(self) -> None:
        """Let the fault come that was to come, once."""
        with self._lock:
            if self._left is None:
                return
            self._left, fault = None, self._fault
        fault()
        self.struck.set()

    def _accept(self) -> None:
        while not self._closing:
            with suppress(OSError):  # it is closed, or the client has gone, or the server is not there
                client, _ = self._socket.accept()
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            raise
        connection = _Connection(self, client, server)
        with self._lock:
            self._connections.append(connection)
        connection.start()


class _Connection:
    """A client's connection, and the one to the server."""

    def __init__(self, proxy: TcpProxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server

    def start(self) -> None:
        """Pass bytes on, in a thread for each direction."""
        for pump in (self._ask, self._answer):
            threading.Thread(target=pump, name="tcp-proxy-connection", daemon=True).start()

    def reset(self) -> None:
        """Break it at both ends."""
        for end in (self._client, self._server):
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                # A thread that waits for bytes keeps the descriptor in use; this ends its waiting.
                end.shutdown(socket.SHUT_RD)
                end.close()

    def _ask(self) -> None:
        with suppress(OSError):
            while data := self._client.recv(_AT_ONCE):
                self._proxy.asks.wait()
                self._server.sendall(data)
        self._close()

    def _answer(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(_AT_ONCE):
                self._proxy.answers.wait()
                passing = self._proxy.before_fault(data)
                self._client.sendall(data[:passing])
                if passing < len(data):
                    self._proxy.strike()
                    self._proxy.answers.wait()
                    self._client.sendall(data[passing:])
        self._close()

    def _close(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
