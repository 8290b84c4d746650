"""What PyFlink's tests import besides the API: small stand-ins for its test cases and for the few Java objects it asks.

The tests reach for Flink's JVM mostly in order to set an option or to collect what a stream holds. Those places have
a stand-in here that does the same with Firesteel's objects; anything else of the JVM raises AttributeError, so a
test that needs more fails or stands in excluded.toml.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import unittest
import uuid
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import py4j.protocol

from firesteel.common import Configuration, ExecutionConfig, Row, SimpleStringSchema, WatermarkStrategy
from firesteel.common.errors import FiresteelError
from firesteel.common.serialization import ByteArraySchema, RowFieldExtractorSchema
from firesteel.common.typeinfo import TypeInformation
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkOutput
from firesteel.connectors.collect import CollectSink, register_receiver, unregister_receiver
from firesteel.datastream import JobManagerCheckpointStorage, RuntimeExecutionMode, StreamExecutionEnvironment
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext
from firesteel.table.catalog.memory import GenericInMemoryCatalog


class SuiteTestCase(unittest.TestCase):
    """A test with a directory for its files."""

    tempdir: str

    @classmethod
    def setUpClass(cls) -> None:
        """Make the directory."""
        cls.tempdir = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls) -> None:
        """Remove the directory."""
        shutil.rmtree(cls.tempdir, ignore_errors=True)

    @classmethod
    def assert_equals(cls, actual: list[Any], expected: list[Any]) -> None:
        """Compare without regard to order."""
        assert sorted(actual) == sorted(expected)


class SuiteEnvironmentTestCase(SuiteTestCase):
    """A test with an environment that all tests of its class share."""

    mode = RuntimeExecutionMode.STREAMING
    env: StreamExecutionEnvironment

    @classmethod
    def setUpClass(cls) -> None:
        """Make the environment."""
        super().setUpClass()
        cls.env = StreamExecutionEnvironment.get_execution_environment()
        cls.env.set_parallelism(2)
        cls.env.set_runtime_mode(cls.mode)


class SuiteBatchTestCase(SuiteEnvironmentTestCase):
    """The same with a batch environment."""

    mode = RuntimeExecutionMode.BATCH


class TestSink(Sink[Any]):
    """Hands over what a stream holds, as Python objects and as Java would print them."""

    __test__ = False

    def __init__(self, token: str = "", type_info: TypeInformation | None = None) -> None:
        self.token = token or uuid.uuid4().hex
        self._type_info = type_info
        self._results: list[tuple[str, Any]] = []
        if not token:
            register_receiver(self.token, self._results.extend)

    def __getstate__(self) -> dict[str, Any]:
        return {"token": self.token, "_type_info": self._type_info, "_results": []}

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """Return the same sink with the records' type."""
        return TestSink(self.token, type_info)

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        """Return a writer that adds each value's text."""
        text = str if self._type_info is None else self._type_info.to_string
        return _TextWriter(CollectSink(self.token).create_writer(context), text)

    def create_committer(self) -> Committer:
        """Return the committer of a collecting sink."""
        return CollectSink(self.token).create_committer()

    def get_results(self, is_python_object: bool = False, stringify: bool = True) -> list[Any]:
        """Return what has come since the last call."""
        results, self._results[:] = list(self._results), []
        if not is_python_object:
            return [text for text, _ in results]
        return [str(value) if stringify else value for _, value in results]

    def clear(self) -> None:
        """Take no more results."""
        unregister_receiver(self.token)


class _TextWriter(SinkWriter[Any]):
    def __init__(self, writer: SinkWriter[Any], text: Callable[[Any], str]) -> None:
        self._writer = writer
        self._text = text

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self._writer.write([(self._text(value), value) for value in values], timestamps)

    def prepare_commit(self) -> Sequence[Any]:
        return self._writer.prepare_commit()


class SecondColumnTimestampAssigner(TimestampAssigner):
    """Takes the second field as the timestamp."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the second field."""
        return int(value[1])


