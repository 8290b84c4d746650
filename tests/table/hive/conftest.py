"""HiveCatalog on a real metastore: Derby in a directory, in Spark's JVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from firesteel.spark.session import open_session
from firesteel.table.catalog import CatalogDatabase, HiveCatalog, ObjectPath

SITE = """<configuration>
<property><name>javax.jdo.option.ConnectionURL</name><value>jdbc:derby:;databaseName={0}/metastore;create=true</value></property>
<property><name>hive.metastore.warehouse.dir</name><value>{0}/warehouse</value></property>
<property><name>hive.metastore.schema.verification</name><value>false</value></property>
<property><name>datanucleus.schema.autoCreateAll</name><value>true</value></property>
</configuration>
"""


@pytest.fixture(scope="package")
def conf_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("hive")
    jvm: Any = open_session(None, 2, {}).sparkContext._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", f"{directory}/derby.log")
    (directory / "hive-site.xml").write_text(SITE.format(directory))
    return str(directory)


@pytest.fixture
def catalog(conf_dir: str) -> Iterator[HiveCatalog]:
    """A catalog with an empty database of the test's name, `test`, in use."""
    made = HiveCatalog("h", None, conf_dir)
    _remove(made)
    made.create_database("test", CatalogDatabase(), False)
    yield HiveCatalog("h", "test", conf_dir)
    _remove(made)


def _remove(catalog: HiveCatalog) -> None:
    if not catalog.database_exists("test"):
        return
    for name in catalog.list_tables("test"):
        catalog.drop_table(ObjectPath("test", name), False)
    for name in catalog.list_functions("test"):
        catalog.drop_function(ObjectPath("test", name), False)
    catalog.drop_database("test", False)
