"""Jobs that read while the broker, a worker or the driver dies: no record is lost, and none is read twice."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import WatermarkStrategy
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream.functions import MapFunction
from harness.kafka import KafkaBroker
from tests.conftest import RunPython
from tests.connectors.kafka.test_source import bounded, numbers, run, source
from tests.recovery.jobs import environment, lines

pytestmark = pytest.mark.long


def end_of(broker: KafkaBroker, how: str) -> None:
    if how == "pause":
        broker.pause()
        threading.Timer(1.5, broker.resume).start()
        return
    getattr(broker, how)()
    broker.start()


@pytest.mark.parametrize("parallelism", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_a_broker_that_is_killed_stopped_and_stands_still(
    tmp_path: Path, mortal_kafka: KafkaBroker, parallelism: int
) -> None:
    topic = mortal_kafka.create_topic(partitions=2)
    ends = ["kill", "stop", "pause", "kill"]
    wave = 0

    def produce() -> None:
        records = [{"value": str(n), "partition": n % 2} for n in range(50 * wave, 50 * (wave + 1))]
        mortal_kafka.produce(topic, records)

    produce()

    def act(handle: Any, stats: Any) -> None:
        nonlocal wave
        if len(lines(tmp_path / "out")) < 50 * (wave + 1):
            return
        if wave == len(ends):
            handle.stop()
            return
        end_of(mortal_kafka, ends[wave])
        wave += 1
        produce()

    run(tmp_path, source(mortal_kafka, topic).build(), act, parallelism, epoch_records=20)
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(50 * (len(ends) + 1))]


def test_a_broker_that_is_killed_in_the_middle_of_an_epoch(tmp_path: Path, mortal_kafka: KafkaBroker) -> None:
    """What has been planned is read when the broker is there again."""
    topic = mortal_kafka.create_topic(partitions=1)
    mortal_kafka.produce(topic, [str(n) + "x" * 1000 for n in range(20_000)])
    made = bounded(mortal_kafka, topic)
    reading = made._access.messages
    killed = []

    def dying(*given: Any) -> Any:
        for messages in reading(*given):
            if not killed:
                killed.append(True)
                end_of(mortal_kafka, "kill")
            yield messages

    made._access.messages = dying  # type: ignore[method-assign]
    split = next(one for one in made.splits(frozenset()) if one.payload)
    values = [value for batch in made.read(split, 0, 20_000) for value in batch]
    made.close()
    assert [int(value.rstrip("x")) for value in values] == [*range(20_000)]


class KillsItself(MapFunction):
    """Kills the process it runs in, once."""

    def __init__(self, marker: Path, at: str) -> None:
        self.marker, self.at = marker, at

    def map(self, value: str) -> str:
        if value == self.at and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value


@pytest.mark.spark
def test_a_worker_that_is_killed(tmp_path: Path, mortal_kafka: KafkaBroker) -> None:
    topic = numbers(mortal_kafka, 120)
    with environment(tmp_path, on="spark", parallelism=2, epoch_records=30, clock=None) as env:
        stream = env.from_source(bounded(mortal_kafka, topic), WatermarkStrategy.no_watermarks(), "kafka")
        stream.map(KillsItself(tmp_path / "struck", "70")).sink_to(
            FileSink(tmp_path / "out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())
        )
        env.execute()
    assert (tmp_path / "struck").exists()
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(120)]


PROGRAM = """
import os, signal, sys
from pathlib import Path

from firesteel.common import WatermarkStrategy
from firesteel.common.serialization import SimpleStringSchema
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from firesteel.testing import executing

servers, topic, at, parallelism = sys.argv[1:]
with executing(parallelism=int(parallelism), epoch_records=30, state_dir="state"):
    env = StreamExecutionEnvironment.get_execution_environment()
    source = (
        KafkaSource.builder().set_bootstrap_servers(servers).set_topics(topic).set_group_id(topic)
        .set_value_only_deserializer(SimpleStringSchema()).set_bounded(KafkaOffsetsInitializer.latest()).build()
    )
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "kafka")

    def die(value):
        if value == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    stream.map(die).sink_to(FileSink("out", TextLines(), BasePathBuckets(), RollingPolicy.on_epoch()))
    env.execute()
"""


def test_a_driver_that_is_killed_and_started_at_another_parallelism(
    tmp_path: Path, mortal_kafka: KafkaBroker, run_python: RunPython
) -> None:
    topic = numbers(mortal_kafka, 300)
    program = tmp_path / "job.py"
    program.write_text(PROGRAM)
    for at, parallelism in ((50, 2), (130, 3), (131, 1), (290, 3)):
        ended = run_python(program, mortal_kafka.bootstrap, topic, at, parallelism)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    ended = run_python(program, mortal_kafka.bootstrap, topic, "never", 2)
    assert ended.returncode == 0, ended.stderr
    assert sorted(map(int, lines(tmp_path / "out"))) == [*range(300)]
