"""Reads or writes a topic: `python -m bench.kafka.program SYSTEM CASE SERVERS FEW MANY` prints JSON.

The program is one of PyFlink's names, the same for both systems. It reads the topics `few` and `many` with so many
messages, or writes so many to them, after a run with few that does not count.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.kafka.messages import FIELDS, message
from bench.kafka.systems import CHECKPOINTS, adopt, configuration, streams, tables, text_sink

READING: Final = ("columns", "records")
WRITING: Final = ("exactly-once", "at-least-once")


def columns(system: str, servers: str, topic: str, count: int, scratch: Path) -> Callable[[], None]:
    """Return what reads a topic of JSON into typed columns."""
    del count
    env = tables(configuration(system, scratch))
    fields = ", ".join(f"{name} {kind}" for name, kind in FIELDS)
    env.execute_sql(
        f"""CREATE TABLE messages ({fields}) WITH (
            'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}',
            'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')"""
    )
    env.execute_sql(f"CREATE TABLE sink ({fields}) WITH ('connector' = 'blackhole')")
    return lambda: env.execute_sql("INSERT INTO sink SELECT * FROM messages").wait()


def records(system: str, servers: str, topic: str, count: int, scratch: Path) -> Callable[[], None]:
    """Return what reads a topic of JSON into rows for a function in Python."""
    del count
    common, kafka = map(importlib.import_module, ("pyflink.common", "pyflink.datastream.connectors.kafka"))
    formats = importlib.import_module("pyflink.datastream.formats.json")
    types = common.Types
    kinds = {
        "BIGINT": types.LONG(),
        "DOUBLE": types.DOUBLE(),
        "STRING": types.STRING(),
        "BOOLEAN": types.BOOLEAN(),
    }
    row = types.ROW_NAMED([name for name, _ in FIELDS], [kinds[kind] for _, kind in FIELDS])
    schema = formats.JsonRowDeserializationSchema.builder().type_info(row).build()
    env = streams(configuration(system, scratch))
    source = (
        kafka.KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(topic)
        .set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
        .set_bounded(kafka.KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(schema)
        .build()
    )
    rows = env.from_source(source, common.WatermarkStrategy.no_watermarks(), "messages")
    rows.filter(lambda found: found[2] < 0).print()
    return lambda: env.execute()


def writing(guarantee: str) -> Callable[..., Callable[[], None]]:
    """Return what writes messages to a topic."""

    def built(system: str, servers: str, topic: str, count: int, scratch: Path) -> Callable[[], None]:
        common = importlib.import_module("pyflink.common")
        numbers = importlib.import_module("pyflink.datastream.connectors.number_seq")
        env = streams(configuration(system, scratch, CHECKPOINTS))
        source = numbers.NumberSequenceSource(0, count - 1)
        given = env.from_source(
            source, common.WatermarkStrategy.no_watermarks(), "numbers", common.Types.LONG()
        )
        given.map(message, common.Types.STRING()).sink_to(text_sink(servers, topic, guarantee))
        return lambda: env.execute()

    return built


CASES: Final = {"columns": columns, "records": records} | {name: writing(name) for name in WRITING}


def main() -> None:
    """Run the case that the command line names."""
    system, case, servers, *counts = sys.argv[1:]
    few, many = map(int, counts)
    adopt(system)
    seconds: dict[str, Any] = {}
    for title, count in (("warm-up", few), ("few", few), ("many", many)):
        topic = title if case in WRITING else title.replace("warm-up", "few")
        with tempfile.TemporaryDirectory(prefix="bench-kafka-") as scratch:
            go = CASES[case](system, servers, topic, count, Path(scratch))
            began = time.perf_counter()
            go()
            seconds[title] = time.perf_counter() - began
    print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
