"""The connector 'spark': whatever Spark can read or write, as bounded input or as the output of a bounded job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import uuid4

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.files.systems import parent_of, system_of
from firesteel.connectors.tables.file_sink import FileTableSink
from firesteel.connectors.tables.filesystem import FilesystemConnector
from firesteel.connectors.tables.options import Options, choice, text
from firesteel.connectors.tables.overwriting import UNTIL_THE_END, Overwrite
from firesteel.functions.columns.connectors import (
    KnownOption,
    TableConnector,
    TableRequest,
    TableSink,
    TableSource,
)
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter
from firesteel.functions.sink import CarryOut, Committer, Leftovers, WriterContext
from firesteel.spark.frames import (
    active_session,
    loaded,
    selected,
    spark_failed,
    stage,
    staging_directory,
)
from firesteel.spark.hive.sessions import hive_session
from firesteel.spark.micros import MicrosWriter, in_micros

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLE: Final = text("table", "The name of a table or a view that Spark's catalog knows.")
_FORMAT: Final = text(
    "format", "A data source of Spark, instead of `table`.", "parquet, delta, iceberg, jdbc, ..."
)
_PATH: Final = text("path", "The path that this data source reads or writes.")
STAGING: Final = text(
    "staging.path",
    "A directory that all workers share, for rows on their way from and to Spark. On one machine it is not needed.",
)
_MODE: Final = choice(
    "sink.mode",
    *("append", "overwrite", "error", "ignore"),
    about="What becomes of rows that are there when a job ends.",
).by_default("append")
_OPTION: Final = "option."
_WRITTEN: Final = "_WRITTEN"


@dataclass(frozen=True)
class Place:
    """A table or a data source of Spark, and where rows wait on their way; picklable.

    A table of Hive is in the metastore of `conf_dir` (None: that of Spark's configuration). `mode` is what becomes of
    rows that are there.
    """

    table: str | None
    form: str | None = None
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    staging: str | None = None
    who: str = ""
    mode: str = "append"
    hive: bool = False
    conf_dir: str | None = None

    def session(self) -> SparkSession:
        """Return a session that has the table."""
        return hive_session(self.conf_dir, self.who) if self.hive else active_session()


class SparkConnector(TableConnector):
    """Reads a table, a view or a data source of Spark, once, when the job begins; writes when a BATCH job ends.

    Options of the data source are those that begin with `option.`, for example `option.header`. The columns are found
    by their names. The session is the one that is active, or a new one.
    """

    name = "spark"
    options: ClassVar[Sequence[KnownOption]] = (_TABLE, _FORMAT, _PATH, STAGING, _MODE)

    def source(self, table: TableRequest) -> TableSource:
        """Return the source of the rows that there are now."""
        place, flat = self.place(table)
        directory = staging_directory(place.staging, uuid4().hex)
        stage(self.frame(place, flat), directory, table.who)
        return FilesystemConnector().source(staged(flat, directory))

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink, which takes inserts of a bounded job."""
        if not table.bounded:
            raise UnsupportedError(
                "cannot be written in STREAMING mode",
                who=table.who,
                hint="write files, a database or Kafka, which take the rows of each epoch",
            )
        place, flat = self.place(table)
        directory, row = staging_directory(place.staging, uuid4().hex), in_micros(table.row)
        made = FilesystemConnector().sink(staged(replace(flat, row=row), directory))
        assert isinstance(made.sink, FileTableSink)
        return replace(made, sink=_SparkSink(made.sink.overwriting(), row, place, directory))

    def place(self, table: TableRequest) -> tuple[Place, TableRequest]:
        """Return where the rows of a table are, and the table as it is staged, which has no partitions.

        Raises ConfigurationError for options that it cannot have, UnsupportedError for columns that it cannot have.
        """
        given = {key: value for key, value in table.options.items() if not key.startswith(_OPTION)}
        options = Options(given, table.who, self.name)
        place = Place(
            options.get(_TABLE),
            options.get(_FORMAT),
            options.get(_PATH),
            {
                key.removeprefix(_OPTION): value
                for key, value in table.options.items()
                if key.startswith(_OPTION)
            },
            options.get(STAGING),
            table.who,
            options.get(_MODE),
        )
        options.finish()
        if (place.table is None) is (place.form is None):
            raise ConfigurationError(
                "requires one of the options 'table' and 'format'",
                who=table.who,
                got="neither" if place.table is None else "both",
            )
        if table.metadata or table.partition_keys:
            raise UnsupportedError("has no metadata and no PARTITIONED BY", who=table.who)
        return place, table

    def frame(self, place: Place, table: TableRequest) -> DataFrame:
        """Return the columns of a table, which Spark computes."""
        frame = loaded(place.session(), place.table, place.form, place.path, dict(place.options), table.who)
        return selected(frame, table.row.field_names, table.who)


def staged(table: TableRequest, directory: str) -> TableRequest:
    """Return a table as its rows are on their way: in Parquet files of a directory."""
    return replace(table, options={"path": directory, "format": "parquet"}, primary_key=None)


class _SparkSink(ColumnSink):
    """Writes hidden files until the job's last epoch, whose commit lets Spark write their rows."""

    writes_at_end = True
    holds_output_back = True

    def __init__(self, files: FileTableSink, row: RowType, place: Place, directory: str) -> None:
        self._files = files
        self._row = row
        self._place = place
        self._directory = directory

    def overwriting(self) -> ColumnSink:
        """Return a sink that replaces the rows of the table."""
        return _SparkSink(self._files, self._row, replace(self._place, mode="overwrite"), self._directory)

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        return MicrosWriter(self._files.create_writer(context), self._row)

    def create_committer(self) -> Committer:
        return _SparkCommitter(self._files.create_committer(), self._row, self._place, self._directory)


class _SparkCommitter(Committer):
    """Makes the files visible, and lets Spark write their rows, once: a file says that it has been done."""

    def __init__(self, files: Committer, row: RowType, place: Place, directory: str) -> None:
        self._files = files
        self._row = row
        self._place = place
        self._directory = directory

    def use_workers(self, carry_out: CarryOut) -> None:
        """Let workers make what is heavy of the files."""
        self._files.use_workers(carry_out)

    def commit(self, committables: Sequence[Any]) -> None:
        self._files.commit(committables)
        if not any(isinstance(given, Overwrite) for given in committables):
            return
        parts = UNTIL_THE_END.units([given for given in committables if not isinstance(given, Overwrite)])
        # A job that is resumed commits what an earlier process prepared, in that one's directory.
        directory = next((parent_of(part.final) for part in parts if part.final), self._directory)
        done, files = f"{directory}/{_WRITTEN}", system_of(directory)
        if files.missing([done]):
            self._write([part.final for part in parts if part.final])
            files.make_directory(directory)
            files.replace(done, b"")

    def _write(self, paths: list[str]) -> None:
        from pyspark.sql.functions import lit
        from pyspark.sql.pandas.types import from_arrow_schema

        place, session = self._place, self._place.session()
        schema = from_arrow_schema(to_arrow_schema(self._row), prefer_timestamp_ntz=True)
        # createDataFrame would make its session the active one.
        nothing = (lit(None).cast(field.dataType).alias(field.name) for field in schema)
        try:
            frame = (
                session.read.schema(schema).parquet(*paths) if paths else session.range(0).select(*nothing)
            )
            writer = frame.write.mode(place.mode).options(**place.options)
            if place.table is None:
                writer.format(place.form or "").save(place.path)
            elif session.catalog.tableExists(place.table):
                frame = frame.select(*session.table(place.table).columns)
                frame.write.insertInto(place.table, overwrite=place.mode == "overwrite")
            else:
                writer.saveAsTable(place.table)
        except Exception as error:
            raise spark_failed(error, place.who, "write") from error

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the hidden files of failed attempts."""
        self._files.discard(leftovers)
