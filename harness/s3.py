"""An S3 server on this machine: moto, in threads of the test's process."""

from __future__ import annotations

import logging
import threading
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

SCHEME = "s3"
ACCESS_KEY = "AKIDFORTESTSONLY0001"
SECRET_KEY = "a-secret-that-nobody-must-ever-find-written-anywhere"


def environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which a client finds the server at `endpoint`."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
    }


def point_to(endpoint: str, patch: pytest.MonkeyPatch) -> None:
    """Make this process and its children use the server at `endpoint`."""
    for name, value in environment(endpoint).items():
        patch.setenv(name, value)


def new_bucket(endpoint: str) -> str:
    """Create a bucket and return its name."""
    return create_bucket(endpoint, f"bucket-{uuid.uuid4().hex[:12]}")


def create_bucket(endpoint: str, name: str) -> str:
    """Create a bucket of this name and return the name."""
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        return name


@contextmanager
def serving(translated: Callable[[Any], Any] = lambda application: application) -> Iterator[str]:
    """Serve S3 on a free port, or what `translated` makes of that application; yield its URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = _OneAtATime(DomainDispatcherApplication(create_backend_app))
    server = make_server(
        "127.0.0.1", 0, translated(application), threaded=True, request_handler=MotoRequestHandler
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="s3")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _OneAtATime:
    """moto itself looks whether an object exists and then writes it, and reads what another thread is replacing."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._lock = threading.Lock()

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        with self._lock:
            return [*self._application(environ, start_response)]
