"""A private Kafka broker for tests: one KRaft process on 127.0.0.1, with its data in a temporary directory.

The broker's archives (44 MB) are fetched once, see `harness.maven`.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from confluent_kafka import KafkaException

from harness.guard import guard
from harness.kafka_client import KafkaClient
from harness.maven import CACHE, jars
from harness.server import free_port, serve_until_interrupted
from harness.tcp_proxy import TcpProxy

VERSION: Final = "4.3.1"

_STARTS_WITHIN_S = 90
_STOPS_WITHIN_S = 30

_SETTINGS: Final = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT",
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
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Records of tests may be of any time, so their age is no reason to delete them.
    "log.retention.ms": "-1",
    # Files of deleted topics and segments go at once, and what a short test wants expired is looked for often.
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "file.delete.delay.ms": "100",
    "log.cleaner.backoff.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "group.min.session.timeout.ms": "500",
    # By default it is a third of the heap.
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
}

_ACTIVE: Final = b"Performing controller activation"
_FENCED: Final = re.compile(rb"fenced=(0|1|false|true)\b")
"""What a controller's log says of a broker, from its beginning on; a change of something else has fenced=-1."""

_LOGGING = """<Configuration status="ERROR">
  <Appenders><Console name="out"><PatternLayout pattern="%d{HH:mm:ss.SSS} %-5p %c{1}: %m%n"/></Console></Appenders>
  <Loggers>
    <Logger name="org.apache.kafka.controller.ClusterControlManager" level="INFO"/>
    <Root level="WARN"><AppenderRef ref="out"/></Root>
  </Loggers>
</Configuration>
"""


class Seat(NamedTuple):
    """A node's place in a cluster: its number from 1 on, the ports of all nodes' controllers, and the cluster's id."""

    number: int
    controllers: tuple[int, ...]
    cluster: str

    @property
    def voters(self) -> str:
        """What the nodes know of each other."""
        return ",".join(f"{number}@127.0.0.1:{port}" for number, port in enumerate(self.controllers, 1))


def seats(count: int) -> list[Seat]:
    """Return the places of a new cluster."""
    controllers = tuple(free_port() for _ in range(count))
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return [Seat(number, controllers, cluster) for number in range(1, count + 1)]


class KafkaBroker(KafkaClient):
    """A broker that is also a controller; `settings` are of its server.properties and win over the harness's.

    Ports are free ones, and stay the same for the object's life: clients find a broker that is started again. It is a
    cluster of its own unless it has a `seat` in another one. `heap_mb` is the size of its heap.
    """

    def __init__(
        self, settings: Mapping[str, str] | None = None, seat: Seat | None = None, heap_mb: int = 384
    ) -> None:
        seat = seat or seats(1)[0]
        self._classes = jars(Path(__file__).with_suffix(".jars"), CACHE / f"kafka-{VERSION}")
        self._heap_mb = heap_mb
        self._process: subprocess.Popen[bytes] | None = None
        self._must_be_missed = False
        self._is_alone = len(seat.controllers) == 1
        self.number = seat.number
        self.port, self._behind_proxy, self._proxy_port = free_port(), free_port(), free_port()
        super().__init__(f"127.0.0.1:{self.port}")
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-kafka-"))
        guard().remove(self.directory)
        controller = f"CONTROLLER://127.0.0.1:{seat.controllers[seat.number - 1]}"
        open_to_all = f"PLAINTEXT://{self.bootstrap}"
        self._settings = {
            **_SETTINGS,
            "node.id": str(seat.number),
            "controller.quorum.voters": seat.voters,
            "listeners": f"{open_to_all},PROXIED://127.0.0.1:{self._behind_proxy},{controller}",
            "advertised.listeners": f"{open_to_all},PROXIED://127.0.0.1:{self._proxy_port}",
            "log.dirs": f"{self.directory}/data",
            **(settings or {}),
        }
        self._controller_only = {
            **self._settings,
            "process.roles": "controller",
            "listeners": controller,
            "broker.session.timeout.ms": "100",
        }
        del self._controller_only["advertised.listeners"]
        self._format(seat.cluster)

    # --- the process -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the broker on the data it has, and wait until it answers."""
        if self._must_be_missed:
            self._miss()
        self._launch("server.properties")
        self._wait_until(self._answers, "the broker does not start")

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
        self._must_be_missed = self._is_alone and process.returncode == -signal.SIGKILL
        guard().forget(process.pid)

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither stopped nor killed since."""
        return self._process is not None

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
        shutil.rmtree(self.directory)

    @contextmanager
    def proxy(self) -> Iterator[TcpProxy]:
        """Yield a proxy through which the broker is reached at `address`, by connections that are opened there."""
        with TcpProxy(self._proxy_port, self._behind_proxy).serving() as proxy:
            yield proxy

    @property
    def log(self) -> Path:
        """The file with the broker's warnings and errors."""
        return self.directory / "log"

    def _miss(self) -> None:
        """Have the controller, without the broker, note that the broker is away, as one elsewhere would have done.

        A broker that is started while its controller takes it for alive coordinates transactions before it can be
        reached, and is then fenced. Kafka 4.3 may skip the markers of a transaction just then ("likely deleted
        already"): the transaction hangs, and consumers wait for it for ever.
        """
        known = self.log.stat().st_size

        def is_missed() -> bool:
            said = self.log.read_bytes()[known:]
            return _ACTIVE in said and _FENCED.findall(said)[-1] in (b"1", b"true")

        self._launch("controller.properties")
        self._wait_until(is_missed, "the broker is not missed")
        self.stop()

    def _launch(self, properties: str) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", self.directory / properties),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
            )
        guard().watch(self._process.pid)

    def _wait_until(self, holds: Callable[[], bool], otherwise: str) -> None:
        assert self._process is not None
        until = time.monotonic() + _STARTS_WITHIN_S
        while not holds():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{otherwise}:\n{self.log.read_text()[-5000:]}")
            time.sleep(0.05)

    def _format(self, cluster: str) -> None:
        (self.directory / "log4j2.xml").write_text(_LOGGING)
        properties = self._write("server.properties", self._settings)
        self._write("controller.properties", self._controller_only)
        tool = self._java("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", properties)
        made = subprocess.run(tool, capture_output=True, text=True, cwd=self.directory, check=False)
        if made.returncode != 0:
            raise RuntimeError(f"the broker's storage cannot be formatted:\n{made.stdout}{made.stderr}")

    def _write(self, name: str, settings: Mapping[str, str]) -> Path:
        path = self.directory / name
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return path

    def _java(self, main: str, *arguments: object) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        return [
            f"{home}/bin/java" if home else "java",
            *(
                f"-Xmx{self._heap_mb}m",
                f"-Xms{self._heap_mb}m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
            ),
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


if __name__ == "__main__":
    serve_until_interrupted(kafka_broker(), lambda broker: broker.bootstrap)
