"""What the builder of a source takes and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.serialization import SimpleStringSchema
from firesteel.common.typeinfo import Types
from firesteel.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from firesteel.functions.source import Boundedness

LATEST = KafkaOffsetsInitializer.latest()


def builder(**properties: str) -> KafkaSourceBuilder:
    given = {"bootstrap.servers": "a:9092", **{k.replace("_", "."): v for k, v in properties.items()}}
    made = KafkaSource.builder().set_properties(given)
    return made.set_topics("t").set_value_only_deserializer(SimpleStringSchema())


def test_a_source() -> None:
    made = builder(group_id="g", isolation_level="read_committed").set_client_id_prefix("me").build()
    settings = made.settings
    assert dict(settings.properties) == {
        "bootstrap.servers": "a:9092",
        "client.id": "me",
        "group.id": "g",
        "isolation.level": "read_committed",
    }
    assert (settings.group, settings.committed_only, settings.commits) == ("g", True, True)
    assert (settings.patience_ms, settings.discovery_ms, settings.forgiving) == (60_000, 300_000, False)
    assert made.discovery_interval == 300_000
    assert made.produced_type == Types.STRING()
    assert made.boundedness is Boundedness.CONTINUOUS_UNBOUNDED


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda made: made.set_bounded(LATEST), Boundedness.BOUNDED),
        (lambda made: made.set_unbounded(LATEST), Boundedness.CONTINUOUS_UNBOUNDED),
        (
            lambda made: made.set_unbounded(LATEST).set_property("partition.discovery.interval.ms", "-1"),
            Boundedness.BOUNDED,
        ),
        (
            lambda made: made.set_property("partition.discovery.interval.ms", "0"),
            Boundedness.CONTINUOUS_UNBOUNDED,
        ),
    ],
)
def test_when_a_source_ends(change: Any, expected: Boundedness) -> None:
    assert change(builder()).build().boundedness is expected


def test_properties_of_the_source_itself() -> None:
    settings = (
        builder(
            auto_offset_reset="EARLIEST",
            commit_offsets_on_checkpoint="false",
            default_api_timeout_ms="500",
            enable_auto_commit="true",
        )
        .build()
        .settings
    )
    assert (settings.forgiving, settings.commits, settings.patience_ms) == (True, False, 500)
    assert dict(settings.properties) == {"bootstrap.servers": "a:9092"}


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (lambda: KafkaSource.builder().build(), "requires something to read; got none of topics"),
        (lambda: KafkaSource.builder().set_topics("t").build(), "requires a deserializer"),
        (
            lambda: (
                KafkaSource.builder()
                .set_topics("t")
                .set_value_only_deserializer(SimpleStringSchema())
                .build()
            ),
            "requires the servers of a cluster",
        ),
        (lambda: builder().set_topic_pattern("x"), "requires one of topics, topic pattern and partitions"),
        (lambda: KafkaSource.builder().set_topic_pattern("("), "requires a regular expression"),
        (
            lambda: builder().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build(),
            "requires a consumer group for the offsets that it has committed",
        ),
        (lambda: builder(auto_offset_reset="soon").build(), "one of earliest, latest, none"),
        (lambda: builder(default_api_timeout_ms="soon").build(), "requires milliseconds as the property"),
        (lambda: builder(sasl_password="open").build(), "requires a reference to a secret"),
        (
            lambda: KafkaOffsetsInitializer.offsets({KafkaTopicPartition("t", 0): -2}),
            "requires offsets of at least 0; got -2 for partition 0 of topic 't'",
        ),
    ],
)
def test_what_cannot_be_built(made: Any, error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        made()


@pytest.mark.parametrize(
    "made", [lambda: KafkaSource.builder().set_topics(), lambda: KafkaSource.builder().set_partitions(set())]
)
def test_nothing_to_read(made: Any) -> None:
    with pytest.raises(ProgramError, match="requires at least one"):
        made()


def test_names_are_those_of_pyflink() -> None:
    assert KafkaTopicPartition("t", 1) == KafkaTopicPartition("t", 1)
    assert len({KafkaTopicPartition("t", 1), KafkaTopicPartition("t", 1)}) == 1
    assert [one.name for one in KafkaOffsetResetStrategy] == ["LATEST", "EARLIEST", "NONE"]