class PerElementWatermarks(WatermarkGenerator):
    """Emits each element's timestamp as a watermark at once."""

    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        """Emit the timestamp."""
        output.emit_watermark(timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit nothing."""


class _Options:
    """An environment's options in the form of Flink's Java configuration."""

    def __init__(self, env: StreamExecutionEnvironment) -> None:
        self.env = env

    def setString(self, key: str, value: str) -> None:  # noqa: N802
        self.env.configure(Configuration().set_string(key, value))

    def getValue(self, key: str) -> str:  # noqa: N802
        return {"execution.runtime-mode": self.env._runtime_mode.name}[key]


class _JavaRow(Row):
    def setField(self, position: int, value: Any) -> None:  # noqa: N802
        self[position] = value


class _JavaSchema:
    """A serialization schema as Java sees it."""

    def __init__(self, schema: Any) -> None:
        self.serialize = schema.serialize
        self.deserialize = getattr(schema, "deserialize", None)
        self._schema = schema

    def getFieldIndex(self) -> int:  # noqa: N802
        index: int = self._schema._field_index
        return index

    def equals(self, other: _JavaSchema) -> bool:
        return bool(self._schema == other._schema)

    def hashCode(self) -> int:  # noqa: N802
        return hash(self._schema)


def _namespace(objects: dict[str, Any]) -> SimpleNamespace:
    """Return nested namespaces in which each dotted name finds its object."""
    root = SimpleNamespace()
    for name, value in objects.items():
        *path, last = name.split(".")
        place = root
        for part in path:
            if not hasattr(place, part):
                setattr(place, part, SimpleNamespace())
            place = getattr(place, part)
        setattr(place, last, value)
    return root


def _gateway() -> SimpleNamespace:
    flink = "org.apache.flink"
    eventtime = f"{flink}.streaming.api.functions.python.eventtime"
    storage = f"{flink}.runtime.state.storage.JobManagerCheckpointStorage"
    execution = f"{flink}.api.common.ExecutionConfig"
    objects = {
        f"{flink}.configuration.ExecutionOptions.RUNTIME_MODE": "execution.runtime-mode",
        f"{flink}.api.common.eventtime.WatermarkStrategy.forGenerator": lambda supplier: supplier,
        f"{eventtime}.PerElementWatermarkGenerator.getSupplier": lambda: PerElementWatermarks,
        f"{storage}.DEFAULT_MAX_STATE_SIZE": JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE,
        f"{execution}.PARALLELISM_DEFAULT": ExecutionConfig.PARALLELISM_DEFAULT,
        f"{execution}.PARALLELISM_UNKNOWN": ExecutionConfig.PARALLELISM_UNKNOWN,
        "GenericInMemoryCatalog": GenericInMemoryCatalog,
        f"{flink}.types.Row": lambda arity: _JavaRow(*[None] * arity),
    }
    return SimpleNamespace(jvm=_namespace(objects))


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []  # it may be a package as well
    module.__dict__.update(names)
    return module


def _configuration(self: Configuration, other: Any = None, j_configuration: _Options | None = None) -> None:
    """Make a configuration, or one that is that of an environment."""
    _plain_configuration(self, other)
    if j_configuration is not None:
        self._entries = j_configuration.env._configuration._entries


_plain_configuration = Configuration.__init__


def install_stand_ins() -> None:
    """Put the stand-ins where the tests look for them."""
    absent = SimpleNamespace()
    modules = [
        _module("pyflink.java_gateway", get_gateway=_gateway),
        _module("pyflink.util"),
        _module(
            "pyflink.util.java_utils",
            get_j_env_configuration=_Options,
            load_java_class=absent,
            is_instance_of=absent,
            get_field_value=absent,
        ),
        _module("pyflink.testing"),
        _module(
            "pyflink.testing.test_case_utils",
            PyFlinkTestCase=SuiteTestCase,
            PyFlinkStreamingTestCase=SuiteEnvironmentTestCase,
            PyFlinkBatchTestCase=SuiteBatchTestCase,
            PythonAPICompletenessTestCase=type("CompletenessTestCase", (), {"test_completeness": None}),
            exec_insert_table=absent,
        ),
        _module(
            "pyflink.datastream.tests.test_util",
            DataStreamTestSinkFunction=TestSink,
            SecondColumnTimestampAssigner=SecondColumnTimestampAssigner,
        ),
        _module(
            "pyflink.pyflink_gateway_server",
            on_windows=lambda: False,
            get_log_dir=absent,
            prepare_environment_variables=absent,
        ),
        _module("pyflink.find_flink_home", _find_flink_source_root=absent),
        _module("pyflink.datastream.connectors.kafka", FlinkKafkaConsumer=absent),
    ]
    for module in modules:
        sys.modules[module.__name__] = module
    for module_name, name in (("typeinfo", "_from_java_type"), ("state_backend", "_from_j_state_backend")):
        parent = "common" if module_name == "typeinfo" else "datastream"
        setattr(sys.modules[f"firesteel.{parent}.{module_name}"], name, absent)
    for schema in (SimpleStringSchema, ByteArraySchema, RowFieldExtractorSchema):
        schema._j_serialization_schema = schema._j_deserialization_schema = property(_JavaSchema)  # type: ignore[union-attr]
    StreamExecutionEnvironment._j_stream_execution_environment = property(lambda env: env)  # type: ignore[attr-defined]
    Configuration.__init__ = _configuration  # type: ignore[method-assign,assignment]
    py4j.protocol.Py4JJavaError = FiresteelError
    os.environ.setdefault("PYTHONHASHSEED", "0")


__all__ = ["WatermarkStrategy", "install_stand_ins"]
