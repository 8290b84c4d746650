"""The broker that the tests of Kafka share does what they rely on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.kafka import KafkaBroker, kafka_broker
from harness.kafka_client import Partition


def test_topics_and_records(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, [{"value": b"a", "partition": 0}, {"value": b"b", "key": b"k", "partition": 1}])
    assert [(m.partition(), m.key(), m.value()) for m in kafka.read(topic)] == [
        (0, None, b"a"),
        (1, b"k", b"b"),
    ]
    kafka.add_partitions(topic, 3)
    kafka.delete_records(topic, 0, before=1)
    assert kafka.offsets(topic) == {0: Partition(1, 1), 1: Partition(0, 1), 2: Partition(0, 0)}


def test_a_topic_made_again_has_another_id(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    before = kafka.topic_id(topic)
    kafka.delete_topic(topic)
    kafka.create_topic(topic)
    assert kafka.topic_id(topic) != before


def test_transactions(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    for value in ("aborted", "committed", "open"):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        if value == "aborted":
            producer.abort_transaction()
        elif value == "committed":
            producer.commit_transaction()
    assert [m.value() for m in kafka.read(topic)] == [b"committed"]
    assert [m.value() for m in kafka.read(topic, committed=False)] == [b"aborted", b"committed", b"open"]
    producer.abort_transaction()


@pytest.mark.long
def test_data_survive_the_brokers_end() -> None:
    with kafka_broker() as broker:
        topic = broker.create_topic()
        for number, end in enumerate((broker.kill, broker.stop)):
            broker.produce(topic, [str(number)])
            end()
            broker.start()
        assert [m.value() for m in broker.read(topic)] == [b"0", b"1"]
        directory = broker.directory
    assert not directory.exists()


_TEST = """
import time
from harness.kafka import kafka_broker
with kafka_broker() as broker:
    print(broker.port, broker.directory, flush=True)
    time.sleep(600)
"""


@pytest.mark.long
def test_a_broker_ends_with_its_test(project: Path) -> None:
    test = subprocess.Popen(
        [sys.executable, "-c", _TEST],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(project)},
    )
    assert test.stdout is not None
    port, directory = test.stdout.readline().split()
    test.send_signal(signal.SIGKILL)
    test.communicate()
    until = time.monotonic() + 20
    while Path(directory).exists() or _listens(int(port)):
        assert time.monotonic() < until


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
