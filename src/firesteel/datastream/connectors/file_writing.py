"""The classes with which a program describes the files that it writes: buckets, rolling, names."""

from __future__ import annotations

from firesteel.common.errors import ConfigurationError
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
    """When the small files of a bucket are merged: after a number of checkpoints (epochs), or from a size on.

    >>> strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(5).build()
    >>> strategy.compaction_by(FileCompactor.concat_file_compactor()).epochs
    5
    """

    def __init__(self, checkpoints: int | None, size_threshold: int | None) -> None:
        self.checkpoints = checkpoints
        self.size_threshold = size_threshold

    def compaction_by(self, compactor: FileCompactor) -> file_sink.Compaction:
        """Return what a file sink does with this strategy and a compactor."""
        return file_sink.Compaction(
            self.checkpoints,
            self.size_threshold,
            separately=compactor.identical,
            delimiter=compactor.file_delimiter,
        )

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Start with no settings."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Collects the conditions for a merge."""

        def __init__(self) -> None:
            self._checkpoints: int | None = None
            self._size_threshold: int | None = None

        def build(self) -> FileCompactStrategy:
            """Return the strategy. Raises ConfigurationError without a condition."""
            if self._checkpoints is None and self._size_threshold is None:
                raise ConfigurationError(
                    "requires at least one condition",
                    who="FileCompactStrategy",
                    got="neither a number of checkpoints nor a size",
                )
            return FileCompactStrategy(self._checkpoints, self._size_threshold)

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Merge with every so many checkpoints. Raises ConfigurationError for a number below 1."""
            self._checkpoints = _positive(num_checkpoints_before_compaction, "checkpoints")
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Merge when the files that a subtask has for a bucket reach this size, in bytes; below 0: never."""
            self._size_threshold = size_threshold if size_threshold >= 0 else None
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Accept the number; no effect. Raises ConfigurationError for a number below 1."""
            _positive(num_compact_threads, "threads")
            return self


def _positive(number: int, what: str) -> int:
    if number < 1:
        raise ConfigurationError(
            f"requires a number of {what} of at least 1", who="FileCompactStrategy", got=str(number)
        )
    return number


class FileCompactor:
    """How small files are merged."""

    def __init__(self, file_delimiter: bytes | None = None, *, identical: bool = False) -> None:
        self.file_delimiter = file_delimiter
        self.identical = identical

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return a compactor that joins files one after the other, with a delimiter between them.

        Without a delimiter, files of formats that cannot be joined so (Parquet, CSV with a header) are joined record by
        record.
        """
        return FileCompactor(file_delimiter)

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return a compactor that leaves each file as it is."""
        return FileCompactor(identical=True)
