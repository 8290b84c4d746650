"""TableDescriptor: a table that a program declares, without SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from firesteel.common.config_options import ConfigOption
from firesteel.common.configuration import Value, option_text
from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.connectors import TableDistribution
from firesteel.table.schema import Schema

__all__ = ["FormatDescriptor", "TableDescriptor"]


@dataclass(frozen=True)
class FormatDescriptor:
    """A format and its options."""

    format: str
    options: dict[str, str] = field(default_factory=dict)

    class Builder:
        """Collects options."""

        def __init__(self, format: str) -> None:
            self._format = format
            self._options: dict[str, str] = {}

        def option(self, key: str | ConfigOption[Any], value: Value) -> FormatDescriptor.Builder:
            """Set an option of the format."""
            self._options[_key(key)] = option_text(value)
            return self

        def build(self) -> FormatDescriptor:
            """Return the descriptor."""
            return FormatDescriptor(self._format, dict(self._options))

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        """Return a builder for a format, e.g. json."""
        return FormatDescriptor.Builder(format)

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.format}[{{{options}}}]"

    def get_format(self) -> str:
        """Return the format."""
        return self.format

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)


@dataclass(frozen=True)
class TableDescriptor:
    """A connector with its options, and the schema.

    >>> numbers = TableDescriptor.for_connector("datagen").schema(
    ...     Schema.new_builder().column("n", "INT").build()
    ... ).option("number-of-rows", "3").build()
    >>> numbers.get_options()
    {'connector': 'datagen', 'number-of-rows': '3'}
    """

    schema: Schema | None
    options: dict[str, str]
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    distribution: TableDistribution | None = None

    class Builder:
        """Collects what makes a table."""

        def __init__(self, connector: str) -> None:
            self._schema: Schema | None = None
            self._options = {"connector": connector}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None
            self._distribution: TableDistribution | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            """Set the columns."""
            self._schema = schema
            return self

        def option(self, key: str | ConfigOption[Any], value: Value) -> TableDescriptor.Builder:
            """Set an option of the connector."""
            self._options[_key(key)] = option_text(value)
            return self

        def format(
            self, format: str | FormatDescriptor, format_option: str | ConfigOption[Any] | None = None
        ) -> TableDescriptor.Builder:
            """Set the format, under the key 'format' or under `format_option`."""
            descriptor = format if isinstance(format, FormatDescriptor) else FormatDescriptor(format)
            key = "format" if format_option is None else _key(format_option)
            self._options[key] = descriptor.format
            before = key.removesuffix("format")
            for name, value in descriptor.options.items():
                self._options[f"{before}{descriptor.format}.{name}"] = value
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            """Partition the table by these columns."""
            self._partition_keys = partition_keys
            return self

        def distributed_by(
            self, *bucket_keys: str, bucket_count: int | None = None
        ) -> TableDescriptor.Builder:
            """Distribute the rows over buckets by these columns, as the connector does it."""
            return self._distributed(None, bucket_keys, bucket_count)

        def distributed_by_hash(
            self, *bucket_keys: str, bucket_count: int | None = None
        ) -> TableDescriptor.Builder:
            """Distribute the rows over buckets by the hash of these columns."""
            return self._distributed("HASH", bucket_keys, bucket_count)

        def distributed_by_range(
            self, *bucket_keys: str, bucket_count: int | None = None
        ) -> TableDescriptor.Builder:
            """Distribute the rows over buckets by ranges of these columns."""
            return self._distributed("RANGE", bucket_keys, bucket_count)

        def distributed_into(self, bucket_count: int) -> TableDescriptor.Builder:
            """Distribute the rows over so many buckets, as the connector does it."""
            return self._distributed(None, (), bucket_count)

        def _distributed(
            self, kind: Literal["HASH", "RANGE"] | None, keys: tuple[str, ...], count: int | None
        ) -> TableDescriptor.Builder:
            if not keys and count is None:
                raise ProgramError(
                    "requires columns or a number of buckets", who=call_site("distributed_by"), got="neither"
                )
            self._distribution = TableDistribution(kind, keys, count)
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            """Set the comment."""
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            """Return the descriptor."""
            return TableDescriptor(
                self._schema, dict(self._options), self._partition_keys, self._comment, self._distribution
            )

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        """Return a builder for a table of a connector."""
        return TableDescriptor.Builder(connector)

    def get_schema(self) -> Schema | None:
        """Return the columns, None if none were given."""
        return self.schema

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        """Return the columns that partition the table."""
        return list(self.partition_keys)

    def get_distribution(self) -> TableDistribution | None:
        """Return how rows are in buckets, None if they are in none."""
        return self.distribution

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment


def _key(option: str | ConfigOption[Any]) -> str:
    return option.key if isinstance(option, ConfigOption) else option


def create_statement(
    descriptor: TableDescriptor,
    identifier: ObjectIdentifier,
    *,
    temporary: bool = False,
    if_not_exists: bool = False,
) -> str:
    """Return the CREATE TABLE statement that makes the table.

    >>> table = TableDescriptor.for_connector("print").schema(Schema.new_builder().column("n", "INT").build())
    >>> create_statement(table.build(), ObjectIdentifier("c", "d", "t"), temporary=True)
    "CREATE TEMPORARY TABLE `c`.`d`.`t` (\\n  `n` INT\\n) WITH ('connector' = 'print')"
    """
    words = ["CREATE", *(["TEMPORARY"] if temporary else []), "TABLE"]
    parts = [*words, *(["IF NOT EXISTS"] if if_not_exists else []), str(identifier)]
    if descriptor.schema is not None:
        parts.append(descriptor.schema.sql)
    if descriptor.comment is not None:
        parts.append(f"COMMENT {escaped_text(descriptor.comment)}")
    if descriptor.distribution is not None:
        parts.append(str(descriptor.distribution))
    if descriptor.partition_keys:
        parts.append(f"PARTITIONED BY ({', '.join(map(escaped_identifier, descriptor.partition_keys))})")
    options = ", ".join(
        f"{escaped_text(key)} = {escaped_text(value)}" for key, value in descriptor.options.items()
    )
    return " ".join([*parts, *([f"WITH ({options})"] if options else [])])
