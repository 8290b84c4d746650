"""A keyed process function between two topics: `python -m bench.kafka.pipeline SYSTEM SERVERS INPUT OUTPUT` runs on."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.kafka.systems import CHECKPOINTS, adopt, configuration, streams, text_sink


def key_of(text: str) -> str:
    """Return a text's key, which is before the first comma."""
    return text.partition(",")[0]


def counting() -> Any:
    """Return the function: it sends each text on, with the number of its key's texts so far."""
    names = ("pyflink.common", "pyflink.datastream.functions", "pyflink.datastream.state")
    common, functions, state = map(importlib.import_module, names)
    long = common.Types.LONG()

    class Count(functions.KeyedProcessFunction):  # type: ignore[misc, name-defined]
        def open(self, runtime_context: Any) -> None:
            self._count = runtime_context.get_state(state.ValueStateDescriptor("count", long))

        def process_element(self, value: str, ctx: Any) -> Iterator[str]:
            count = (self._count.value() or 0) + 1
            self._count.update(count)
            yield f"{value},{count}"

    return Count()


def main() -> None:
    """Run the job, until the process is ended."""
    system, servers, given, output = sys.argv[1:]
    adopt(system)
    with tempfile.TemporaryDirectory(prefix="bench-kafka-") as scratch:
        env = streams(configuration(system, Path(scratch), CHECKPOINTS, prompt=True))
        common, kafka = map(
            importlib.import_module, ("pyflink.common", "pyflink.datastream.connectors.kafka")
        )
        source = (
            kafka.KafkaSource.builder()
            .set_bootstrap_servers(servers)
            .set_topics(given)
            .set_group_id("pipeline")
            .set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
            .set_value_only_deserializer(common.SimpleStringSchema())
            .build()
        )
        texts = env.from_source(source, common.WatermarkStrategy.no_watermarks(), "texts")
        keyed = texts.key_by(key_of, common.Types.STRING())
        keyed.process(counting(), common.Types.STRING()).sink_to(text_sink(servers, output, "exactly-once"))
        env.execute()


if __name__ == "__main__":
    main()
