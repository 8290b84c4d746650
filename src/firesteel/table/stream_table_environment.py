"""StreamTableEnvironment: tables and streams in one program."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, RowType
from firesteel.common.logical_types.temporal import regular
from firesteel.common.logical_types.type_information import to_logical_type
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import Row, RowKind
from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import DataStream
from firesteel.graph import Edge
from firesteel.relational.logical import nodes
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.changelog_mode import ChangelogMode
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.expressions import col
from firesteel.table.running import plan_options
from firesteel.table.schema import Schema
from firesteel.table.statements.jobs import sink_of
from firesteel.table.stream_columns import chosen, schema_with_times
from firesteel.table.streams import STREAM, columns_of, ending, to_stream, with_origin
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
        declares others: columns by name, computed ones (also of fields that it leaves out), a watermark, and the
        record's timestamp as metadata 'rowtime'. Expressions choose and rename fields: see `stream_columns`.
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
        return self._to_stream(ending(table._plan), ChangelogMode.insert_only(), "to_data_stream")

    def to_changelog_stream(
        self,
        table: Table,
        target_schema: Schema | None = None,
        changelog_mode: ChangelogMode | None = None,
    ) -> DataStream:
        """Return the changes of a table as a stream of Rows, each with its kind.

        Columns are written to those of the schema as INSERT does it: by their places, with casts. A schema without
        columns has those of the table; its metadata 'rowtime' becomes the records' timestamp, and its primary key is
        needed for a mode that has the new rows of updates alone. All kinds of changes may come unless a mode says
        otherwise. Raises ProgramError for a table that gives others, SqlValidationError for columns that do not fit.
        """
        end = self._ending(table, target_schema)
        return self._to_stream(end, changelog_mode or ChangelogMode.all(), "to_changelog_stream")

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the rows of a table as a stream of a type whose fields are the columns, by their places.

        Raises ProgramError for a table whose rows change, and for fields of other types. Deprecated in Flink: see
        `to_data_stream`.
        """
        _require_fields(table, type_info, "to_append_stream")
        return self.to_data_stream(table).map(_plain, type_info)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Return the changes of a table as tuples: whether a row comes, and the row, of a type as `to_append_stream`.

        Deprecated in Flink: see `to_changelog_stream`.
        """
        _require_fields(table, type_info, "to_retract_stream")
        return self.to_changelog_stream(table).map(_flagged, Types.TUPLE([Types.BOOLEAN(), type_info]))

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
        if given and not isinstance(given[0], Schema):
            choices = chosen(columns_of(stream), given, method)
            schema, columns = schema_with_times(columns_of(stream), choices)
            return self._from_stream(stream, (schema,), changes, method).select(*columns)
        schema = _schema(stream, given)
        whole = _with_columns_of(stream, schema)
        identifier = self._session.unnamed()
        declared = self._described(TableDescriptor(whole, {"connector": "stream"}), identifier)
        table = with_origin(declared.table, stream, self._session.zone, changes)
        with self._session.holding(CatalogTable(table, declared.computed, declared.watermark)):
            every = self.from_path(str(identifier))
        return every if whole is schema else every.select(*map(col, schema.columns))

    def _ending(self, table: Table, schema: Schema | None) -> nodes.TableSink:
        if schema is None:
            return ending(table._plan)
        if not schema.physical:
            builder = Schema.new_builder()
            for field in table._plan.row.fields:
                if field.name not in schema.columns:
                    builder.column(field.name, DataType(regular(field.type)))
            schema = builder.from_schema(schema).build()
        identifier = self._session.unnamed(STREAM)
        described = self._described(TableDescriptor(schema, {"connector": "stream"}), identifier)
        with self._session.holding(described):
            made = sink_of(table._plan, identifier, self._session)
        assert isinstance(made, nodes.TableSink)
        return made

    def _to_stream(self, end: nodes.TableSink, changes: ChangelogMode, method: str) -> DataStream:
        environment = self._session.job_environment()
        options = plan_options(self._session)
        node, kind = to_stream(end, environment._builder, options, changes, method)
        return DataStream(environment, (Edge(node),), kind)


def _require_fields(table: Table, type_info: TypeInformation, method: str) -> None:
    """Raise ProgramError unless the fields of a type are the columns of a table."""
    wanted = to_logical_type(type_info)
    fields = wanted.fields if isinstance(wanted, RowType) else (Field("f0", wanted),)
    found = [regular(field.type).copy(True) for field in table._plan.row.fields]
    if [regular(field.type).copy(True) for field in fields] != found:
        raise ProgramError(
            f"requires the type of a row of {', '.join(map(str, found))}",
            who=call_site(method),
            got=str(type_info),
        )


def _plain(row: Row) -> Row:
    return row


def _flagged(row: Row) -> tuple[bool, Row]:
    """Return whether a row comes or goes, and the row as one that comes."""
    comes = row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
    row.set_row_kind(RowKind.INSERT)
    return comes, row


def _schema(stream: DataStream, given: tuple[Any, ...]) -> Schema:
    """Return the schema that a program gives, with the stream's columns if it declares none that are stored."""
    if len(given) > 1:
        raise ProgramError("requires one Schema, or expressions", who=call_site("from_data_stream"))
    declared = given[0] if given else Schema()
    if declared.physical:
        return declared
    builder = Schema.new_builder()
    for field in columns_of(stream):
        builder.column(field.name, DataType(field.type))
    return builder.from_schema(declared).build()


def _with_columns_of(stream: DataStream, schema: Schema) -> Schema:
    """Return a schema in which computed columns find all fields of a stream; the same one if it has them all."""
    fields = columns_of(stream)
    stored = {name for name, _ in schema.physical}
    left_out = [field for field in fields if field.name not in schema.columns]
    computes = len(schema.columns) > len(stored)
    if not left_out or not computes or not stored <= {field.name for field in fields}:
        return schema
    builder = Schema.new_builder()
    for field in left_out:
        builder.column(field.name, DataType(field.type))
    return builder.from_schema(schema).build()
