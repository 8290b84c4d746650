"""An S3 server on this machine: moto's, in threads of the test's process."""

from __future__ import annotations

import logging
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from moto.server import ThreadedMotoServer

ACCESS_KEY = "AKIDFORTESTSONLY0001"
SECRET_KEY = "a-secret-that-nobody-must-ever-find-written-anywhere"


def environment(endpoint: str) -> dict[str, str]:
    """The environment variables with which a client finds the server at `endpoint`."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
    }


def point_to(endpoint: str, patch: pytest.MonkeyPatch) -> None:
    """Have this process, and those it starts, use the server at `endpoint`."""
    for name, value in environment(endpoint).items():
        patch.setenv(name, value)


def new_bucket(endpoint: str) -> str:
    """Make a bucket and return its name."""
    name = f"bucket-{uuid.uuid4().hex[:12]}"
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        return name


@contextmanager
def serving() -> Iterator[str]:
    """Serve S3 on a port of its own; yields its URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
