"""The environments of both systems, made by PyFlink's names.

PyFlink is set in its favour: object reuse, large bundles, no checkpoints where it does not need them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bench.sql_systems import FIRESTEEL, JARS, PARALLELISM

CHECKPOINTS: Final = {"execution.checkpointing.interval": "1 s"}
"""Without them PyFlink writes nothing exactly once."""

_PYFLINK: Final = {
    "pipeline.object-reuse": "true",
    "python.fn-execution.bundle.size": "100000",
    "python.fn-execution.bundle.time": "1000",
    "taskmanager.memory.process.size": "4g",
    "execution.checkpointing.checkpoints-after-tasks-finish": "true",
}
_PROMPT: Final = {"python.fn-execution.bundle.time": "10", "execution.buffer-timeout.interval": "5 ms"}


def adopt(system: str) -> None:
    """Have `pyflink` stand for a system; call it first."""
    if system == FIRESTEEL.name:
        importlib.import_module("firesteel.datastream.pyflink_alias").install_pyflink_alias()


def configuration(
    system: str, scratch: Path, flink: Mapping[str, str] | None = None, *, prompt: bool = False
) -> Any:
    """Return the configuration of a system; `flink` is for PyFlink alone, with `prompt` it holds nothing back."""
    given = {"parallelism.default": PARALLELISM, "table.exec.resource.default-parallelism": PARALLELISM}
    if system == FIRESTEEL.name:
        given |= {
            "firesteel.master": f"local[{PARALLELISM},4]",
            "firesteel.state-dir": str(scratch / "state"),
        }
    else:
        given |= _PYFLINK | (_PROMPT if prompt else {}) | dict(flink or {})
        given["pipeline.jars"] = os.environ[JARS]
    made = importlib.import_module("pyflink.common").Configuration()
    for key, value in given.items():
        made.set_string(key, value)
    return made


def streams(given: Any) -> Any:
    """Return an environment for streams."""
    return importlib.import_module("pyflink.datastream").StreamExecutionEnvironment.get_execution_environment(
        given
    )


def tables(given: Any) -> Any:
    """Return an environment for tables, in STREAMING mode."""
    table = importlib.import_module("pyflink.table")
    settings = table.EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(given)
    return table.TableEnvironment.create(settings.build())


def text_sink(servers: str, topic: str, guarantee: str) -> Any:
    """Return a sink of texts into a topic; `guarantee` is "exactly-once" or "at-least-once"."""
    common, base = map(importlib.import_module, ("pyflink.common", "pyflink.datastream.connectors.base"))
    kafka = importlib.import_module("pyflink.datastream.connectors.kafka")
    schema = (
        kafka.KafkaRecordSerializationSchema.builder()
        .set_topic(topic)
        .set_value_serialization_schema(common.SimpleStringSchema())
        .build()
    )
    return (
        kafka.KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(schema)
        .set_delivery_guarantee(base.DeliveryGuarantee[guarantee.upper().replace("-", "_")])
        .set_transactional_id_prefix(topic)
        .set_property("transaction.timeout.ms", "60000")
        .build()
    )
