"""The classes with which a program describes the files that it writes: buckets, rolling, names."""

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
        """Return the assigner that writes everything to the base path."""
        return file_sink.BasePathBuckets()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None
    ) -> file_sink.BucketAssigner:
        """Return the assigner with one directory per hour of processing time, or per value of the Java pattern.

        The default zone is this machine's. Raises ConfigurationError for a pattern or a zone that cannot be used.
        """
        return file_sink.DateTimeBuckets(format_str, timezone_id)


class RollingPolicy:
    """Decides when a part file ends; create it with its two methods."""

    def __init__(self, policy: file_sink.RollingPolicy) -> None:
        self.policy = policy

    @staticmethod
    def default_rolling_policy(
        part_size: int = DEFAULT_PART_SIZE,
        rollover_interval: int = DEFAULT_INTERVAL,
        inactivity_interval: int = DEFAULT_INTERVAL,
    ) -> DefaultRollingPolicy:
        """End parts by size (bytes), age and idleness (milliseconds). Raises ConfigurationError for a limit below 1."""
        policy = file_sink.RollingPolicy.default(part_size, rollover_interval, inactivity_interval)
        return DefaultRollingPolicy(policy)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """End parts with every epoch, because each epoch ends in a checkpoint."""
        return OnCheckpointRollingPolicy(file_sink.RollingPolicy.on_epoch())


class DefaultRollingPolicy(RollingPolicy):
    """The policy that rolls by size, age and idleness."""


class OnCheckpointRollingPolicy(RollingPolicy):
    """The policy that rolls with every epoch."""


class OutputFileConfig:
    """The prefix and the suffix of the names of part files.

    >>> OutputFileConfig.builder().with_part_prefix("hits").with_part_suffix(".csv").build().get_part_prefix()
    'hits'
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._part_prefix = part_prefix
        self._part_suffix = part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Start with the prefix `part` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return the prefix."""
        return self._part_prefix

    def get_part_suffix(self) -> str:
        """Return the suffix."""
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
            """Return the configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class FileCompactStrategy:
    """When Flink merges small files; Firesteel's `FileSink` refuses it, see `enable_compact`."""

    def __init__(self, checkpoints: int, size_threshold: int) -> None:
        self.checkpoints = checkpoints
        self.size_threshold = size_threshold

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Start with no settings."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Collects the conditions for a merge."""

        def __init__(self) -> None:
            self._checkpoints = -1
            self._size_threshold = -1

        def build(self) -> FileCompactStrategy:
            """Return the strategy."""
            return FileCompactStrategy(self._checkpoints, self._size_threshold)

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Merge after that many checkpoints."""
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Merge when the files together reach this size, in bytes."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Accept the number; no effect."""
            del num_compact_threads
            return self


class FileCompactor:
    """How Flink merges small files; Firesteel's `FileSink` refuses it, see `enable_compact`."""

    def __init__(self, file_delimiter: bytes | None = None) -> None:
        self.file_delimiter = file_delimiter

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return a compactor that joins files one after the other, with a delimiter between them."""
        return FileCompactor(file_delimiter)

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return a compactor for files that stay unchanged."""
        return FileCompactor()
