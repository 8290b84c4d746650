"""The metastore of Hive, by Hive's own client in Spark's JVM (HiveMetaStoreClient).

Contract: answers are data, nothing of the JVM. What is not there is None; an error of the metastore is a ConnectorError
with its message. A connection that was lost is made again, once for each question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from firesteel.common.errors import ConnectorError
from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.spark.errors import first_cause
from firesteel.spark.frames import active_session
from firesteel.spark.hive.objects import (
    VIEW,
    HiveColumn,
    HiveDatabase,
    HivePartition,
    HiveStorage,
    HiveTable,
)
from firesteel.spark.hive.sessions import hive_conf
from firesteel.spark.hive.statistics import known_of, statistics_of

_MISSING: Final = frozenset({"NoSuchObjectException", "UnknownDBException", "UnknownTableException"})
_LOST: Final = "TTransportException"
_ALL: Final = -1

T = TypeVar("T")
Statistics = Mapping[str, ColumnStatistics]
"""What is known of columns, by their names."""


class Metastore:
    """Asks and changes the metastore that `conf_dir`/hive-site.xml names; None: that of Spark's configuration.

    `who` is the catalog in errors. Raises as `hive_conf`, and ConnectorError if the metastore cannot be reached.
    """

    def __init__(self, conf_dir: str | None, who: str) -> None:
        self._who = who
        self._conf = hive_conf(conf_dir, who)
        context: Any = active_session().sparkContext
        self._jvm: Any = context._jvm
        metastore: Any = self._jvm.org.apache.hadoop.hive.metastore
        self._api = metastore.api
        self._client: Any = None
        self._client = self._ask(lambda _: metastore.HiveMetaStoreClient(self._conf))

    def _ask(self, question: Callable[[Any], T]) -> T:
        found = self._find(question)
        if isinstance(found, _Missing):
            raise self._failed(found.error) from found.error
        return found

    def _find(self, question: Callable[[Any], T]) -> T | _Missing:
        """Return an answer, or that what is asked for is not there."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            try:
                return question(self._client)
            except Py4JJavaError as error:
                if self._client is None or _name(error) != _LOST:
                    raise
                self._client.reconnect()
                return question(self._client)
        except Py4JJavaError as error:
            if _name(error) in _MISSING:
                return _Missing(error)
            raise self._failed(error) from error
        except (Py4JError, OSError) as error:  # the JVM has ended
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> ConnectorError:
        return ConnectorError(
            "requires that the metastore does it",
            who=self._who,
            got=first_cause(str(error)),
            details=str(error),
        )

    # --- databases ---

    def databases(self) -> list[str]:
        """Return the names of the databases."""
        return sorted(self._ask(lambda client: client.getAllDatabases()))

    def database(self, name: str) -> HiveDatabase | None:
        """Return a database."""
        found = self._find(lambda client: client.getDatabase(name))
        if isinstance(found, _Missing):
            return None
        return HiveDatabase(dict(found.getParameters() or {}), found.getDescription(), found.getLocationUri())

    def create_database(self, name: str, database: HiveDatabase) -> None:
        """Add a database."""
        made = self._api.Database(name, database.comment, database.location, dict(database.parameters))
        self._ask(lambda client: client.createDatabase(made))

    def alter_database(self, name: str, database: HiveDatabase) -> None:
        """Give a database other parameters, another comment and, if it has one, another location."""
        found = self._ask(lambda client: client.getDatabase(name))
        found.setParameters(dict(database.parameters))
        found.setDescription(database.comment)
        if database.location is not None:
            found.setLocationUri(database.location)
        self._ask(lambda client: client.alterDatabase(name, found))

    def drop_database(self, name: str) -> None:
        """Remove a database, which is empty, with its directory."""
        self._ask(lambda client: client.dropDatabase(name, True, False, False))

    # --- tables and views ---

    def tables(self, database: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        return sorted(self._ask(lambda client: client.getAllTables(database)))

    def views(self, database: str) -> list[str]:
        """Return the names of the views of a database."""
        names = self.tables(database)
        found = self._ask(lambda client: client.getTableObjectsByName(database, names))
        return sorted(table.getTableName() for table in found if table.getTableType() == VIEW)

    def table(self, database: str, name: str) -> HiveTable | None:
        """Return a table or a view."""
        found = self._find(lambda client: client.getTable(database, name))
        if isinstance(found, _Missing):
            return None
        is_view = found.getTableType() == VIEW
        texts = (found.getViewOriginalText(), found.getViewExpandedText()) if is_view else None
        return HiveTable(
            dict(found.getParameters() or {}),
            _columns(found.getSd().getCols()),
            _columns(found.getPartitionKeys()),
            found.getTableType(),
            texts,
        )

    def has_table(self, database: str, name: str) -> bool:
        """Return whether there is a table or a view of this name."""
        found = self._find(lambda client: client.tableExists(database, name))
        return not isinstance(found, _Missing) and found

    def create_table(self, database: str, name: str, table: HiveTable, storage: HiveStorage) -> None:
        """Add a table or a view."""
        made = self._jvm.org.apache.hadoop.hive.ql.metadata.Table.getEmptyTable(database, name)
        made.setCreateTime(int(time.time()))
        self._store(made.getSd(), storage)
        self._describe(made, table)
        self._ask(lambda client: client.createTable(made))

    def alter_table(self, database: str, name: str, table: HiveTable) -> None:
        """Put another definition in the place of that of a table or a view, which is stored as before."""
        found = self._ask(lambda client: client.getTable(database, name))
        self._describe(found, table)
        self._ask(lambda client: client.alter_table(database, name, found))

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Give a table or a view another name in its database."""
        found = self._ask(lambda client: client.getTable(database, name))
        found.setTableName(new_name)
        self._ask(lambda client: client.alter_table(database, name, found))

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table or a view, with its files if it is no external one."""
        self._ask(lambda client: client.dropTable(database, name, True, False))

    def _describe(self, made: Any, table: HiveTable) -> None:
        made.setParameters(dict(table.parameters))
        made.setTableType(table.kind)
        made.getSd().setCols(self._fields(table.columns))
        made.setPartitionKeys(self._fields(table.partition_columns))
        if table.texts is not None:
            made.setViewOriginalText(table.texts[0])
            made.setViewExpandedText(table.texts[1])

    def _fields(self, columns: Sequence[HiveColumn]) -> list[Any]:
        return [self._api.FieldSchema(*column) for column in columns]

    def _store(self, made: Any, storage: HiveStorage) -> None:
        form = storage.file_format
        if form is None and storage.input_format is None:
            form = self._conf.get("hive.default.fileformat", "TextFile")
        serializer = made.getSerdeInfo()
        serializer.setSerializationLib(self._conf.get("hive.default.serde"))
        if form is not None:
            known = self._jvm.org.apache.hadoop.hive.ql.io.StorageFormatFactory().get(form)
            if known is None:
                raise ConnectorError("requires a format of files that Hive knows", who=self._who, got=form)
            made.setInputFormat(known.getInputFormat())
            made.setOutputFormat(known.getOutputFormat())
            if known.getSerde() is not None:
                serializer.setSerializationLib(known.getSerde())
        if storage.input_format is not None:
            made.setInputFormat(storage.input_format)
            made.setOutputFormat(storage.output_format)
        if storage.serializer is not None:
            serializer.setSerializationLib(storage.serializer)
        serializer.getParameters().update(dict(storage.serializer_parameters))
        if storage.location is not None:
            made.setLocation(storage.location)

    # --- partitions ---

    def partitions(self, database: str, name: str, values: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the partitions of a table that have some values, as values by columns."""
        table = self._ask(lambda client: client.getTable(database, name))
        keys = [field.getName() for field in table.getPartitionKeys()]
        wanted = [values.get(key, "") for key in keys]
        found = self._ask(lambda client: client.listPartitionNames(database, name, wanted, _ALL))
        warehouse = self._jvm.org.apache.hadoop.hive.metastore.Warehouse
        return [dict(warehouse.makeSpecFromName(one)) for one in found]

    def partition(self, database: str, name: str, values: Sequence[str]) -> HivePartition | None:
        """Return the partition that has these values, in the order of the columns."""
        found = self._find(lambda client: client.getPartition(database, name, list(values)))
        if isinstance(found, _Missing):
            return None
        return HivePartition(dict(found.getParameters() or {}), found.getSd().getLocation())

    def create_partition(
        self, database: str, name: str, values: Sequence[str], partition: HivePartition
    ) -> None:
        """Add a partition, whose rows are stored as those of the table."""
        table = self._ask(lambda client: client.getTable(database, name))
        made, now = self._api.Partition(), int(time.time())
        made.setDbName(table.getDbName())
        made.setTableName(table.getTableName())
        made.setValues(list(values))
        made.setCreateTime(now)
        made.setLastAccessTime(now)
        made.setSd(table.getSd().deepCopy())
        made.getSd().setLocation(partition.location)
        made.setParameters(dict(partition.parameters))
        self._ask(lambda client: client.add_partition(made))

    def alter_partition(
        self, database: str, name: str, values: Sequence[str], partition: HivePartition
    ) -> None:
        """Give a partition other parameters and, if it has one, another location."""
        found = self._ask(lambda client: client.getPartition(database, name, list(values)))
        found.setParameters(dict(partition.parameters))
        if partition.location is not None:
            found.getSd().setLocation(partition.location)
        self._ask(lambda client: client.alter_partition(database, name, found))

    def drop_partition(self, database: str, name: str, values: Sequence[str]) -> None:
        """Remove a partition, with its files if the table is no external one."""
        self._ask(lambda client: client.dropPartition(database, name, list(values), True))

    # --- functions ---

    def functions(self, database: str) -> list[str]:
        """Return the names of the functions of a database."""
        return sorted(self._ask(lambda client: client.getFunctions(database, "*")))

    def function(self, database: str, name: str) -> str | None:
        """Return the class of a function."""
        found = self._find(lambda client: client.getFunction(database, name))
        return None if isinstance(found, _Missing) else str(found.getClassName())

    def create_function(self, database: str, name: str, class_name: str) -> None:
        """Add a function."""
        made = self._function(database, name, class_name)
        self._ask(lambda client: client.createFunction(made))

    def alter_function(self, database: str, name: str, class_name: str) -> None:
        """Give a function another class."""
        made = self._function(database, name, class_name)
        self._ask(lambda client: client.alterFunction(database, name, made))

    def drop_function(self, database: str, name: str) -> None:
        """Remove a function."""
        self._ask(lambda client: client.dropFunction(database, name))

    def _function(self, database: str, name: str, class_name: str) -> Any:
        api = self._api
        owner, kind = api.PrincipalType.GROUP, api.FunctionType.JAVA
        return api.Function(name, database, class_name, None, owner, int(time.time()), kind, [])

    # --- statistics of columns ---

    def table_statistics(self, database: str, name: str) -> Statistics:
        """Return what is known of the columns of a table."""
        table = self._ask(lambda client: client.getTable(database, name))
        names = [field.getName() for field in table.getSd().getCols()]
        return known_of(self._ask(lambda client: client.getTableColumnStatistics(database, name, names)))

    def keep_table_statistics(self, database: str, name: str, known: Statistics) -> None:
        """Keep what is known of the columns of a table."""
        table = self._ask(lambda client: client.getTable(database, name))
        target = self._api.ColumnStatisticsDesc(True, table.getDbName(), table.getTableName())
        made = statistics_of(known, _columns(table.getSd().getCols()), target, self._jvm)
        if made is not None:
            self._ask(lambda client: client.updateTableColumnStatistics(made))

    def partition_statistics(self, database: str, name: str, values: Sequence[str]) -> Statistics:
        """Return what is known of the columns of a partition."""
        table = self._ask(lambda client: client.getTable(database, name))
        names, directory = (
            [field.getName() for field in table.getSd().getCols()],
            self._directory(table, values),
        )
        found = self._ask(
            lambda client: client.getPartitionColumnStatistics(database, name, [directory], names)
        )
        return known_of(found.get(directory) or [])

    def keep_partition_statistics(
        self, database: str, name: str, values: Sequence[str], known: Statistics
    ) -> None:
        """Keep what is known of the columns of a partition."""
        table = self._ask(lambda client: client.getTable(database, name))
        target = self._api.ColumnStatisticsDesc(False, table.getDbName(), table.getTableName())
        target.setPartName(self._directory(table, values))
        made = statistics_of(known, _columns(table.getSd().getCols()), target, self._jvm)
        if made is not None:
            self._ask(lambda client: client.updatePartitionColumnStatistics(made))

    def _directory(self, table: Any, values: Sequence[str]) -> str:
        keys = [field.getName() for field in table.getPartitionKeys()]
        files = self._jvm.org.apache.hadoop.hive.common.FileUtils
        return str(files.makePartName(keys, list(values)))


class _Missing:
    """Says that what was asked for is not there."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _name(error: Any) -> str:
    return str(error.java_exception.getClass().getSimpleName())


def _columns(fields: Any) -> tuple[HiveColumn, ...]:
    return tuple(HiveColumn(field.getName(), field.getType(), field.getComment()) for field in fields or ())
