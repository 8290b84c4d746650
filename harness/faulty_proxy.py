"""An HTTP proxy in front of a storage server that simulates faults of servers and networks."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Request(NamedTuple):
    """A request of a client; `path` includes the query."""

    method: str
    path: str


Matching = Callable[[Request], bool]


class _Fault(NamedTuple):
    kind: str
    times: int
    matching: Matching
    answer: _Answer | None = None


class _Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class FaultyProxy:
    """Passes requests on to `target` (a URL) unless a fault is set; faults are used in the given order.

    `requests` are the received ones, `failed` those that met a fault.
    """

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target).netloc
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._hanging = threading.Event()
        self._released = threading.Event()
        self.requests: list[Request] = []
        self.failed: list[Request] = []
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """Return the URL of the proxy for clients."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def refuse(
        self,
        times: int,
        status: int = 503,
        matching: Matching = lambda request: True,
        body: bytes = b"<Error><Code>SlowDown</Code></Error>",
    ) -> None:
        """Answer the next requests with `status`, and do not pass them on."""
        self._add(_Fault("refuse", times, matching, _Answer(status, [], body)))

    def drop(self, times: int, matching: Matching = lambda request: True) -> None:
        """Hang up on the next requests, and do not pass them on."""
        self._add(_Fault("drop", times, matching))

    def cut(self, times: int, matching: Matching = lambda request: True) -> None:
        """Pass the next requests on, and hang up in the middle of the responses."""
        self._add(_Fault("cut", times, matching))

    def hang(self, matching: Matching = lambda request: True) -> None:
        """Accept requests without a response until `resume`; then close the connections."""
        self._released.clear()
        self._hanging.clear()
        self._add(_Fault("hang", 1 << 30, matching))

    def resume(self) -> None:
        """Clear all faults."""
        with self._lock:
            self._faults.clear()
        self._released.set()

    def wait_until_hanging(self, seconds: float) -> bool:
        """Wait until a request hangs; return whether one did in time."""
        return self._hanging.wait(seconds)

    @contextmanager
    def serving(self) -> Iterator[FaultyProxy]:
        """Serve on a free port, in threads."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="faulty-proxy")
        thread.start()
        try:
            yield self
        finally:
            self.resume()
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def _add(self, fault: _Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def _fault_for(self, request: Request) -> _Fault | None:
        with self._lock:
            self.requests.append(request)
            for at, fault in enumerate(self._faults):
                if fault.matching(request):
                    left = fault._replace(times=fault.times - 1)
                    self._faults[at : at + 1] = [left] if left.times else []
                    self.failed.append(request)
                    return fault
        return None

    def _handle(self, client: _Handler) -> None:
        request = Request(client.command, client.path)
        body = client.rfile.read(int(client.headers.get("content-length") or 0))
        fault = self._fault_for(request)
        kind = fault.kind if fault else ""
        if fault and fault.answer:
            client.answer(fault.answer)
        elif kind == "drop":
            client.hang_up()
        elif kind == "hang":
            self._hanging.set()
            self._released.wait()
            client.hang_up()
        else:
            client.answer(self._forward(request, client.headers, body), cut=kind == "cut")

    def _forward(self, request: Request, headers: Any, body: bytes) -> _Answer:
        connection = http.client.HTTPConnection(self._target)
        try:
            passed = {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}
            connection.request(request.method, request.path, body, passed)
            answer = connection.getresponse()
            # The length of what HEAD does not send is part of its answer.
            own = _HOP_BY_HOP - {"content-length"} if request.method == "HEAD" else _HOP_BY_HOP
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in own]
            return _Answer(answer.status, kept, answer.read())
        finally:
            connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, proxy: FaultyProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: a client that hangs up is normal."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return lambda: self.server.proxy._handle(self)
        raise AttributeError(name)

    def answer(self, answer: _Answer, *, cut: bool = False) -> None:
        """Write a response, or its first half."""
        has_length = any(name.lower() == "content-length" for name, _ in answer.headers)
        lines = [f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers]
        lines += [] if has_length else [f"content-length: {len(answer.body)}"]
        whole = "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body
        self.wfile.write(whole[: len(whole) // 2] if cut else whole)
        self.wfile.flush()
        if cut:
            self.hang_up()

    def hang_up(self) -> None:
        """Close the connection."""
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
