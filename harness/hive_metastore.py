"""A private metastore of Hive for tests: a process that speaks thrift, with a database of Derby in a directory.

Hive's classes come with pyspark.
"""

from __future__ import annotations

import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pyspark

from harness.server import ServerProcess, free_port, serve_until_interrupted

_STARTS_WITHIN_S: Final = 300
_JAVA: Final = ("java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_PROPERTY: Final = "<property><name>{}</name><value>{}</value></property>\n"


class HiveMetastore:
    """A server whose tables are in files of this machine; clients find its hive-site.xml in `conf_dir`.

    The port stays the same for the object's life: clients find a server that is started again.
    """

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="firesteel-hive-"))
        self.port = free_port()
        self.conf_dir = str(self._site("client", {"hive.metastore.uris": f"thrift://127.0.0.1:{self.port}"}))
        own = self._site(
            "server",
            {
                "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self.directory}/metastore;create=true",
                "hive.metastore.schema.verification": "false",
                "datanucleus.schema.autoCreateAll": "true",
                "datanucleus.connectionPoolingType": "DBCP",
                "hive.async.log.enabled": "false",  # pyspark has not the queue of asynchronous loggers
            },
        )
        classes = f"{own}:{Path(pyspark.__file__).parent / 'jars'}/*"
        main = "org.apache.hadoop.hive.metastore.HiveMetaStore"
        command = [*_JAVA, "-cp", classes, main, "-p", str(self.port)]
        self._server = ServerProcess(command, self.directory, None)

    def _site(self, name: str, properties: dict[str, str]) -> Path:
        directory = self.directory / name
        directory.mkdir()
        given = {"hive.metastore.warehouse.dir": f"{self.directory}/warehouse", **properties}
        text = "".join(_PROPERTY.format(*entry) for entry in given.items())
        (directory / "hive-site.xml").write_text(f"<configuration>\n{text}</configuration>\n")
        return directory

    def start(self) -> None:
        """Start the server and wait until it listens, which it does when its database is there."""
        self._server.start(self._listens, _STARTS_WITHIN_S)

    def stop(self) -> None:
        """Stop the server; what it knows stays."""
        self._server.stop(signal.SIGTERM)

    def close(self) -> None:
        """Stop the server and remove its files."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False


@contextmanager
def hive_metastore() -> Iterator[HiveMetastore]:
    """Run a metastore."""
    server = HiveMetastore()
    try:
        server.start()
        yield server
    finally:
        server.close()


if __name__ == "__main__":
    serve_until_interrupted(hive_metastore(), lambda server: server.conf_dir)
