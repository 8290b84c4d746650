"""StreamTableEnvironment: tables and streams in one program."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import DataStream
from firesteel.graph import Edge
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.changelog_mode import ChangelogMode
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.running import plan_options
from firesteel.table.schema import Schema
from firesteel.table.streams import columns_of, to_stream, with_origin
from firesteel.table.table import Table
from firesteel.table.table_descriptor import TableDescriptor
from firesteel.table.table_environment import TableEnvironment, new_session
from firesteel.table.types import DataType

__all__ = ["StreamTableEnvironment"]


class StreamTableEnvironment(TableEnvironment):
    """A session whose jobs run in the environment of a program with streams.

    >>> from firesteel.common.typeinfo import Types
    >>> streams = StreamExecutionEnvironment.get_execution_environment()
    >>> tables = StreamTableEnvironment.create(streams)
    >>> numbers = tables.from_data_stream(streams.from_collection([1, 2], Types.LONG()))
    >>> numbers.print_schema()
    (
      `f0` BIGINT NOT NULL
    )
    """

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Return a new session."""
        environment = stream_execution_environment or StreamExecutionEnvironment()
        settings = environment_settings or EnvironmentSettings.in_streaming_mode()
        return StreamTableEnvironment(new_session(settings, environment))

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Any) -> Table:
        """Return the records of a stream as a table.

        Columns are the fields of rows and tuples, else one column `f0`; their types are those of the stream. A Schema
        declares others: columns by name, computed ones, a watermark, and the record's timestamp as metadata 'rowtime'.
        Raises ProgramError for a stream without a type, and for columns that it does not have.
        """
        return self._from_stream(data_stream, fields_or_schema, None, "from_data_stream")

    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table | DataStream, *fields_or_schema: Any
    ) -> None:
        """Give a table or a stream a name for this session."""
        if isinstance(table_or_data_stream, DataStream):
            table = self.from_data_stream(table_or_data_stream, *fields_or_schema)
            super().create_temporary_view(view_path, table)
        else:
            super().create_temporary_view(view_path, table_or_data_stream, *fields_or_schema)

    def to_data_stream(self, table: Table) -> DataStream:
        """Return the rows of a table as a stream of Rows.

        The timestamp of a record is that of the event-time column, if there is exactly one. Raises ProgramError for a
        table whose rows change: see `to_changelog_stream`.
        """
        return self._to_stream(table, changes=False)

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: object = None
    ) -> DataStream:
        """Return the changes of a table as a stream of Rows, each with its kind."""
        for value, name in ((target_schema, "a target schema"), (changelog_mode, "a changelog mode")):
            if value is not None:
                who = f"to_changelog_stream ({call_site('to_changelog_stream')})"
                raise UnsupportedError(f"with {name} is not supported yet", who=who)
        return self._to_stream(table, changes=True)

    def from_changelog_stream(
        self,
        data_stream: DataStream,
        schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> Table:
        """Return the table that a stream of changes makes; each record is a Row, whose kind is that of the change.

        The schema is as in `from_data_stream`; all kinds of changes may come unless a mode says otherwise. Raises what
        `from_data_stream` raises; ProgramError, when the table is read, for a mode with the new rows of updates alone
        and a schema without a primary key.
        """
        given = () if schema is None else (schema,)
        return self._from_stream(
            data_stream, given, changelog_mode or ChangelogMode.all(), "from_changelog_stream"
        )

    def _from_stream(
        self, stream: DataStream, given: tuple[Any, ...], changes: ChangelogMode | None, method: str
    ) -> Table:
        if not isinstance(stream, DataStream):
            raise ProgramError("requires a DataStream", who=call_site(method), got=type(stream).__name__)
        schema = _schema(stream, given)
        identifier = self._session.unnamed()
        declared = self._described(TableDescriptor(schema, {"connector": "stream"}), identifier)
        table = with_origin(declared.table, stream, self._session.zone, changes)
        with self._session.holding(CatalogTable(table, declared.computed, declared.watermark)):
            return self.from_path(str(identifier))

    def _to_stream(self, table: Table, *, changes: bool) -> DataStream:
        environment = self._session.job_environment()
        options = plan_options(self._session)
        node, kind = to_stream(table._plan, environment._builder, options, changes=changes)
        return DataStream(environment, (Edge(node),), kind)


def _schema(stream: DataStream, given: tuple[Any, ...]) -> Schema:
    """Return the schema that a program gives, with the stream's columns if it declares none that are stored."""
    if len(given) > 1 or (given and not isinstance(given[0], Schema)):
        raise UnsupportedError(
            "with expressions is not supported yet",
            who=call_site("from_data_stream"),
            hint="pass a Schema: Schema.new_builder()...build()",
        )
    declared = given[0] if given else Schema()
    if declared.physical:
        return declared
    builder = Schema.new_builder()
    for field in columns_of(stream):
        builder.column(field.name, DataType(field.type))
    return builder.from_schema(declared).build()
