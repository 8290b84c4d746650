"""A private Kafka broker for tests: one KRaft process on 127.0.0.1, with its data in a temporary directory.

The broker's archives (44 MB) are fetched once, see `harness.maven`.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

from harness.maven import CACHE, jars
from harness.server import free_port

VERSION: Final = "4.3.1"
QUIET: Final = {"log_level": 0, "logger": None, "error_cb": lambda _: None}
"""Settings of a client that says nothing on stderr while the broker is away."""

_STARTS_WITHIN_S = 90
_STOPS_WITHIN_S = 30
_ANSWERS_WITHIN_S = 30

_PASSING: Final = ("NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PART")

_SETTINGS: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # After a kill, the broker starts once its former session is over.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Records of tests may be of any time, so their age is no reason to delete them.
    "log.retention.ms": "-1",
    # Files of deleted topics and segments go at once, and what a short test wants expired is looked for often.
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "file.delete.delay.ms": "100",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "group.min.session.timeout.ms": "500",
}

_LOGGING = """<Configuration status="ERROR">
  <Appenders><Console name="out"><PatternLayout pattern="%d{HH:mm:ss.SSS} %-5p %c{1}: %m%n"/></Console></Appenders>
  <Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""

# The guard reads the broker's process ids, one a line, an empty line once it has ended. When the input ends, the test's
# process has ended in any way, or closes the broker: the broker must end, too, and its data go.
_GUARD = 'while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -KILL "$pid"; rm -rf "$0"'


class Partition(NamedTuple):
    """A partition's offsets: the first that is there, and the next one that will be written."""

    first: int
    next: int


