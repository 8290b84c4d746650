"""What PyFlink's DataStream API has and Firesteel does not, each with its reason; the compatibility page is
made from it.

A name that stands here raises UnsupportedError when it is used: a module when it is imported, a class when an
object of it is made, a method when it is called. A test keeps the list and the code together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from firesteel.common.errors import UnsupportedError
from firesteel.graph.nodes import Location

NO_JVM: Final = "it hands out an object of Flink's JVM, and there is none"
NO_JARS: Final = "Flink's jars cannot run here; connectors and functions are written in Python"

OWN_PYTHON: Final = (
    "workers run the driver's Python; install what is needed there, or ship it with add_python_file"
)

GAPS: Final[dict[str, str]] = {
    "pyflink.datastream.CustomStateBackend": "it wraps a Java state backend; state is kept in LMDB, the only backend",
    "pyflink.datastream.CustomCheckpointStorage": (
        "it wraps Java checkpoint storage; give the state directory as a path or a URL (s3://, gs://, az://) instead"
    ),
    "pyflink.datastream.SourceFunction": (
        "it wraps a Java source; subclass firesteel.functions.source.Source and pass it to from_source"
    ),
    "pyflink.datastream.SourceFunction.get_java_function": NO_JVM,
    "pyflink.datastream.SinkFunction": (
        "it wraps a Java sink; subclass firesteel.functions.sink.Sink and pass it to sink_to"
    ),
    "pyflink.datastream.SinkFunction.get_java_function": NO_JVM,
    "pyflink.datastream.MemorySize.get_java_memory_size": NO_JVM,
    "pyflink.datastream.SlotSharingGroup.get_java_slot_sharing_group": NO_JVM,
    "pyflink.datastream.EmbeddedRocksDBStateBackend.set_options": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.add_jars": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.add_classpaths": NO_JARS,
    "pyflink.datastream.StreamExecutionEnvironment.set_python_requirements": OWN_PYTHON,
    "pyflink.datastream.StreamExecutionEnvironment.add_python_archive": OWN_PYTHON,
    "pyflink.datastream.StreamExecutionEnvironment.set_python_executable": OWN_PYTHON,
    "pyflink.datastream.StreamExecutionEnvironment.register_cached_file": (
        "PyFlink's functions cannot read this cache either; use add_python_file, or a path every worker can reach"
    ),
    "pyflink.datastream.StreamExecutionEnvironment.create_input": (
        "input formats are Java classes; use from_source with a source from firesteel.datastream.connectors"
    ),
}
"""Full PyFlink name -> reason."""

MODULE_GAPS: Final[dict[str, str]] = {
    "pyflink.table": "the Table API and SQL are not part of this version",
    "pyflink.fn_execution": "it is the inside of PyFlink's workers",
    "pyflink.java_gateway": NO_JVM,
    "pyflink.gen_protos": "it is the inside of PyFlink's workers",
    "pyflink.datastream.connectors.kafka": "Kafka is not part of this version",
    "pyflink.datastream.connectors.dynamic_kafka": "Kafka is not part of this version",
    "pyflink.datastream.connectors.jdbc": "databases are not part of this version",
    "pyflink.datastream.connectors.pulsar": "Pulsar is not part of this version",
    "pyflink.datastream.connectors.elasticsearch": "Elasticsearch is not part of this version",
    "pyflink.datastream.connectors.cassandra": "Cassandra is not part of this version",
    "pyflink.datastream.connectors.kinesis": "Kinesis is not part of this version",
    "pyflink.datastream.connectors.rabbitmq": "RabbitMQ is not part of this version",
    "pyflink.datastream.connectors.hybrid_source": "a source of several in a row is not part of this version",
}
"""PyFlink module (with all below it) -> reason."""

F = TypeVar("F", bound=Callable[..., Any])


class UnsupportedModuleError(UnsupportedError, ModuleNotFoundError):
    """A module of PyFlink that Firesteel does not have; also an ImportError, so that optional imports stay
    optional.
    """


def gap(name: str) -> Callable[[F], F]:
    """Decorate a method or `__init__` that stands in for the gap `name`: calling it raises UnsupportedError.

    >>> @gap("pyflink.datastream.StreamExecutionEnvironment.add_jars")
    ... def add_jars(*jars_path): ...
    >>> add_jars("my.jar")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.UnsupportedError: StreamExecutionEnvironment.add_jars is not supported...
    """
    reason = GAPS[name]

    def decorate(method: F) -> F:
        @wraps(method)
        def unsupported(*_arguments: Any, **_named: Any) -> NoReturn:
            raise UnsupportedError(
                "is not supported", who=f"{short_name(name)} ({Location.of_caller()})", hint=reason
            )

        unsupported.__dict__["__gap__"] = name
        return unsupported  # type: ignore[return-value]

    return decorate


def missing_names(module: str) -> Callable[[str], NoReturn]:
    """Return a module's `__getattr__` that raises UnsupportedError for the module's gaps, AttributeError for
    other names.
    """
    pyflink = module.replace("firesteel", "pyflink", 1)

    def getattr_(name: str) -> NoReturn:
        reason = GAPS.get(f"{pyflink}.{name}")
        if reason is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise UnsupportedError("is not supported", who=short_name(f"{pyflink}.{name}"), hint=reason)

    return getattr_


def module_gap(name: str) -> UnsupportedModuleError | None:
    """Return the error for importing the module `name` (of `pyflink` or `firesteel`), None if it is no gap."""
    pyflink = name.replace("firesteel", "pyflink", 1)
    for gap_name, reason in MODULE_GAPS.items():
        if pyflink == gap_name or pyflink.startswith(f"{gap_name}."):
            error = UnsupportedModuleError("is not supported", who=f"import {name}", hint=reason)
            error.name = name
            return error
    return None


def short_name(name: str) -> str:
    """Return a PyFlink name as programs write it.

    >>> short_name("pyflink.datastream.DataStream.map")
    'DataStream.map'
    """
    parts = name.split(".")
    return ".".join(part for index, part in enumerate(parts) if part[0].isupper() or index == len(parts) - 1)
