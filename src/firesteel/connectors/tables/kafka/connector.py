"""The connector 'kafka': topics as tables."""

from __future__ import annotations

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.settings import require_client
from firesteel.connectors.tables.kafka.options import (
    OF_BOTH,
    OF_SINKS,
    OF_SOURCES,
    PARTITIONER,
    table_source_settings,
)
from firesteel.connectors.tables.kafka.parts import OPTIONS, READABLE, WRITABLE, parts_of
from firesteel.connectors.tables.kafka.source import KafkaTableSource
from firesteel.connectors.tables.kafka.writing import kafka_sink
from firesteel.connectors.tables.options import SCAN_PARALLELISM, Options
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSink, TableSource


class KafkaConnector(TableConnector):
    """Reads and writes topics; a row is of a record's value and, with 'key.format', of its key.

    The options are Flink's. Reading is exactly once: offsets are in the job's manifest, and those of the consumer group
    are for those who watch it. Without 'scan.bounded.mode' a table has no end.
    """

    name = "kafka"
    options = (*OF_BOTH, *OPTIONS, *OF_SOURCES, PARTITIONER, *OF_SINKS)
    readable_metadata = READABLE
    writable_metadata = WRITABLE

    def source(self, table: TableRequest) -> TableSource:
        """Return the source."""
        require_client(table.who)
        options = Options(table.options, table.who, self.name)
        settings = table_source_settings(options, table)
        parts = parts_of(options, table)
        parallelism = options.get(SCAN_PARALLELISM)
        source = KafkaTableSource(settings, parts, parallelism)
        options.know((*OF_SINKS, PARTITIONER))
        options.finish()
        mode = parts.value.format.mode
        if table.primary_key and mode.append_only:
            raise ConfigurationError(
                f"requires a table without PRIMARY KEY for the format {parts.value.format.name!r}: nothing says that "
                "keys in a topic are unique",
                who=table.who,
                got=f"PRIMARY KEY ({', '.join(table.primary_key)})",
                hint="the connector 'upsert-kafka' reads the last record of each key",
            )
        return TableSource(source, mode)

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink."""
        require_client(table.who)
        return kafka_sink(table)
