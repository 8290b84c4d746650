"""Settings that are kept and answered so that programs run unchanged."""

from __future__ import annotations

import pytest

from firesteel.common import Configuration, Duration
from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    PredefinedOptions,
    SlotSharingGroup,
)
from tests.datastream.programs import environment


def test_checkpoint_config_starts_as_flinks():
    config = CheckpointConfig()
    assert not config.is_checkpointing_enabled()
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    assert (config.get_checkpoint_interval(), config.get_checkpoint_timeout()) == (-1, 600_000)
    assert (config.get_min_pause_between_checkpoints(), config.get_max_concurrent_checkpoints()) == (0, 1)
    assert config.is_fail_on_checkpointing_errors()
    assert not config.is_externalized_checkpoints_enabled()
    assert config.get_aligned_checkpoint_timeout() == Duration.of_millis(0)


def test_checkpoint_config_keeps_what_is_set():
    config = CheckpointConfig().set_checkpoint_interval(100).set_checkpoint_timeout(50)
    config.set_min_pause_between_checkpoints(5).set_max_concurrent_checkpoints(2)
    config.set_fail_on_checkpointing_errors(
        False
    ).enable_unaligned_checkpoints().set_force_unaligned_checkpoints()
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    config.set_alignment_timeout(Duration.of_seconds(1))
    assert (config.get_checkpoint_interval(), config.get_checkpoint_timeout()) == (100, 50)
    assert (config.get_min_pause_between_checkpoints(), config.get_max_concurrent_checkpoints()) == (5, 2)
    assert config.get_tolerable_checkpoint_failure_number() == 2**31 - 1
    assert config.is_unaligned_checkpoints_enabled()
    assert config.is_force_unaligned_checkpoints()
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    assert config.is_externalized_checkpoints_enabled()
    assert config.get_alignment_timeout() == Duration.of_seconds(1)


def test_checkpoint_config_refuses_what_flink_refuses():
    with pytest.raises(
        ConfigurationError, match="set_checkpoint_interval requires a whole number of at least 10"
    ):
        CheckpointConfig().set_checkpoint_interval(5)
    with pytest.raises(ConfigurationError, match="at least 1"):
        CheckpointConfig().set_max_concurrent_checkpoints(0)


def test_memory_size():
    size = MemorySize.of_mebi_bytes(2048)
    assert (size.get_bytes(), size.get_kibi_bytes(), size.get_mebi_bytes()) == (2**31, 2**21, 2**11)
    assert (size.get_gibi_bytes(), size.get_tebi_bytes()) == (2, 0)
    assert (str(size), str(MemorySize(bytes_size=1500))) == ("2 gb", "1500 bytes")
    assert MemorySize(bytes_size=5) < size
    assert MemorySize(bytes_size=2**31) == size
    assert hash(MemorySize(bytes_size=2**31)) == hash(size)
    with pytest.raises(ProgramError, match="requires a number of bytes"):
        MemorySize(bytes_size=-1)


def test_slot_sharing_group():
    builder = SlotSharingGroup.builder("io").set_cpu_cores(2.0).set_task_heap_memory_mb(10)
    builder.set_task_off_heap_memory_mb(20).set_managed_memory_mb(30).set_external_resource("gpu", 1.0)
    group = builder.build()
    assert (group.get_name(), group.get_cpu_cores(), group.get_external_resources()) == (
        "io",
        2.0,
        {"gpu": 1.0},
    )
    assert group.get_task_heap_memory() == MemorySize.of_mebi_bytes(10)
    assert group.get_task_off_heap_memory() == MemorySize.of_mebi_bytes(20)
    assert group.get_managed_memory() == MemorySize.of_mebi_bytes(30)
    assert group == builder.build() != SlotSharingGroup.builder("io").build()
    assert environment().register_slot_sharing_group(group)


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda group: group.set_cpu_cores(0.0), "set_cpu_cores requires a positive amount; got 0.0"),
        (lambda group: group.set_cpu_cores(None), "set_cpu_cores requires a positive amount; got None"),
        (lambda group: group.set_task_heap_memory_mb(0), "set_task_heap_memory requires a positive amount"),
        (lambda group: group.set_managed_memory_mb(1).build(), "requires both cores and heap memory"),
        (lambda group: group.set_cpu_cores(1.0).build(), "requires both cores and heap memory"),
        (lambda group: group.set_external_resource("gpu", 1.0).build(), "got external"),
    ],
)
def test_slot_sharing_group_refuses_what_flink_refuses(ask, problem):
    with pytest.raises(ProgramError, match=problem):
        ask(SlotSharingGroup.builder("io"))


def test_slot_sharing_group_with_resources_has_all_of_them():
    group = SlotSharingGroup.builder("io").set_cpu_cores(1).set_task_heap_memory_mb(1).build()
    assert group.get_managed_memory() == group.get_task_off_heap_memory() == MemorySize(bytes_size=0)
    assert SlotSharingGroup.builder("io").build().get_managed_memory() is None


def test_changelog_state_backend_is_neither_on_nor_off_before_it_is_set():
    env = environment()
    assert env.is_changelog_state_backend_enabled() is None
    assert env.enable_changelog_state_backend(False).is_changelog_state_backend_enabled() is False


@pytest.mark.parametrize("text", ["true", "false"])
def test_object_reuse_is_an_option(text):
    env = environment()
    env.configure(Configuration.from_dict({"pipeline.object-reuse": text}))
    assert env.get_config().is_object_reuse_enabled() is (text == "true")


def test_state_backends():
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("file:///a/", "/b")
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(8)
    assert backend.is_incremental_checkpoints_enabled()
    assert backend.get_db_storage_paths() == ["/a", "/b"]
    assert backend.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert (backend.get_number_of_transfer_threads(), backend.get_options()) == (8, None)
    assert str(HashMapStateBackend()) == "HashMapStateBackend"


@pytest.mark.parametrize("path", ["relative", "s3://bucket/a"])
def test_state_backend_refuses_paths_that_are_not_local(path):
    with pytest.raises(ConfigurationError, match="requires absolute paths of the local file system"):
        EmbeddedRocksDBStateBackend().set_db_storage_paths(path)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("file://var/checkpoints/", "file://var/checkpoints"),
        ("file:///var//checkpoints//", "file:/var/checkpoints"),
        ("hdfs://host:1/a/../b/", "hdfs://host:1/b"),
    ],
)
def test_checkpoint_path_is_shown_as_flink_shows_it(path, shown):
    assert FileSystemCheckpointStorage(path).get_checkpoint_path() == shown
    assert JobManagerCheckpointStorage(path).get_checkpoint_path() == shown


def test_checkpoint_storages():
    storage = FileSystemCheckpointStorage("s3://bucket/checkpoints", write_buffer_size=100)
    assert storage.get_checkpoint_path() == "s3://bucket/checkpoints"
    assert (storage.get_min_file_size_threshold(), storage.get_write_buffer_size()) == (20_480, 20_480)
    assert JobManagerCheckpointStorage().get_max_state_size() == 5 * 1024 * 1024
    with pytest.raises(ConfigurationError, match="requires a checkpoint_path"):
        FileSystemCheckpointStorage()
