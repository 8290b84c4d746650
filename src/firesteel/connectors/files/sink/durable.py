"""File operations that are durable when they return."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from firesteel.common.errors import ConnectorError


def make_directory(path: Path) -> None:
    """Create a directory with its parents, durably."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        try:
            directory.mkdir(exist_ok=True)
        except OSError as error:
            raise ConnectorError(
                "requires a directory it can write to", who="FileSink", got=f"{directory}: {error.strerror}"
            ) from error
        sync_directory(directory.parent)


def sync_file(file: BinaryIO) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(paths: Iterable[str | Path]) -> None:
    """Remove files that may already be gone."""
    for path in paths:
        Path(path).unlink(missing_ok=True)
