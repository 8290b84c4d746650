"""What PyFlink's tests of tables import besides the API: their test cases, and the sink that keeps what it gets."""

from __future__ import annotations

import os
import sys
import uuid
from collections import Counter
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa

from firesteel.common.errors import FiresteelError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.text import printed_rows
from firesteel.common.types import RowKind
from firesteel.connectors.collect import CollectSink, register_receiver
from firesteel.connectors.tables.registry import register
from firesteel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from firesteel.functions.columns.connectors import ChangelogMode, TableConnector, TableRequest, TableSink
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.sink import Committer, SinkWriter, WriterContext
from firesteel.table import StreamTableEnvironment, Table, types
from scripts.pyflink_suite.stand_ins import SuiteBatchTestCase, SuiteEnvironmentTestCase, SuiteTestCase

_TOKEN = uuid.uuid4().hex
_SHOWN = tuple(map(str, RowKind))
_kept: list[str] = []
_NOTHING = SimpleNamespace()
_INNER_MODULES = (
    "pyflink.fn_execution",
    "pyflink.fn_execution.state_impl",
    "pyflink.serializers",
    "pyflink.table.descriptors",
)
_INNER_TYPES = (
    *("_infer_schema_from_data", "_infer_type", "_merge_type", "_create_type_verifier"),
    *("_array_signed_int_typecode_ctype_mappings", "_array_unsigned_int_typecode_ctype_mappings"),
    *("_array_type_mappings", "_from_java_data_type", "_to_java_data_type"),
    *("UserDefinedType", "RowField", "RowType", "ArrayType", "BigIntType", "VarCharType", "MapType"),
    *("ZonedTimestampType", "LocalZonedTimestampType", "Row"),
)


class _Absent(ModuleType):
    """A module of PyFlink's inside: whatever is imported from it is there, and the same thing."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name)
        self._value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._value


class SuiteTableTestCase(SuiteEnvironmentTestCase):
    """A test with an environment for tables that all tests of its class share."""

    t_env: StreamTableEnvironment

    @classmethod
    def setUpClass(cls) -> None:
        """Make the environment."""
        super().setUpClass()
        cls.t_env = StreamTableEnvironment.create(cls.env)


class SuiteBatchTableTestCase(SuiteTableTestCase, SuiteBatchTestCase):
    """The same with a batch environment."""


class SuiteOwnTableTestCase(SuiteTestCase):
    """A test with an environment for tables of its own."""

    def setUp(self) -> None:
        """Make the environment."""
        self.env = StreamExecutionEnvironment.get_execution_environment()
        self.env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
        self.env.set_parallelism(2)
        self.t_env = StreamTableEnvironment.create(self.env)


def exec_insert_table(table: Table, table_path: str) -> Any:
    """Write a table, and return the result of the job."""
    return table.execute_insert(table_path).get_job_client().get_job_execution_result().result()


def results() -> list[str]:
    """Return the rows that sinks of the kind 'test-sink' have got since the last call, as the tests write them."""
    kept, _kept[:] = [*_kept], []
    rows: Counter[str] = Counter()
    for text in kept:
        rows[text[2:]] += 1 if text[0] == "+" else -1
    return sorted(f"+I{row}" for row in rows.elements())


class KeepingConnector(TableConnector):
    """Keeps the changes that it gets, as texts, in this process."""

    name = "test-sink"

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink."""
        return TableSink(_KeepingSink(table.row), ChangelogMode.all(), adapts=True)


class _KeepingSink(ColumnSink):
    def __init__(self, row: RowType) -> None:
        self._row = row

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return _Writer(self._row, CollectSink(_TOKEN).create_writer(context))

    def create_committer(self) -> Committer:
        return CollectSink(_TOKEN).create_committer()


class _Writer(ColumnWriter):
    def __init__(self, row: RowType, writer: SinkWriter[Any]) -> None:
        self._row = row
        self._writer = writer

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        column = rows.to_struct_array()
        names = [_SHOWN[0]] * len(column) if kinds is None else [_SHOWN[kind] for kind in kinds.tolist()]
        self._writer.write(printed_rows(column, self._row, names), None)

    def prepare_commit(self) -> Sequence[Any]:
        return self._writer.prepare_commit()


def _add_parts_of_rows() -> None:
    """Let a type of rows say what its fields are, as PyFlink's own class for them does."""

    def fields(self: types.DataType) -> list[types.RowField]:
        row = self.logical_type
        assert isinstance(row, RowType)
        return [types.DataTypes.FIELD(field.name, types.DataType(field.type)) for field in row.fields]

    kind: Any = types.DataType
    kind.fields = property(fields)
    kind.names = property(lambda self: [field.name for field in fields(self)])
    kind.field_types = lambda self: [field.data_type for field in fields(self)]


def install_table_stand_ins() -> None:
    """Put the stand-ins where the tests look for them, after those of `stand_ins`."""
    register(KeepingConnector())
    register_receiver(_TOKEN, _kept.extend)
    cases = sys.modules["pyflink.testing.test_case_utils"]
    names = {
        "PyFlinkStreamTableTestCase": SuiteTableTestCase,
        "PyFlinkBatchTableTestCase": SuiteBatchTableTestCase,
        "PyFlinkUTTestCase": SuiteOwnTableTestCase,
        "exec_insert_table": exec_insert_table,
        "_load_specific_flink_module_jars": lambda _: None,
        "invoke_java_object_method": _NOTHING,
    }
    cases.__dict__.update(names)
    sink = ModuleType("pyflink.testing.source_sink_utils")
    sink.__dict__.update(results=results, retract_results=results)
    sys.modules[sink.__name__] = sink
    os.environ.setdefault("_python_worker_execution_mode", "process")
    os.environ.setdefault("_PYTHON_WORKER_MEMORY_LIMIT", "0")
    _add_parts_of_rows()
    for name in _INNER_MODULES:
        sys.modules[name] = _Absent(name, _NOTHING)
    sys.modules["pyflink.util.exceptions"] = _Absent("pyflink.util.exceptions", FiresteelError)
    for name in _INNER_TYPES:
        if not hasattr(types, name):
            setattr(types, name, type(name, (), {}))
    sys.modules["pyflink.testing"].__dict__.update(source_sink_utils=sink)
