"""Jobs from 'upsert-kafka' to 'upsert-kafka' that are killed and rescaled: the topics hold what a model holds."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from firesteel.connectors.tables.kafka.source import KafkaTableSource
from firesteel.connectors.tables.kafka.upsert import UpsertKafkaConnector
from firesteel.connectors.tables.registry import register
from firesteel.control import EpochStats, JobHandle
from firesteel.functions.columns.connectors import TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches
from firesteel.functions.source import Split
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from harness.kafka import KafkaBroker
from tests.connectors.kafka.test_sink_failures import sink_points
from tests.connectors.kafka.test_table_jobs import UPSERTS, kafka_table
from tests.recovery.crashing import Crasher, points
from tests.recovery.jobs import Watch

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("machine")]

PEOPLE = [f"person {number}" for number in range(12)]
CITIES = ["Oslo", "Rome", "Lima", "Bern"]

Person = tuple[str, int]


class Topics(NamedTuple):
    """People by name, and what is made of them: people again, and for each city with two or more how many there are."""

    people: str
    copies: str
    cities: str


@pytest.fixture
def topics(kafka: KafkaBroker) -> Topics:
    return Topics(*(kafka.create_topic(partitions=3) for _ in range(3)))


class Model:
    """People come, move and go."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.people: dict[str, Person] = {}

    def change(self, count: int) -> Iterable[dict[str, Any]]:
        """Make changes; yield their records."""
        for _ in range(count):
            name = self._random.choice(PEOPLE)
            key = json.dumps({"name": name}).encode()
            if self._random.random() < 0.3:
                self.people.pop(name, None)
                yield {"key": key, "value": None}
            else:
                city, age = self.people[name] = self._random.choice(CITIES), self._random.randrange(100)
                yield {"key": key, "value": json.dumps({"name": name, "city": city, "age": age})}

    def copies(self) -> dict[str, Person]:
        return {name: (city.upper(), age) for name, (city, age) in self.people.items()}

    def cities(self) -> dict[str, tuple[int, int]]:
        ages: dict[str, list[int]] = defaultdict(list)
        for city, age in self.people.values():
            ages[city].append(age)
        return {city: (len(found), sum(found)) for city, found in ages.items() if len(found) > 1}


def last_rows(kafka: KafkaBroker, topic: str, key: str) -> dict[str, tuple[Any, ...]]:
    """Return the rows of a topic by their keys; records of a key are in one partition."""
    rows: dict[str, tuple[Any, ...]] = {}
    places: dict[str, int] = {}
    for message in kafka.read(topic):
        name = json.loads(message.key())[key]
        assert places.setdefault(name, message.partition()) == message.partition()
        rows.pop(name, None)
        if message.value() is not None:
            row = json.loads(message.value())
            assert row.pop(key) == name
            rows[name] = tuple(row.values())
    return rows


def check(kafka: KafkaBroker, topics: Topics, model: Model) -> None:
    for topic in topics:
        assert any(message.value() is None for message in kafka.read(topic))
    assert last_rows(kafka, topics.copies, "name") == model.copies()
    assert last_rows(kafka, topics.cities, "city") == model.cities()


def run(
    kafka: KafkaBroker,
    topics: Topics,
    directory: Path,
    act: Callable[[JobHandle, EpochStats], None] = lambda handle, stats: None,
    *,
    on: Any = "process",
    parallelism: int = 2,
    connector: str = "upsert-kafka",
    crasher: Crasher | None = None,
) -> None:
    """Run the job on what is in the topic now, to its end or a crash."""
    crasher = crasher or Crasher()
    watch = Watch(act)
    with (
        sink_points(crasher),
        executing(
            on,
            epoch_records=15,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
            listener=watch,
        ),
    ):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        if on != "spark":
            env.get_config().set("restart-strategy.type", "none")
        env.get_config().set("parallelism.default", str(parallelism))
        row = "name STRING, city STRING, age BIGINT, PRIMARY KEY (name) NOT ENFORCED"
        counted = "city STRING, n BIGINT, years BIGINT, PRIMARY KEY (city) NOT ENFORCED"
        reading = {**UPSERTS, "connector": connector}
        env.execute_sql(kafka_table(kafka, topics.people, "people", row, **reading))
        env.execute_sql(kafka_table(kafka, topics.copies, "copies", row, **UPSERTS))
        env.execute_sql(kafka_table(kafka, topics.cities, "cities", counted, **UPSERTS))
        both = env.create_statement_set()
        both.add_insert_sql("INSERT INTO copies SELECT name, UPPER(city), age FROM people")
        both.add_insert_sql(
            "INSERT INTO cities SELECT city, COUNT(*), SUM(age) FROM people GROUP BY city HAVING COUNT(*) > 1"
        )
        job = both.execute().job
        assert job is not None
        try:
            watch.follow(job).wait(120)
        except Exception:
            if crasher.crashed is None:
                raise


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_a_driver_that_crashes_and_goes_on_at_another_parallelism(
    kafka: KafkaBroker, topics: Topics, tmp_path: Path, seed: int
) -> None:
    model, chance, crashes = Model(seed), random.Random(seed), 0
    kafka.produce(topics.people, model.change(150))
    while True:
        last = chance.randint(5, 120)
        crasher = Crasher(lambda count, point, last=last: count == last)
        width = chance.randint(1, 3)
        with points(crasher):
            run(kafka, topics, tmp_path, on=crasher.executor, parallelism=width, crasher=crasher)
        if crasher.crashed is None:
            break
        crashes += 1
    assert crashes > 2
    check(kafka, topics, model)


def changing(handle: JobHandle, stats: EpochStats) -> None:
    """Change the parallelism after some epochs."""
    if stats.epoch in (1, 3, 5):
        handle.rescale({1: 3, 3: 1, 5: 2}[stats.epoch])


def test_a_job_whose_parallelism_changes(kafka: KafkaBroker, topics: Topics, tmp_path: Path) -> None:
    model = Model(3)
    kafka.produce(topics.people, model.change(150))
    run(kafka, topics, tmp_path, changing)
    check(kafka, topics, model)


class Dying(KafkaTableSource):
    """Kills the Python worker it is read in, once, when it has read some rows."""

    marker: Path

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        for batch in super().read_columns(split, start, end):
            if end > 20 and not self.marker.exists():
                self.marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch
        return None

    def projected(self, columns: tuple[int, ...]) -> None:
        """Return nothing: it is read as it is."""


class DyingConnector(UpsertKafkaConnector):
    name = "dying-upsert-kafka"

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def source(self, table: TableRequest) -> TableSource:
        usual = super().source(table)
        made = usual.source
        assert isinstance(made, KafkaTableSource)
        dying = Dying(made.settings, made._parts, upserts=True)
        dying.marker = self._marker
        return replace(usual, source=dying)


@pytest.mark.spark
def test_a_worker_that_is_killed_in_a_job_whose_parallelism_changes(
    kafka: KafkaBroker, topics: Topics, tmp_path: Path
) -> None:
    model, marker = Model(4), tmp_path / "struck"
    kafka.produce(topics.people, model.change(100))
    register(DyingConnector(marker))
    run(kafka, topics, tmp_path, changing, on="spark", connector=DyingConnector.name)
    assert marker.exists()
    check(kafka, topics, model)
