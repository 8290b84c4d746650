"""The connector 'hive': tables of Hive, which Spark reads and writes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.file_source import FileTableSource
from firesteel.connectors.tables.filesystem import FilesystemConnector
from firesteel.connectors.tables.options import Options, text
from firesteel.functions.columns.connectors import TableRequest, TableSource
from firesteel.spark.frames import loaded, row_of_frame
from firesteel.spark.hive.sessions import hive_session
from firesteel.spark.hive.source import HiveRows, HiveSource
from firesteel.spark.micros import in_micros
from firesteel.spark.table_connector import STAGING, Place, SparkConnector, staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TABLE: Final = "hive.table"
CONF_DIR: Final = "hive.conf-dir"

_TABLE: Final = text(TABLE, "The database and the table in the metastore.", "`database`.`table`").needed()
_CONF_DIR: Final = text(
    CONF_DIR, "The directory of hive-site.xml; without it the metastore is that of Spark's configuration."
)
_STREAMING: Final = "streaming-source.enable"
_NOWHERE: Final = "/nowhere"
"""Where the rows of a partitioned table are before it is known which are needed."""


class HiveConnector(SparkConnector):
    """Reads a table of Hive, once, when the job begins; writes when a BATCH job ends, each row to its partition.

    `HiveCatalog` gives its tables these options; others, which Hive keeps of every table, mean nothing here.
    """

    name = "hive"
    options = (_TABLE, _CONF_DIR, STAGING)

    def place(self, table: TableRequest) -> tuple[Place, TableRequest]:
        """Return where the rows of a table are, and the table as it is staged: partition columns are like others."""
        if table.options.get(_STREAMING, "false").lower() == "true":
            raise UnsupportedError(
                "cannot be read as it grows",
                who=f"{table.who}, option {_STREAMING!r}",
                hint="a table of Hive is bounded input; read files with 'connector' = 'filesystem' and "
                "'source.monitor-interval'",
            )
        options = Options(table.options, table.who, self.name)
        found = Place(
            options.get(_TABLE),
            staging=options.get(STAGING),
            who=table.who,
            hive=True,
            conf_dir=options.get(_CONF_DIR),
        )
        return found, replace(table, partition_keys=())

    def source(self, table: TableRequest) -> TableSource:
        """Return the source of the rows that there are now, of a partitioned table those of the partitions needed."""
        if not table.partition_keys:
            return super().source(table)
        place, flat = self.place(table)
        types = {field.name: field.type for field in table.row.fields if field.name in table.partition_keys}
        rows = HiveRows(place, lambda: self.frame(place, flat), types)
        made = FilesystemConnector().source(staged(flat, _NOWHERE))
        assert isinstance(made.source, FileTableSource)
        return replace(made, source=HiveSource(made.source, rows))

    def truncate(self, table: TableRequest) -> None:
        """Raise UnsupportedError: Flink's connector does not remove rows either (HiveTableSink)."""
        raise UnsupportedError(
            "cannot be truncated: connector 'hive' does not do that, as in Flink",
            who=table.who,
            hint="INSERT OVERWRITE with a query without rows empties a table"
            if not table.partition_keys
            else "ALTER TABLE ... DROP PARTITION removes partitions",
        )

    def frame(self, place: Place, table: TableRequest) -> DataFrame:
        """Return the columns of a table: TIMESTAMP has no time zone here, as in Hive, and one in Spark."""
        from pyspark.sql.functions import col
        from pyspark.sql.pandas.types import from_arrow_schema

        found = super().frame(place, table)
        types = from_arrow_schema(to_arrow_schema(in_micros(table.row)), prefer_timestamp_ntz=True)
        return found.select(*(col(f"`{one.name}`").cast(one.dataType).alias(one.name) for one in types))


def row_of_table(name: str, conf_dir: str | None, who: str) -> RowType:
    """Return the type of the rows of a table, as Spark has it. Raises as `hive_session` and `loaded`."""
    return row_of_frame(loaded(hive_session(conf_dir, who), name, None, None, {}, who))
