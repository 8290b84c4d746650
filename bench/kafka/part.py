"""The part: a broker for each case, the programs of both systems, and the section made from the figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from bench.kafka.messages import message
from bench.kafka.program import READING, WRITING
from bench.kafka.report import HOW, TITLES, render
from bench.part import Case, Figures, Part, RunError
from bench.process import printed
from bench.sql_systems import FIRESTEEL, FLINK, Runtime

if TYPE_CHECKING:
    from harness.kafka import KafkaBroker

TIMEOUT_SECONDS: Final = 900
SECONDS: Final = 60
"""The time of the latencies."""

COUNTS: Final[Mapping[tuple[str, str], int]] = {
    ("columns", FIRESTEEL.name): 4_000_000,
    ("columns", FLINK.name): 2_000_000,
    ("records", FIRESTEEL.name): 3_000_000,
    ("records", FLINK.name): 500_000,
    **{(case, FIRESTEEL.name): 2_000_000 for case in WRITING},
    **{(case, FLINK.name): 500_000 for case in WRITING},
}
_FEW: Final = 5
"""How many times more messages the second run has than the first."""

_PARTITIONS: Final = 2
_LEAST_SECONDS: Final = 5.0


def measure(case: str, system: Runtime, scale: float) -> dict[str, Figures]:
    """Run a case; `rate` is that of the messages which its second run has more than its first."""
    from harness.kafka import kafka_broker

    many = max(int(COUNTS[case, system.name] * scale), 10 * _FEW)
    few = many // _FEW
    title = f"{case}, {system.title}"
    with kafka_broker() as broker:
        for topic in ("warm-up", "few", "many"):
            broker.create_topic(topic, partitions=_PARTITIONS)
        if case in READING:
            for topic, count in (("few", few), ("many", many)):
                broker.produce(topic, map(message, range(count)))
        command = ["-m", "bench.kafka.program", system.name, case, broker.bootstrap, few, many]
        with system.started(title, command, TIMEOUT_SECONDS) as process:
            output = process.output.read()
        if case in WRITING:
            _check(broker, case, many)
    seconds = json.loads(output.splitlines()[-1])["seconds"]
    if seconds["many"] <= seconds["few"]:
        raise RunError(
            f"{title}: {many} messages took {seconds['many']} s, and {few} took {seconds['few']} s"
        )
    rate = round((many - few) / (seconds["many"] - seconds["few"]))
    return {title: {"messages": many, "rate": rate, "seconds": round(seconds["many"], 2)}}


def _check(broker: KafkaBroker, case: str, count: int) -> None:
    found = [
        value.decode() for value in (record.value() for record in broker.read("many")) if value is not None
    ]
    different = len(set(found))
    if different != count or (case == "exactly-once" and len(found) != count):
        raise RunError(f"{case}: {len(found)} messages, {different} different ones, of {count}")


def latency(system: Runtime, scale: float) -> dict[str, Figures]:
    """Run the pipeline while records come by the clock."""
    from harness.kafka import kafka_broker

    title = f"latency, {system.title}"
    seconds = max(SECONDS * min(scale, 1), _LEAST_SECONDS)
    with kafka_broker() as broker:
        for topic in ("given", "results"):
            broker.create_topic(topic, partitions=_PARTITIONS)
        job = ["-m", "bench.kafka.pipeline", system.name, broker.bootstrap, "given", "results"]
        watching = ["-m", "bench.kafka.watching", broker.bootstrap, "given", "results", seconds]
        with system.started(title, job, TIMEOUT_SECONDS) as process:
            found = printed(title, watching, TIMEOUT_SECONDS)
            process.end()
    return {title: found}


PART: Final = Part(
    name="kafka",
    title="Kafka",
    cases=(
        *(
            Case(f"{case} {system.name}", partial(measure, case, system))
            for case in TITLES
            for system in (FIRESTEEL, FLINK)
        ),
        *(Case(f"latency {system.name}", partial(latency, system)) for system in (FIRESTEEL, FLINK)),
    ),
    render=render,
    how=HOW,
    runs=1,
)
