"""The connector 'upsert-kafka': topics whose records are the last rows of their keys."""

from __future__ import annotations

from firesteel.connectors.kafka.settings import require_client
from firesteel.connectors.tables.kafka.options import (
    ENDING,
    OF_BOTH,
    OF_BUFFERS,
    OF_SINKS,
    TOPIC_PATTERN,
    table_source_settings,
)
from firesteel.connectors.tables.kafka.parts import (
    ALWAYS_READABLE,
    KEY_FORMAT,
    OF_KEYS,
    VALUE_FORMAT,
    WRITABLE,
)
from firesteel.connectors.tables.kafka.source import KafkaTableSource
from firesteel.connectors.tables.kafka.writing import upsert_kafka_sink, upsert_parts
from firesteel.connectors.tables.options import SCAN_PARALLELISM
from firesteel.functions.columns.connectors import (
    ChangelogMode,
    TableConnector,
    TableRequest,
    TableSink,
    TableSource,
)


class UpsertKafkaConnector(TableConnector):
    """Reads and writes changes by the primary key, which is the key of records; one without a value deletes.

    The options are Flink's. A table is read from its earliest records on; of a table that is read the engine makes all
    changes, with the rows that were there before.
    """

    name = "upsert-kafka"
    options = (
        *(*OF_BOTH, KEY_FORMAT, VALUE_FORMAT, *OF_KEYS),
        *(TOPIC_PATTERN, *ENDING, *OF_SINKS, *OF_BUFFERS),
    )
    readable_metadata = ALWAYS_READABLE
    writable_metadata = WRITABLE

    def source(self, table: TableRequest) -> TableSource:
        """Return the source."""
        require_client(table.who)
        options, parts = upsert_parts(table)
        settings = table_source_settings(options, table)
        parallelism = options.get(SCAN_PARALLELISM)
        options.know((*OF_SINKS, *OF_BUFFERS))
        options.finish()
        return TableSource(
            KafkaTableSource(settings, parts, parallelism, upserts=True), ChangelogMode.upserts()
        )

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink."""
        require_client(table.who)
        return upsert_kafka_sink(table)
