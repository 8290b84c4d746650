"""Jobs whose connections break, or fall silent for longer than all timeouts: nothing is lost or repeated."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.sink import session, topics
from firesteel.connectors.kafka.source import access
from firesteel.connectors.kafka.source.access import TopicAccess
from firesteel.connectors.kafka.source.reading import Messages
from firesteel.connectors.kafka.source.source import KafkaSource
from harness.kafka import KafkaBroker
from harness.tcp_proxy import TcpProxy
from tests.connectors.kafka import test_sink_failures as writing
from tests.connectors.kafka.test_source import COMMITTED, bounded, run, source
from tests.recovery.crashing import Crasher
from tests.recovery.jobs import lines

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("machine")]

RECORDS = 4_000
SIZE = 1_000
IMPATIENT = {"request.timeout.ms": "1600", "default.api.timeout.ms": "2500"}
"""Requests and whole reads that end soon; a request for records itself takes up to 0.5 s."""


Fault = Callable[[Callable[[], None]], None]

AT_ONCE = {"restart-strategy.type": "none"}


class Through:
    """A broker as clients reach it through a proxy."""

    def __init__(self, proxy: TcpProxy) -> None:
        self.bootstrap = proxy.address


def large_records(kafka: KafkaBroker) -> str:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, [{"value": str(n).zfill(SIZE), "partition": n % 2} for n in range(RECORDS)])
    return topic


@pytest.fixture
def on_first_messages(monkeypatch: pytest.MonkeyPatch) -> Fault:
    """Has a fault come once the first messages of the next job are there."""
    messages = TopicAccess.messages

    def set_up(fault: Callable[[], None]) -> None:
        waiting = [fault]

        def reading(self: TopicAccess, *given: Any) -> Iterator[Messages]:
            for batch in messages(self, *given):
                if waiting:
                    waiting.pop()()
                yield batch

        monkeypatch.setattr(TopicAccess, "messages", reading)

    return set_up


def read_all(directory: Path, made: KafkaSource) -> None:
    run(directory, made, lambda handle, stats: None, 2, epoch_records=500, options=AT_ONCE)


def check_all(directory: Path) -> None:
    assert sorted(map(int, lines(directory / "out"))) == [*range(RECORDS)]


# Few messages are fetched ahead, so that the fault meets answers that have records.
STEP_BY_STEP = {"queued.max.messages.kbytes": "200", "fetch.message.max.bytes": "100000"}
PATIENT = {**IMPATIENT, "default.api.timeout.ms": "30000"}


def silence_for_a_while(proxy: TcpProxy) -> None:
    """Fall silent for longer than a request may take: the client gives the connection up."""
    proxy.silence()
    threading.Timer(2.5, proxy.resume).start()


@pytest.mark.parametrize(
    ("fault", "properties"),
    [
        pytest.param(TcpProxy.reset, {}, id="reset"),
        pytest.param(silence_for_a_while, PATIENT, id="silence shorter than the patience"),
    ],
)
def test_a_fault_in_an_answer_is_outlasted(
    kafka: KafkaBroker,
    proxy: TcpProxy,
    tmp_path: Path,
    on_first_messages: Fault,
    fault: Callable[[TcpProxy], None],
    properties: dict[str, str],
) -> None:
    on_first_messages(lambda: proxy.after(150_000, lambda: fault(proxy)))
    read_all(tmp_path, bounded(Through(proxy), large_records(kafka), **STEP_BY_STEP, **properties))
    assert proxy.struck.is_set()
    check_all(tmp_path)


def test_a_silence_in_an_answer_that_does_not_end(
    kafka: KafkaBroker, proxy: TcpProxy, tmp_path: Path, on_first_messages: Fault
) -> None:
    topic = large_records(kafka)
    on_first_messages(lambda: proxy.after(150_000, proxy.silence))
    made = bounded(Through(proxy), topic, **STEP_BY_STEP, **IMPATIENT)
    began = time.monotonic()
    with pytest.raises(ConnectorError, match=r"requires the records of partition \d of .* within 2.5 s"):
        read_all(tmp_path, made)
    assert time.monotonic() - began < 20
    assert len(lines(tmp_path / "out")) < RECORDS
    proxy.resume()
    read_all(tmp_path, bounded(Through(proxy), topic, **STEP_BY_STEP, **IMPATIENT))
    check_all(tmp_path)


def test_a_cluster_that_falls_silent_while_a_job_waits_for_records(
    kafka: KafkaBroker, proxy: TcpProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_REQUEST_S", 1.0)
    topic = kafka.create_topic()
    kafka.produce(topic, map(str, range(10)))
    made = source(Through(proxy), topic, **COMMITTED, **IMPATIENT).build()
    with pytest.raises(ConnectorError, match=r"requires an answer of the cluster within 2.5 s"):
        run(tmp_path, made, lambda handle, stats: proxy.silence(), options=AT_ONCE)
    proxy.resume()
    kafka.produce(topic, map(str, range(10, 20)))
    again = source(Through(proxy), topic, **COMMITTED, **IMPATIENT).build()
    run(tmp_path, again, lambda handle, stats: handle.stop())
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(20)]


class Striking(Crasher):
    """Brings a fault at each of some steps of a publishing, once."""

    def __init__(self, fault: Callable[[], None], *steps: str) -> None:
        super().__init__()
        self._fault = fault
        self.left = [*steps]

    def reach(self, what: str) -> None:
        if what in self.left:
            self.left.remove(what)
            self._fault()


STEPS = ["the id", "the mark", "send_offsets", "commit_transaction"]


def test_connections_that_break_at_each_step_of_a_publishing(
    kafka: KafkaBroker, proxy: TcpProxy, tmp_path: Path
) -> None:
    topic = kafka.create_topic(partitions=3)
    striking = Striking(proxy.reset, *(f"{when} {step}" for step in STEPS for when in ("before", "after")))
    writing.run(Through(proxy), topic, tmp_path, 2, striking)
    assert striking.left == []
    writing.check(kafka, topic)


@pytest.mark.parametrize(
    ("step", "silence"),
    [("before send_offsets", "silence"), ("before commit_transaction", "silence_answers")],
)
def test_a_silence_in_a_transaction(
    kafka: KafkaBroker,
    proxy: TcpProxy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    silence: str,
) -> None:
    """Without answers only, the broker does what it is asked for, and nobody hears of it."""
    monkeypatch.setattr(topics, "_TRY_S", 0.5)
    monkeypatch.setattr(session, "_ABORT_S", 0.5)
    topic = kafka.create_topic(partitions=3)
    striking = Striking(getattr(proxy, silence), step)
    began = time.monotonic()
    with pytest.raises(ConnectorError, match=r"could not publish epoch 1, which is committed") as raised:
        writing.run(
            Through(proxy), topic, tmp_path, 2, striking, max_block_ms="1500", request_timeout_ms="1000"
        )
    assert "nothing is lost" in str(raised.value)
    assert time.monotonic() - began < 60
    proxy.resume()
    writing.run(Through(proxy), topic, tmp_path)
    writing.check(kafka, topic)