class KafkaBroker:
    """A broker that is also its own controller; `settings` are of its server.properties and win over the harness's.

    Ports are free ones, and stay the same for the object's life: clients find a broker that is started again.
    """

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._classes = jars(Path(__file__).with_suffix(".jars"), CACHE / f"kafka-{VERSION}")
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self.port, controller = free_port(), free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-kafka-"))
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, self.directory],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        listeners = f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller}"
        self._settings = {
            **_SETTINGS,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
            "listeners": listeners,
            "advertised.listeners": listeners,
            "log.dirs": f"{self.directory}/data",
            **(settings or {}),
        }
        self._format()
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap, **QUIET})
        """A client for what has no method here."""

    # --- the process -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the broker on the data it has, and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", self.directory / "server.properties"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
            )
        self._tell_guard(str(self._process.pid))
        until = time.monotonic() + _STARTS_WITHIN_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the broker does not start:\n{self.log.read_text()[-5000:]}")
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Stop the broker if it runs; its data stay."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(_STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._tell_guard("")

    def kill(self) -> None:
        """Kill the broker at once; what it has handed to the system stays."""
        self.stop(signal.SIGKILL)

    def restart(self) -> None:
        """Stop the broker and start it on the same data; all connections break."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Stop the broker's threads until `resume`: it takes connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after `pause`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill the broker and remove its data."""
        self.kill()
        if self._guard.poll() is None:
            self._guard.communicate()

    @property
    def log(self) -> Path:
        """The file with the broker's warnings and errors."""
        return self.directory / "log"

    # --- topics ----------------------------------------------------------------------------------------------------

    def create_topic(
        self, name: str | None = None, partitions: int = 1, settings: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic, of a new name if none is given, and return its name."""
        if name is None:
            self._made += 1
            name = f"topic-{self._made}"
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(settings or {}))
        _done(self.admin.create_topics([topic]))
        _until(lambda: self._is_led(name), f"{name} has no leader")
        return name

    def _is_led(self, topic: str) -> bool:
        try:
            return bool(self.offsets(topic))
        except KafkaException:
            return False

    def delete_topic(self, name: str) -> None:
        """Delete a topic and wait until the broker does not know it any more."""
        _done(self.admin.delete_topics([name]))
        _until(lambda: name not in self.admin.list_topics(timeout=_ANSWERS_WITHIN_S).topics, f"{name} stays")

    def add_partitions(self, name: str, to: int) -> None:
        """Give a topic as many partitions."""
        _done(self.admin.create_partitions([NewPartitions(name, to)]))

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete a partition's records before an offset, as retention does."""
        _done(self.admin.delete_records([TopicPartition(topic, partition, before)]))

    def topic_id(self, name: str) -> str:
        """Return the id that the broker gave the topic when it was created."""
        found = self.admin.describe_topics(TopicCollection([name]))
        return str(found[name].result(_ANSWERS_WITHIN_S).topic_id)

    def offsets(self, topic: str) -> dict[int, Partition]:
        """Return each partition's offsets; they count the control records of transactions."""
        until = time.monotonic() + _ANSWERS_WITHIN_S
        while True:
            try:
                return self._offsets(topic)
            except KafkaException as error:
                # A partition that was created just now may have no leader yet.
                if not error.args[0].retriable() and error.args[0].name() not in _PASSING:
                    raise
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _offsets(self, topic: str) -> dict[int, Partition]:
        partitions = self.admin.list_topics(topic, timeout=_ANSWERS_WITHIN_S).topics[topic].partitions
        ends = [
            {
                name.partition: result.result(_ANSWERS_WITHIN_S).offset
                for name, result in self.admin.list_offsets(
                    {TopicPartition(topic, number): spec for number in partitions}
                ).items()
            }
            for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
        ]
        return {number: Partition(ends[0][number], ends[1][number]) for number in sorted(partitions)}

    # --- records ---------------------------------------------------------------------------------------------------

    def producer(self, settings: Mapping[str, Any] | None = None) -> Producer:
        """Return a client that produces."""
        return Producer({"bootstrap.servers": self.bootstrap, **QUIET, **(settings or {})})

    def produce(self, topic: str, records: Iterable[Any], settings: Mapping[str, Any] | None = None) -> None:
        """Produce records, and return when the broker has them.

        A record is a value (bytes, a string or None), or a dict of what `Producer.produce` takes: `value`, `key`,
        `partition`, `timestamp`, `headers`.
        """
        producer = self.producer(settings)
        failed: list[Any] = []
        for record in records:
            given = record if isinstance(record, dict) else {"value": record}
            while True:
                try:
                    producer.produce(topic, **given, on_delivery=lambda e, _: failed.append(e) if e else None)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(_ANSWERS_WITHIN_S) == 0, "the broker has not taken all records"
        assert not failed, failed[0]

    def read(self, topic: str, *, committed: bool = True) -> list[Message]:
        """Return all of a topic's records, by partition and offset: those that are committed, or all."""
        isolation = "read_committed" if committed else "read_uncommitted"
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": uuid.uuid4().hex,
                "isolation.level": isolation,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                **QUIET,
            }
        )
        left = set(self.offsets(topic))
        consumer.assign([TopicPartition(topic, number, 0) for number in left])
        found: list[Message] = []
        while left:
            for message in consumer.consume(1000, 0.2):
                if message.error() is None:
                    found.append(message)
                elif message.error().name() == "_PARTITION_EOF":
                    left.discard(message.partition())
                else:
                    raise KafkaException(message.error())
        consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))

    # -----------------------------------------------------------------------------------------------------------------

    def _format(self) -> None:
        (self.directory / "log4j2.xml").write_text(_LOGGING)
        properties = self.directory / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._settings.items()))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        tool = self._java(
            "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", properties, "--standalone"
        )
        made = subprocess.run(tool, capture_output=True, text=True, cwd=self.directory, check=False)
        if made.returncode != 0:
            raise RuntimeError(f"the broker's storage cannot be formatted:\n{made.stdout}{made.stderr}")

    def _java(self, main: str, *arguments: object) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        return [
            f"{home}/bin/java" if home else "java",
            *("-Xmx384m", "-Xms384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            "-Dlog4j2.configurationFile=log4j2.xml",
            "-cp",
            self._classes,
            main,
            *map(str, arguments),
        ]

    def _answers(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", self.port)) != 0:
                return False
        try:
            return bool(self.admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def _tell_guard(self, line: str) -> None:
        assert self._guard.stdin is not None
        self._guard.stdin.write(f"{line}\n".encode())
        self._guard.stdin.flush()


def _done(futures: Mapping[Any, Any]) -> None:
    for future in futures.values():
        future.result(_ANSWERS_WITHIN_S)


def _until(happened: Any, failure: str) -> None:
    until = time.monotonic() + _ANSWERS_WITHIN_S
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(failure)
        time.sleep(0.02)


@contextmanager
def kafka_broker(settings: Mapping[str, str] | None = None) -> Iterator[KafkaBroker]:
    """Yield a running broker; it ends, and its data go, at the end, and if this process dies.

    `settings` of interest: `transaction.max.timeout.ms`, `transactional.id.expiration.ms`, `num.partitions`; topics
    have their own, see `KafkaBroker.create_topic`.
    """
    broker = KafkaBroker(settings)
    try:
        broker.start()
        yield broker
    finally:
        broker.close()
