"""Sessions of Spark with a metastore of Hive, and the metastore's configuration.

A session whose application knows no metastore, or another one, gets a sibling in the same JVM, with a catalog of its
own (Spark: SharedState): nothing is started anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.spark.frames import active_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SITE: Final = "hive-site.xml"
_IMPLEMENTATION: Final = "spark.sql.catalogImplementation"
_WAREHOUSE: Final = "hive.metastore.warehouse.dir"
_URIS: Final = "hive.metastore.uris"
_URL: Final = "javax.jdo.option.ConnectionURL"
_HERE: Final = "databaseName=metastore_db;"
"""What the default URL has: a metastore in the current directory."""

_POOL: Final = ("datanucleus.connectionPoolingType", "BONECP", "DBCP")
"""Spark has not the pool of connections that Hive takes by default (Spark: HiveClientImpl)."""

_WRITING: Final = {
    "hive.exec.dynamic.partition": "true",
    "hive.exec.dynamic.partition.mode": "nonstrict",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}
"""Rows find their partitions by their values, and INSERT OVERWRITE replaces those alone that it writes to."""

_sessions: Final[dict[tuple[str, str | None], SparkSession]] = {}
"""By application and directory of the configuration."""


def hive_session(conf_dir: str | None, who: str) -> SparkSession:
    """Return a session that sees the tables of the metastore of `conf_dir`/hive-site.xml; None: that of Spark.

    Its time zone is that of the JVM, in which Hive's TIMESTAMP, which has none, is what it says. Raises as `hive_conf`.
    """
    base = active_session()
    key = (base.sparkContext.applicationId, conf_dir)
    if key not in _sessions:
        for ended in [known for known in _sessions if known[0] != key[0]]:
            del _sessions[ended]
        _sessions[key] = _made(base, conf_dir, who)
    return _sessions[key]


def _made(base: SparkSession, conf_dir: str | None, who: str) -> SparkSession:
    from pyspark.sql import SparkSession

    context: Any = base.sparkContext
    warehouse = hive_conf(conf_dir, who).get(_WAREHOUSE)
    if conf_dir is None and _knows_hive(base):
        session = base.newSession()
    else:
        site = {} if conf_dir is None else _site(context._jvm, conf_dir, who)
        options = {**site, _IMPLEMENTATION: "hive", "spark.sql.warehouse.dir": warehouse}
        of_jvm = SparkSession._get_j_spark_session_class(context._jvm)(context._jsc.sc(), options)
        session = SparkSession(context, of_jvm)
    zone = context._jvm.java.util.TimeZone.getDefault().getID()
    for name, value in {**_WRITING, "spark.sql.session.timeZone": zone}.items():
        session.conf.set(name, value)
    return session


def hive_conf(conf_dir: str | None, who: str) -> Any:
    """Return Hive's configuration (HiveConf, of the JVM): that of Spark, and over it that of a directory.

    Raises ConfigurationError if the directory has no hive-site.xml, or if no metastore is configured, UnsupportedError
    if Spark has been built without Hive.
    """
    from py4j.java_gateway import JavaPackage

    base = active_session()
    jvm: Any = base.sparkContext._jvm
    made = jvm.org.apache.hadoop.hive.conf.HiveConf
    if isinstance(made, JavaPackage):
        raise UnsupportedError(
            "requires a Spark with Hive",
            who=who,
            got="one without Hive's classes",
            hint="pip's pyspark has them",
        )
    found = made()
    found.addResource(base.sparkContext._jsc.hadoopConfiguration())
    if conf_dir is not None:
        for key, value in _site(jvm, conf_dir, who).items():
            found.set(key, value)
    elif not (found.get(_URIS) or _knows_hive(base)) and _HERE in found.get(_URL, ""):
        raise ConfigurationError(
            "requires a metastore of Hive",
            who=who,
            got=f"no {SITE}, and a Spark without spark.sql.catalogImplementation=hive",
            hint=f"name the directory of {SITE}: hive_conf_dir, or 'hive-conf-dir' in SQL",
        )
    key, absent, there = _POOL
    if found.get(key, absent).upper() == absent:
        found.set(key, there)
    return found


def _site(jvm: Any, conf_dir: str, who: str) -> dict[str, str]:
    """Return what the hive-site.xml of a directory, or of the URL of one, sets."""
    directory = conf_dir if "://" in conf_dir else str(Path(conf_dir).absolute())
    path = jvm.org.apache.hadoop.fs.Path(f"{directory}/{SITE}")
    found = jvm.org.apache.hadoop.conf.Configuration(False)
    if not path.getFileSystem(found).exists(path):
        raise ConfigurationError(f"requires a directory with {SITE}", who=who, got=conf_dir)
    found.addResource(path)
    return dict(found.getPropsWithPrefix(""))


def _knows_hive(session: SparkSession) -> bool:
    return session.conf.get(_IMPLEMENTATION, "in-memory") == "hive"
