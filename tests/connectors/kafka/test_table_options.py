"""What tables of topics take and refuse, without a broker."""

from __future__ import annotations

import numpy as np
import pytest

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from firesteel.connectors.tables.kafka.source import KafkaTableSource, joined
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.connectors import TableSource
from firesteel.functions.source import Boundedness
from tests.connectors.column_ends import request

LEAST = {"topic": "t", "format": "json", "properties.bootstrap.servers": "a:9092"}
EARLY = {**LEAST, "scan.startup.mode": "earliest-offset"}


def table(columns: str, given: dict[str, str | None], **more: object) -> TableSource:
    options = {key: value for key, value in given.items() if value is not None}
    return connector_of("kafka", "table 't'").source(request(columns, options, **more))


def made(given: dict[str, str | None], columns: str = "n INT, s STRING") -> KafkaTableSource:
    source = table(columns, given).source
    assert isinstance(source, KafkaTableSource)
    return source


def test_a_table_of_a_group() -> None:
    settings = made({**LEAST, "properties.group.id": "g", "properties.auto.offset.reset": "latest"}).settings
    expected = KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST)
    assert (settings.start, settings.stop) == (expected, None)
    assert dict(settings.properties) == {"bootstrap.servers": "a:9092", "group.id": "g"}
    assert settings.boundedness is Boundedness.CONTINUOUS_UNBOUNDED


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"scan.startup.mode": "latest-offset"}, KafkaOffsetsInitializer.latest()),
        (
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "7"},
            KafkaOffsetsInitializer.timestamp(7),
        ),
        (
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "partition:0,offset:42;partition:1,offset:300",
            },
            KafkaOffsetsInitializer.offsets(
                {KafkaTopicPartition("t", 0): 42, KafkaTopicPartition("t", 1): 300}
            ),
        ),
    ],
)
def test_starts(options: dict[str, str], start: KafkaOffsetsInitializer) -> None:
    assert made({**LEAST, **options}).settings.start == start


def test_a_table_with_an_end() -> None:
    source = made({**EARLY, "scan.bounded.mode": "latest-offset", "scan.parallelism": "3"})
    assert source.boundedness is Boundedness.BOUNDED
    assert source.preferred_parallelism == 3
    interval = {"scan.topic-partition-discovery.interval": "10 s"}
    assert made({**EARLY, **interval}).discovery_interval == 10_000


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"topic": None}, "requires one of the options 'topic' and 'topic-pattern'; got none"),
        ({"topic-pattern": "t.*"}, "requires one of the options 'topic' and 'topic-pattern'; got both"),
        (
            {"topic": None, "topic-pattern": "("},
            "requires a regular expression as the option 'topic-pattern'",
        ),
        ({"properties.bootstrap.servers": None}, "requires the option 'properties.bootstrap.servers'"),
        ({"format": None}, "requires one of the options 'format' and 'value.format'; got none"),
        ({"value.format": "csv"}, "requires one of the options 'format' and 'value.format'; got both"),
        ({"format": "jsn"}, r"got 'jsn'\n  hint: did you mean 'json'"),
        ({"json.lenient": "true"}, "requires options that 'kafka' has; got 'json.lenient'"),
        ({"scan.startup.mode": "group-offsets"}, "requires a consumer group"),
        (
            {"scan.startup.mode": "timestamp"},
            "requires the option 'scan.startup.timestamp-millis' for such a",
        ),
        ({"scan.startup.mode": "specific-offsets"}, "requires the option 'scan.startup.specific-offsets'"),
        (
            {"scan.startup.specific-offsets": "0:1"},
            "requires partitions and offsets such as 'partition:0,off",
        ),
        ({"scan.bounded.mode": "timestamp"}, "requires the option 'scan.bounded.timestamp-millis'"),
        (
            {
                "topic": "t;u",
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "partition:0,offset:1",
            },
            "requires a single topic",
        ),
        ({"key.format": "json"}, "requires the option 'key.fields', too"),
        ({"key.fields": "n"}, "requires the option 'key.format', too"),
        ({"key.format": "json", "key.fields": "m"}, "requires columns of the table, .*; got 'm'"),
        (
            {"key.format": "json", "key.fields": "n", "key.fields-prefix": "n"},
            "requires 'value.fields-include' = 'EXCEPT_KEY'",
        ),
        (
            {
                "key.format": "json",
                "key.fields": "n",
                "key.fields-prefix": "k_",
                "value.fields-include": "EXCEPT_KEY",
            },
            "requires a prefix of all 'key.fields'",
        ),
        ({"properties.interceptor.classes": "a.B"}, "cannot have the property 'interceptor.classes'"),
    ],
)
def test_what_does_not_fit_together(options: dict[str, str | None], error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        made({**EARLY, **options})


def test_a_primary_key_needs_changes() -> None:
    with pytest.raises(
        ConfigurationError, match="requires a table without PRIMARY KEY for the format 'json'"
    ):
        table("n INT", EARLY, key=["n"])
    found = table("n INT", {**EARLY, "format": "debezium-json"}, key=["n"])
    assert found.mode.delete


def test_only_wanted_fields_are_decoded() -> None:
    whole = made(EARLY)
    some = whole.projected((1,))
    assert isinstance(some, KafkaTableSource)
    assert some._decoding.value_names == ("s",)
    in_csv = made({**EARLY, "format": "csv"}).projected((1,))
    assert isinstance(in_csv, KafkaTableSource)
    assert in_csv._decoding.value_names == ("n", "s")


def test_rows_of_values_and_keys_are_joined_by_their_messages() -> None:
    values, keys = joined(np.array([0, 0, 2]), np.array([0, 1, 2, 2]))
    assert (values.tolist(), keys.tolist()) == ([0, 1, 2, 2], [0, 0, 2, 3])
