"""State backends, accepted so that programs run unchanged: working state is always in LMDB on the workers' disks."""

from __future__ import annotations

import re
from abc import ABC
from enum import Enum
from typing import Any

from firesteel.common.errors import ConfigurationError
from firesteel.datastream.checkpoint_storage import flink_path
from firesteel.datastream.unsupported import gap

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
]


class StateBackend(ABC):  # noqa: B024 - as in PyFlink, a marker
    """The location of working state. With every backend, state is as large as the disk and as durable as the epochs."""


class HashMapStateBackend(StateBackend):
    """State in memory (Flink); treated like any other backend."""

    def __str__(self) -> str:
        return "HashMapStateBackend"


class PredefinedOptions(Enum):
    """RocksDB profiles; no effect."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in RocksDB (Flink); treated like any other backend.

    Checkpoints are always incremental; other options are stored and returned.
    """

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        if enable_incremental_checkpointing not in (None, True, False):
            raise ConfigurationError(
                "requires True, False or None",
                who="EmbeddedRocksDBStateBackend",
                got=repr(enable_incremental_checkpointing),
            )
        self._incremental = bool(enable_incremental_checkpointing)
        self._paths: list[str] = []
        self._predefined = PredefinedOptions.DEFAULT
        self._threads = 4

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set local directories. No effect: Spark's local directories are used.

        Raises ConfigurationError for a relative path, and for one outside the local file system.
        """
        self._paths = [_local_path(path) for path in paths]

    def get_db_storage_paths(self) -> list[str]:
        """Return the local directories that were set."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return the requested value."""
        return self._incremental

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Set a profile. No effect."""
        self._predefined = PredefinedOptions(options)

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the profile."""
        return self._predefined

    @gap("pyflink.datastream.EmbeddedRocksDBStateBackend.set_options")
    def set_options(self, options_factory_class_name: str) -> None: ...

    def get_options(self) -> str | None:
        """Return None: there is no factory of options."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """Return the number that was set, 4 by default."""
        return self._threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set the number of threads that copy files. No effect."""
        self._threads = number_of_transfering_threads

    def __str__(self) -> str:
        return "EmbeddedRocksDBStateBackend"


def _local_path(path: str) -> str:
    scheme, _, below = flink_path(path).rpartition(":")
    local = re.sub("^//[^/]*", "", below)  # Flink drops the authority, too
    if scheme in ("", "file") and local.startswith("/"):
        return local
    raise ConfigurationError(
        "requires absolute paths of the local file system",
        who="EmbeddedRocksDBStateBackend.set_db_storage_paths",
        got=repr(path),
    )


class CustomStateBackend(StateBackend):
    """Not supported."""

    @gap("pyflink.datastream.CustomStateBackend")
    def __init__(self, j_custom_state_backend: Any) -> None: ...
