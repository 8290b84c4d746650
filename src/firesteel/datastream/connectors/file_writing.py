"""How a program describes the files it writes: buckets, rolling, names."""

from __future__ import annotations

from firesteel.connectors.files import sink as file_sink
from firesteel.connectors.files.sink.rolling import DEFAULT_INTERVAL, DEFAULT_PART_SIZE


class BucketAssigner(file_sink.BucketAssigner):
    """Names the directory of each record; subclass it and define `get_bucket_id(value, timestamp, processing_time)`.

    >>> BucketAssigner.date_time_bucket_assigner("yyyy/MM", "UTC").get_bucket_id("record", None, 0)
    '1970/01'
    """

    @staticmethod
    def base_path_bucket_assigner() -> file_sink.BucketAssigner:
        """Everything goes to the base path."""
        return file_sink.BasePathBuckets()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None
    ) -> file_sink.BucketAssigner:
        """A directory for each hour of processing time, or whatever the Java pattern tells apart.

        Raises ConfigurationError for a pattern or a zone that cannot be used; no zone is this machine's.
        """
        return file_sink.DateTimeBuckets(format_str, timezone_id)


class RollingPolicy:
    """When a part file ends; made by its two methods."""

    def __init__(self, policy: file_sink.RollingPolicy) -> None:
        self.policy = policy

    @staticmethod
    def default_rolling_policy(
        part_size: int = DEFAULT_PART_SIZE,
        rollover_interval: int = DEFAULT_INTERVAL,
        inactivity_interval: int = DEFAULT_INTERVAL,
    ) -> DefaultRollingPolicy:
        """By size in bytes, by age and by idleness in milliseconds. Raises ConfigurationError for a limit below 1."""
        policy = file_sink.RollingPolicy.default(part_size, rollover_interval, inactivity_interval)
        return DefaultRollingPolicy(policy)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """With every epoch, which is what a checkpoint is here."""
        return OnCheckpointRollingPolicy(file_sink.RollingPolicy.on_epoch())


class DefaultRollingPolicy(RollingPolicy):
    """By size, age and idleness."""


class OnCheckpointRollingPolicy(RollingPolicy):
    """With every epoch."""


class OutputFileConfig:
    """What the names of part files begin and end with.

    >>> OutputFileConfig.builder().with_part_prefix("hits").with_part_suffix(".csv").build().get_part_prefix()
    'hits'
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._part_prefix = part_prefix
        self._part_suffix = part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Begin with the prefix `part` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """The prefix."""
        return self._part_prefix

    def get_part_suffix(self) -> str:
        """The suffix."""
        return self._part_suffix

    class OutputFileConfigBuilder:
        """Collects prefix and suffix."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the prefix."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the suffix."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """The configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class FileCompactStrategy:
    """When Flink merges small files; `FileSink` here refuses it, see `enable_compact`."""

    def __init__(self, checkpoints: int, size_threshold: int) -> None:
        self.checkpoints = checkpoints
        self.size_threshold = size_threshold

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Begin with neither."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Collects when to merge."""

        def __init__(self) -> None:
            self._checkpoints = -1
            self._size_threshold = -1

        def build(self) -> FileCompactStrategy:
            """The strategy."""
            return FileCompactStrategy(self._checkpoints, self._size_threshold)

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Merge after so many checkpoints."""
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Merge when the files together are so large, in bytes."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Take the number; merging needs no threads of its own."""
            del num_compact_threads
            return self


class FileCompactor:
    """How Flink merges small files; `FileSink` here refuses it, see `enable_compact`."""

    def __init__(self, file_delimiter: bytes | None = None) -> None:
        self.file_delimiter = file_delimiter

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """One after the other, with a delimiter between."""
        return FileCompactor(file_delimiter)

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """A file as it is."""
        return FileCompactor()
