"""The storage of checkpoints, as programs for older versions of Flink set it."""

from __future__ import annotations

import posixpath
import re
from abc import ABC
from typing import Any, Final

from firesteel.common.errors import ConfigurationError
from firesteel.datastream.unsupported import gap

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]

_SCHEME: Final = re.compile(r"([A-Za-z][\w+.-]*):(?://([^/]*))?(/.*)?")


def flink_path(path: str) -> str:
    """Return a path as Flink's `Path` prints it: without `..`, double slashes and a slash at the end.

    >>> flink_path("s3://bucket//jobs/a/../b/"), flink_path("file:///tmp/"), flink_path("/tmp/")
    ('s3://bucket/jobs/b', 'file:/tmp', '/tmp')
    """
    parts = _SCHEME.fullmatch(path)
    if parts is None:
        return posixpath.normpath(path)
    scheme, authority, below = parts.groups()
    root = f"{scheme}://{authority}" if authority else f"{scheme}:"
    return root + posixpath.normpath(re.sub("/+", "/", below)) if below else root


class CheckpointStorage(ABC):  # noqa: B024 - as in PyFlink, a marker
    """The location of checkpoints. The state directory decides: see the option `execution.checkpointing.dir`."""


class JobManagerCheckpointStorage(CheckpointStorage):
    """Checkpoints in the job manager's memory (Flink)."""

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        self._path = None if checkpoint_path is None else flink_path(checkpoint_path)
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size

    def get_checkpoint_path(self) -> str | None:
        """Return the given path, as Flink's `Path` prints it."""
        return self._path

    def get_max_state_size(self) -> int:
        """Return the given size, in bytes."""
        return self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """Return None: no path for savepoints was given."""
        return None

    def __str__(self) -> str:
        return (
            f"JobManagerCheckpointStorage (checkpoints: {self._path}, maxStateSize: {self._max_state_size})"
        )


class FileSystemCheckpointStorage(CheckpointStorage):
    """Checkpoints in a directory; sizes are bytes. Raises ConfigurationError without a path.

    >>> FileSystemCheckpointStorage("s3://bucket/checkpoints").get_checkpoint_path()
    's3://bucket/checkpoints'
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        if checkpoint_path is None:
            raise ConfigurationError(
                "requires a checkpoint_path", who="FileSystemCheckpointStorage", got="None"
            )
        self._path = flink_path(checkpoint_path)
        self._threshold = 20 * 1024 if file_state_size_threshold in (None, -1) else file_state_size_threshold
        self._write_buffer_size = 4096 if write_buffer_size == -1 else write_buffer_size

    def get_checkpoint_path(self) -> str:
        """Return the directory, as Flink's `Path` prints it."""
        return self._path

    def get_savepoint_path(self) -> str | None:
        """Return None: no path for savepoints was given."""
        return None

    def get_min_file_size_threshold(self) -> int:
        """Return the size below which Flink would keep state in a checkpoint's metadata."""
        assert self._threshold is not None
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """Return the size of Flink's write buffer."""
        return max(self._write_buffer_size, self.get_min_file_size_threshold())

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage (checkpoints: {self._path})"


class CustomCheckpointStorage(CheckpointStorage):
    """Not supported."""

    @gap("pyflink.datastream.CustomCheckpointStorage")
    def __init__(self, j_custom_checkpoint_storage: Any) -> None: ...
