"""Temporary files for data that is too large for memory, on the disk of the working copies."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from firesteel.common.errors import StateError


def local_directory() -> Path:
    """Return this machine's directory for data that may be lost: the first of ``SPARK_LOCAL_DIRS``, or the system's."""
    return Path(os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir())


@contextmanager
def scratch_file(in_memory: int) -> Iterator[IO[bytes]]:
    """Yield an empty binary file, which stays in memory up to a number of bytes and is removed afterwards.

    Raises StateError, which names the directory, if it cannot be written. No other OSError may leave the block.

    >>> with scratch_file(1000) as file:
    ...     file.write(b"data"), file.seek(0), file.read()
    (4, 0, b'data')
    """
    directory = local_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.SpooledTemporaryFile(max_size=in_memory, dir=str(directory)) as file:
            yield file
    except OSError as error:
        raise unwritable(f"a temporary file in {directory}", "cannot be written", error) from error


def unwritable(who: str, requirement: str, error: OSError) -> StateError:
    """Return the error for a file or directory on this machine's disk that could not be written or created."""
    hint = "check that the directory's disk has room and that you may write to it"
    return StateError(requirement, who=who, got=str(error), hint=hint)
