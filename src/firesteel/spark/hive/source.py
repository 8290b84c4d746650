"""The source of a partitioned table of Hive, of which Spark computes those partitions alone that a query needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from firesteel.common.logical_types import LogicalType, LogicalTypeRoot
from firesteel.connectors.tables.file_partitions import FilePartitions
from firesteel.connectors.tables.file_source import FileTableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.pushdowns import Condition, Partition, PartitionChoice
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.source import Split
from firesteel.spark.frames import spark_failed, stage, staging_directory
from firesteel.spark.table_connector import Place

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_R = LogicalTypeRoot
_PLAIN: Final = frozenset({_R.VARCHAR, _R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.DATE})
"""The types whose values are the same for the names of directories and for Spark."""


class HiveRows:
    """The rows of those partitions of a table that `choices` have, which Spark computes once.

    `types` are those of the partition columns. Raises ConnectorError if Spark cannot list the partitions, or cannot
    compute the rows.
    """

    def __init__(
        self,
        place: Place,
        frame: Callable[[], DataFrame],
        types: Mapping[str, LogicalType],
        choices: Sequence[PartitionChoice] = (),
    ) -> None:
        self._place = place
        self._frame = frame
        self._types = dict(types)
        self._choices = tuple(choices)

    def chosen(self, choice: PartitionChoice) -> HiveRows | None:
        """Return the rows of those partitions that a choice has; None if names do not say what the values are."""
        if any(self._types[column].root not in _PLAIN for column in choice.columns):
            return None
        return HiveRows(self._place, self._frame, self._types, (*self._choices, choice))

    @cached_property
    def partitions(self) -> list[Partition]:
        """The partitions, as the metastore has them."""
        place = self._place
        try:
            found = [row[0] for row in place.session().sql(f"SHOW PARTITIONS {place.table}").collect()]
        except Exception as error:
            raise spark_failed(error, place.who, "list the partitions of") from error
        return FilePartitions(self._types, _NULL, self._choices).among(found)

    @cached_property
    def directory(self) -> str:
        """The directory of the rows, which Spark computes when it is first asked for."""
        frame = self._frame()
        if self._choices:
            frame = frame.where(_any_of([_is_in(frame, partition) for partition in self.partitions]))
        directory = staging_directory(self._place.staging, uuid4().hex)
        stage(frame, directory, self._place.who)
        return directory


class HiveSource(ColumnSource):
    """What is read of rows: `view` reads them, when it is put where they are.

    Nothing is computed before statistics are asked for, or the source of the job.
    """

    def __init__(self, view: FileTableSource, rows: HiveRows) -> None:
        self._view = view
        self._rows = rows

    def _seen(self, view: FileTableSource | None) -> HiveSource | None:
        return None if view is None else HiveSource(view, self._rows)

    def prepared(self) -> ColumnSource:
        """Return the source of the rows' files."""
        return self._view.at(self._rows.directory)

    def partitioned(self, choice: PartitionChoice) -> ColumnSource | None:
        """Return a source of some partitions; None if the names of partitions do not say what the values are."""
        rows = self._rows.chosen(choice)
        return None if rows is None else HiveSource(self._view, rows)

    @property
    def partitions(self) -> list[Partition]:
        """Return the partitions that are read."""
        return self._rows.partitions

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns."""
        return self._seen(self._view.projected(columns))

    def with_fields(self, paths: tuple[tuple[int, ...], ...]) -> ColumnSource | None:
        """Return a source of what is at these paths."""
        return self._seen(self._view.with_fields(paths))

    def filtered(self, condition: Condition) -> ColumnSource | None:
        """Return a source that passes over some rows without the condition."""
        return self._seen(self._view.filtered(condition))

    def limited(self, rows: int) -> ColumnSource | None:
        """Return a source of the first rows of files."""
        return self._seen(self._view.limited(rows))

    def statistics(self) -> TableStatistics | None:
        """Return what is known of the rows."""
        return self.prepared().statistics()

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Never called: a job reads the source that is `prepared`."""
        raise AssertionError("a source of Hive is prepared before it is read")

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        """Never called: a job reads the source that is `prepared`."""
        raise AssertionError("a source of Hive is prepared before it is read")


def _is_in(frame: DataFrame, partition: Partition) -> Column:
    """Return whether a row is in a partition."""
    from pyspark.sql.functions import col, lit

    found = lit(True)
    for name, value in partition.items():
        column = col(f"`{name}`")
        same = column.isNull() if value is None else column == lit(value).cast(frame.schema[name].dataType)
        found = found & same
    return found


def _any_of(conditions: Sequence[Column]) -> Column:
    """Return whether any condition is TRUE; deep trees of thousands of partitions would be too much for Spark."""
    from pyspark.sql.functions import lit

    if len(conditions) < 2:
        return conditions[0] if conditions else lit(False)
    half = len(conditions) // 2
    return _any_of(conditions[:half]) | _any_of(conditions[half:])
