"""The job of streams with topics of Kafka as its targets, exactly once: `results`, and each key's running count.

python -m firesteel.cli run chaos/kafka_program.py --state-dir DIR -- INPUT OUTPUT BOOTSTRAP-SERVERS
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from chaos.program import TOTAL, RunningCount, keyed_events, results_of, write_files
from firesteel.common.serialization import SerializationSchema
from firesteel.connectors.kafka.sink import KafkaSink
from firesteel.connectors.kafka.sink.serialization import KafkaRecordSerializationSchema
from firesteel.datastream import StreamExecutionEnvironment
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


def main(directory: str, output: str, servers: str) -> None:
    """Build the job and run it until it is stopped."""
    env = StreamExecutionEnvironment.get_execution_environment()
    events = keyed_events(env, directory)
    results = results_of(events)
    write_files(events, results, output)
    results.sink_to(topic(servers, "results", lambda row: ",".join(map(str, row)))).uid("results")
    counts = events.process(RunningCount(), TOTAL).uid("counts")
    counts.sink_to(topic(servers, "counts", lambda row: str(row[1]), lambda row: str(row[0]))).uid("totals")
    env.execute("chaos")


if __name__ == "__main__":
    main(*sys.argv[1:])
