"""Programs on a catalog of Hive, for the tests here."""

from __future__ import annotations

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.catalog import HiveCatalog
from firesteel.testing.execution import executing

STORED = "WITH ('connector' = 'hive', 'hive.storage.file-format' = '{}')"


def session(catalog: HiveCatalog, *, streaming: bool = False) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode if streaming else EnvironmentSettings.in_batch_mode
    environment = TableEnvironment.create(settings())
    environment.register_catalog("h", catalog)
    environment.use_catalog("h")
    return environment


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    with executing("process", parallelism=1):
        return [tuple(row) for row in environment.execute_sql(statement).collect()]


def insert(environment: TableEnvironment, statement: str, parallelism: int = 1) -> None:
    with executing("process", parallelism=parallelism, epoch_records=1 if parallelism > 1 else None):
        environment.execute_sql(statement).wait()
