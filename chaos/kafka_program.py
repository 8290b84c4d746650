"""The job of streams from a topic of Kafka to others, exactly once: `results`, and each key's running count.

python -m firesteel.cli run chaos/kafka_program.py --state-dir DIR -- OUTPUT BOOTSTRAP-SERVERS
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from chaos.program import TOTAL, RunningCount, by_key, by_time, results_of, write_files
from firesteel.common import Duration
from firesteel.common.serialization import SerializationSchema, SimpleStringSchema
from firesteel.connectors.kafka.sink import KafkaSink
from firesteel.connectors.kafka.sink.serialization import KafkaRecordSerializationSchema
from firesteel.datastream import KeyedStream, StreamExecutionEnvironment
from firesteel.datastream.connectors.kafka import KafkaSource
from firesteel.functions.sink import DeliveryGuarantee

TIMEOUT_MS: Final = 5_000
"""The timeout of transactions: drivers are away for longer, and the broker aborts what they left open."""


class Text(SerializationSchema):
    """The text that a function makes of a row."""

    def __init__(self, shown: Callable[[Any], str]) -> None:
        self._shown = shown

    def serialize(self, value: Any) -> bytes:
        return self._shown(value).encode()


def topic(
    servers: str, name: str, value: Callable[[Any], str], key: Callable[[Any], str] | None = None
) -> KafkaSink:
    """Return the sink of a topic."""
    schema = KafkaRecordSerializationSchema.builder().set_topic(name)
    schema.set_value_serialization_schema(Text(value))
    if key is not None:
        schema.set_key_serialization_schema(Text(key))
    return (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("chaos")
        .set_property("transaction.timeout.ms", str(TIMEOUT_MS))
        .set_record_serializer(schema.build())
        .build()
    )


def events_in_topic(env: StreamExecutionEnvironment, servers: str) -> KeyedStream:
    """Return the events of the topic `events`, by key; a partition without any for a second holds nobody up."""
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics("events")
        .set_group_id("chaos")
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    strategy = by_time().with_idleness(Duration.of_seconds(1))
    return by_key(env.from_source(source, strategy, "events").uid("events"))


def main(output: str, servers: str) -> None:
    """Build the job and run it until it is stopped."""
    env = StreamExecutionEnvironment.get_execution_environment()
    events = events_in_topic(env, servers)
    results = results_of(events)
    write_files(events, results, output)
    results.sink_to(topic(servers, "results", lambda row: ",".join(map(str, row)))).uid("results")
    counts = events.process(RunningCount(), TOTAL).uid("counts")
    counts.sink_to(topic(servers, "counts", lambda row: str(row[1]), lambda row: str(row[0]))).uid("totals")
    env.execute("chaos")


if __name__ == "__main__":
    main(*sys.argv[1:])
