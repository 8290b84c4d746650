"""Azure's blob storage on this machine: Azurite, Microsoft's emulator, which npm fetches once into `.cache`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Final

from harness.maven import CACHE

VERSION: Final = "3.37.0"
ACCOUNT: Final = "devstoreaccount1"
KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of the emulator's only account, which is the same everywhere."""

_API: Final = "2021-08-06"
_STARTS_WITHIN_S: Final = 60


def environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which a client finds the server at `endpoint`."""
    return {
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": endpoint,
        "AZURE_ALLOW_HTTP": "true",
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
    }


@contextmanager
def serving() -> Iterator[str]:
    """Serve blobs on a free port; yield the server's URL."""
    program = _installed() / "node_modules" / ".bin" / "azurite-blob"
    directory = Path(tempfile.mkdtemp(prefix="firesteel-azurite-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    where = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(directory)]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen([program, *where, "--skipApiVersionCheck"], stdout=log, stderr=log)
    try:
        _wait(process, port, directory / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()  # asked to end, it waits for its clients' connections
        process.wait()
        shutil.rmtree(directory, ignore_errors=True)


def new_container(endpoint: str) -> str:
    """Create a container and return its name."""
    name = f"container-{uuid.uuid4().hex[:12]}"
    date = formatdate(usegmt=True)
    empty = "\n" * 12
    signed = (
        f"PUT{empty}x-ms-date:{date}\nx-ms-version:{_API}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    )
    digest = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": date,
        "x-ms-version": _API,
        "Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}",
        "Content-Length": "0",
    }
    url = f"{endpoint}/{ACCOUNT}/{name}?restype=container"
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers), timeout=30):
        return name


def _installed() -> Path:
    folder = CACHE / f"azurite-{VERSION}"
    if not (folder / "node_modules" / ".bin" / "azurite-blob").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"azurite@{VERSION}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)
    return folder


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"Azurite does not start:\n{log.read_text()}") from None
            time.sleep(0.05)
        else:
            return
