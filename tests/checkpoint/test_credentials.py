"""An object store without credentials in the environment: those of the machine's role, or a message soon."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError
from harness import s3

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
SOON_S = 10
"""A loaded machine included; with obstore's own retries it takes 15 seconds and more."""


class Metadata(BaseHTTPRequestHandler):
    """The metadata service of a virtual machine at Amazon that has a role."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_PUT(self) -> None:
        self._answer("the token")

    def do_GET(self) -> None:
        if self.path.endswith("/security-credentials/"):
            self._answer("the-role")
            return
        assert self.path.endswith("/security-credentials/the-role")
        answer = {
            "Code": "Success",
            "AccessKeyId": s3.ACCESS_KEY,
            "SecretAccessKey": s3.SECRET_KEY,
            "Token": "a token",
            "Expiration": "2099-01-01T00:00:00Z",
        }
        self._answer(json.dumps(answer))

    def _answer(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def metadata_service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def refusing() -> Iterator[str]:
    """An address where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes no connection and says nothing: its queue is full."""
    with ExitStack() as opened:
        server = opened.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(3):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3.serving() as url:
        yield url


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket, and an environment without credentials."""
    s3.point_to(server, monkeypatch)
    for name in KEYS:
        monkeypatch.delenv(name)
    return f"s3://{s3.new_bucket(server)}/state"


@pytest.mark.parametrize("service", [refusing, silent])
def test_without_credentials_and_role_the_message_comes_soon(bucket, monkeypatch, service):
    with service() as url:
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", url)
        began = time.monotonic()
        with pytest.raises(StateError) as caught:
            Storage.of(bucket).list("")
        assert time.monotonic() - began < SOON_S
    said = str(caught.value)
    assert f"{bucket}" in said
    assert "got no credentials in the environment, and none from the machine" in said
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in said
    assert "127.0.0.1" not in said


def test_a_machine_with_a_role_needs_no_credentials(bucket, monkeypatch):
    with metadata_service() as url:
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", url)
        storage = Storage.of(bucket)
        storage.put("a", b"data")
        assert storage.get("a") == b"data"


@pytest.mark.parametrize(
    "environment",
    [
        {"AWS_ACCESS_KEY_ID": s3.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": s3.SECRET_KEY},
        {"AWS_SKIP_SIGNATURE": "true"},
        {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/role"},
        {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn"},
    ],
    ids=lambda environment: min(environment),
)
def test_other_credentials_do_not_ask_the_machine(bucket, monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with refusing() as url:
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", url)
        Storage.of(bucket)
