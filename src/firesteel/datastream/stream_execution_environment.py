"""The start and the end of a program: sources and `execute`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from firesteel.common.configuration import Configuration
from firesteel.common.errors import ProgramError, TypeMismatchError, UnsupportedError
from firesteel.common.excepthook import install_excepthook
from firesteel.common.job_client import JobClient
from firesteel.common.job_execution_result import JobExecutionResult
from firesteel.common.typeinfo import TypeInformation
from firesteel.common.typeinfo.collected import narrowed_integers
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.connectors.collection import CollectionSource
from firesteel.datastream import execution
from firesteel.datastream.connectors.file_sources import FileSource
from firesteel.datastream.environment_settings import EnvironmentSettings
from firesteel.datastream.formats.avro import AvroInputFormat
from firesteel.datastream.options import apply_options
from firesteel.datastream.streams.adding import add_node, declared_type
from firesteel.datastream.streams.node_settings import call_site, require_text
from firesteel.datastream.streams.plain import DataStream
from firesteel.datastream.streams.results import CloseableIterator
from firesteel.functions.source import Source
from firesteel.graph import Edge, GraphBuilder
from firesteel.graph.checks import require, shown
from firesteel.graph.operations import SourceOp

__all__ = ["StreamExecutionEnvironment"]


class StreamExecutionEnvironment(EnvironmentSettings):
    """The context of a program: creates streams from sources, and runs the operations on them.

    >>> env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    >>> env.from_collection([1, 2, 3]).map(lambda number: number + 1).get_name()
    'Map'
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        super().__init__()
        self._builder = GraphBuilder()
        if configuration is not None:
            self.configure(configuration)

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """Return a new environment with the given options, which the command line may override."""
        install_excepthook()
        return StreamExecutionEnvironment(configuration)

    def configure(self, configuration: Configuration) -> None:
        """Apply options; see `firesteel.datastream.options`. Raises ConfigurationError for invalid ones."""
        require(configuration, (Configuration,), call_site("configure"), "see Configuration.from_dict({...})")
        apply_options(self, configuration.to_dict())
        self._configuration.add_all(configuration)

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return a stream of the values of a collection, read in order by one subtask.

        Values are coerced to `type_info`: tuples become rows for a row type, and whole numbers that are too wide for
        BYTE, SHORT or INT lose their upper bits, as in Flink. Raises TypeMismatchError for values that do not fit.
        """
        who = call_site("from_collection")
        if not isinstance(collection, Iterable):
            raise ProgramError("requires a list or another iterable", who=who, got=shown(collection))
        values = list(collection)
        declared = declared_type("from_collection", type_info)
        if declared is not None:
            values = _coerced(values, declared, who)
        source = CollectionSource(values, declared)
        return self._add_source(source, None, "Collection Source", declared, parallelism=1)

    def from_source(
        self,
        source: Source[Any],
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Return a stream of the records of a source, with timestamps and watermarks by the strategy."""
        name = require_text("from_source", source_name)
        return self._add_source(source, watermark_strategy, name, type_info)

    def add_source(
        self,
        source_func: Source[Any],
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Return a stream of the records of a source, without watermarks."""
        return self._add_source(source_func, None, source_name, type_info)

    def create_input(
        self, input_format: AvroInputFormat, type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return a stream of the records of an input format, without watermarks.

        Raises UnsupportedError for other formats than those of Avro: they are classes of Java.
        """
        if not isinstance(input_format, AvroInputFormat):
            raise UnsupportedError(
                "requires an AvroInputFormat",
                who=call_site("create_input"),
                got=shown(input_format),
                hint="use from_source with a source from firesteel.datastream.connectors",
            )
        source = FileSource.for_bulk_file_format(input_format, input_format.path).build()
        declared = type_info or input_format.get_produced_type()
        return self._add_source(source, None, "Custom File Source", declared)

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run everything that was added since the last call, and wait for its end.

        Bounded sources end the job, otherwise Ctrl-C stops it at the end of an epoch. Raises the error of a failed job.
        """
        return execution.execute(self, job_name)

    def execute_async(self, job_name: str | None = "Flink Streaming Job") -> JobClient:
        """Start everything that was added since the last call, and return at once."""
        return execution.execute_async(self, job_name)

    def get_execution_plan(self) -> str:
        """Return the program that `execute` would run now, as JSON in the format of Flink's execution plan.

        It compiles the program, so it raises the same errors as `execute` for a program that is wrong.
        """
        return execution.execution_plan(self)

    def close(self) -> None:
        """Do nothing: an environment holds no resources."""

    def _collect(
        self, stream: DataStream, job_name: str | None, limit: int | None
    ) -> CloseableIterator | list[Any]:
        return execution.collect(stream, job_name, limit)

    def _add_source(
        self,
        source: Source[Any],
        strategy: WatermarkStrategy | None,
        name: str,
        type_info: TypeInformation | None,
        parallelism: int | None = None,
    ) -> DataStream:
        declared = declared_type("from_source", type_info) or getattr(source, "produced_type", None)
        operation = SourceOp(source, strategy)
        node = add_node(self._builder, operation, name, (), declared, parallelism=parallelism)
        return DataStream(self, (Edge(node),), declared)


def _coerced(values: list[Any], declared: TypeInformation, who: str) -> list[Any]:
    coerce, narrow = declared.compile_coercer(), narrowed_integers(declared.schema())
    try:
        return [coerce(value) for value in (values if narrow is None else map(narrow, values))]
    except TypeMismatchError as error:
        error.who = f"{who}, {error.who}" if error.who else who
        raise
