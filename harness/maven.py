"""Java archives for servers of tests: fetched from Maven Central once, into the project's `.cache`."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).resolve().parents[1] / ".cache"
REPOSITORY: Final = "https://repo.maven.apache.org/maven2/"
_AT_ONCE: Final = 8
_TIMEOUT_S: Final = 120


def jars(listing: Path, folder: Path) -> str:
    """Return the Java class path of all archives of a list, which are fetched into `folder` if they are not there.

    A line of the list is what `sha256sum` prints: a digest, and the archive's path in Maven's repository. An archive
    with another digest is an error, and is not kept.
    """
    wanted = [line.split() for line in listing.read_text().splitlines()]
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda entry: _fetch(entry[1], entry[0], folder), wanted))
    return f"{folder}/*"


def _fetch(path: str, digest: str, folder: Path) -> None:
    target = folder / path.rpartition("/")[2]
    if target.exists():
        return
    with urllib.request.urlopen(REPOSITORY + path, timeout=_TIMEOUT_S) as response:
        content = response.read()
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise RuntimeError(
            f"{REPOSITORY}{path} is another file than the list's: sha256 {found}, not {digest}"
        )
    # Several test processes may fetch at once: each writes a file of its own, and the last one stays.
    draft = folder / f"{target.name}.{os.getpid()}"
    draft.write_bytes(content)
    draft.replace(target)
