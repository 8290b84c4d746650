"""The settings that a program can make on its environment."""

from __future__ import annotations

import os
from typing import ClassVar, Self

from firesteel.common.configuration import Configuration
from firesteel.common.execution_config import ExecutionConfig
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.datastream.ambient import current_ambient
from firesteel.datastream.checkpoint_config import CheckpointConfig
from firesteel.datastream.checkpointing_mode import CheckpointingMode
from firesteel.datastream.execution_mode import RuntimeExecutionMode
from firesteel.datastream.python_settings import PythonSettings
from firesteel.datastream.slot_sharing_group import SlotSharingGroup
from firesteel.datastream.streams.node_settings import (
    call_site,
    require_at_most,
    require_buffer_timeout,
    require_max_parallelism,
    require_parallelism,
    require_text,
)
from firesteel.datastream.unsupported import gap
from firesteel.graph.checks import require


class EnvironmentSettings(PythonSettings):
    """The settings of an environment; setters return the environment, times are milliseconds."""

    _local_parallelism: ClassVar[int | None] = None

    def __init__(self) -> None:
        self._config = ExecutionConfig()
        self._checkpoint_config = CheckpointConfig()
        self._configuration = Configuration()
        self._runtime_mode = RuntimeExecutionMode.STREAMING
        self._buffer_timeout = 100
        self._chaining = True
        self._changelog: bool | None = None
        self._savepoint_directory: str | None = None
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}
        self._python = PythonDependencies()

    def get_config(self) -> ExecutionConfig:
        """Return the execution config, which you can change."""
        return self._config

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the parallelism of operations that do not set it (-1: one subtask per core)."""
        wanted = require_parallelism("set_parallelism", parallelism)
        most = self._config.get_max_parallelism()
        require_at_most("set_parallelism", wanted, most if most > 0 else None)
        self._config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the parallelism of operations that do not set it."""
        asked = current_ambient().parallelism or self._config.get_parallelism()
        return asked if asked > 0 else self.get_default_local_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups, 1 to 32768: it limits the parallelism and is fixed for a job's life."""
        self._config.set_max_parallelism(require_max_parallelism("set_max_parallelism", max_parallelism))
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups, -1 if none was set (it is then 128, or more for a higher parallelism)."""
        return self._config.get_max_parallelism()

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism that applies if nothing sets one: the number of cores."""
        if self._local_parallelism is not None:
            return self._local_parallelism
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set, for all environments, the parallelism that applies if nothing sets one."""
        wanted = require_parallelism("set_default_local_parallelism", parallelism)
        EnvironmentSettings._local_parallelism = wanted

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Register a group; its resources have no effect, because Spark's own settings determine resources."""
        who = call_site("register_slot_sharing_group")
        require(slot_sharing_group, (SlotSharingGroup,), who, "see SlotSharingGroup.builder(name)")
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Set whether the program runs as a stream or as a batch."""
        who = call_site("set_runtime_mode")
        require(execution_mode, (RuntimeExecutionMode,), who, "e.g. RuntimeExecutionMode.BATCH")
        self._runtime_mode = execution_mode
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Check and store the timeout (-1: the default). No effect: records move at the pace of epochs."""
        self._buffer_timeout = require_buffer_timeout("set_buffer_timeout", timeout_millis)
        return self

    def get_buffer_timeout(self) -> int:
        """Return the timeout."""
        return self._buffer_timeout

    def disable_operator_chaining(self) -> Self:
        """Put every operation into a separate chain.

        Only plans show it: operations of one level run in the same tasks, chained or not. Values are coerced to their
        declared types at the same places as with chaining, as in PyFlink.
        """
        self._chaining = False
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operations are chained, as plans show them."""
        return self._chaining

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return True: the max parallelism never prevents chaining."""
        return True

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the checkpoint config, which you can change."""
        return self._checkpoint_config

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
        """Set how long an epoch may last; each epoch ends in a checkpoint, whether you call this or not."""
        self._checkpoint_config.set_checkpoint_interval(interval)
        if mode is not None:
            self._checkpoint_config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the interval, -1 if none was set."""
        return self._checkpoint_config.get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the requested guarantee."""
        return self._checkpoint_config.get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the requested guarantee."""
        return self._checkpoint_config.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return the checkpoint config's value."""
        return self._checkpoint_config.is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return the checkpoint config's value."""
        return self._checkpoint_config.is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Store the switch. No effect: a checkpoint always holds exactly the changes."""
        self._changelog = bool(enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return the switch, None if it was not set."""
        return self._changelog

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Set the default directory of savepoints."""
        self._savepoint_directory = require_text("set_default_savepoint_directory", directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return the default directory of savepoints, None if it was not set."""
        return self._savepoint_directory

    @gap("pyflink.datastream.StreamExecutionEnvironment.add_jars")
    def add_jars(self, *jars_path: str) -> None: ...

    @gap("pyflink.datastream.StreamExecutionEnvironment.add_classpaths")
    def add_classpaths(self, *classpaths: str) -> None: ...

    @gap("pyflink.datastream.StreamExecutionEnvironment.register_cached_file")
    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None: ...
