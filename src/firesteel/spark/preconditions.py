"""The requirements for starting a JVM: a Java, a user with a name, and a master that can be reached."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
from pathlib import Path
from typing import Final

from firesteel.common.errors import ConfigurationError, EngineError

_LOCAL: Final = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")
_ADDRESS: Final = re.compile(r"(.+):(\d+)")
_FORMS: Final = "local[N], spark://HOST:PORT, yarn or k8s://https://HOST:PORT"


def is_local(master: str) -> bool:
    """Return whether the workers run on this machine, within the application's process: `local`, `local[4]`.

    >>> is_local("local[2,4]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def require_master(master: str, timeout: float = 5.0) -> None:
    """Check a master's URL, and that one of a standalone master's ports accepts a connection.

    Spark itself would start a JVM to find an error in a URL, and try a port for a minute. Raises ConfigurationError for
    an invalid URL, EngineError if no standalone master accepts a connection within `timeout` seconds each. Spark itself
    checks whether it can reach YARN or Kubernetes.
    """
    if master.startswith("spark://"):
        _require_standalone(master, timeout)
    elif master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            raise ConfigurationError(
                "requires the environment variable HADOOP_CONF_DIR or YARN_CONF_DIR",
                who="the master yarn",
                got="neither",
                hint="set it to the directory that Hadoop's configuration is in",
            )
    elif not (_LOCAL.fullmatch(master) or master.startswith("k8s://")):
        raise ConfigurationError(f"requires {_FORMS}", who="--master", got=repr(master))


def _require_standalone(master: str, timeout: float) -> None:
    problem = ""
    for address in master.removeprefix("spark://").split(","):
        found = _ADDRESS.fullmatch(address)
        if found is None or int(found[2]) > 65_535:
            raise ConfigurationError(
                "requires spark://HOST:PORT",
                who="--master",
                got=repr(master),
                hint="a standalone master's port is 7077 unless set otherwise",
            )
        try:
            socket.create_connection((found[1].strip("[]"), int(found[2])), timeout).close()
            return
        except OSError as error:
            problem = str(error)
    raise EngineError(
        "does not answer",
        who=f"the master {master}",
        got=problem,
        hint="check that it runs, and its address (spark://HOST:PORT; the port is 7077 unless set otherwise)",
    )


def require_java() -> None:
    """Check that the Java that Spark would start exists: the one of `JAVA_HOME`, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(Path(home, "bin", "java"), os.X_OK):
        raise EngineError(
            "requires Java 17 or newer",
            who="Spark",
            got=f"JAVA_HOME={home}, where there is no bin/java",
            hint="correct JAVA_HOME, or unset it so that the java on the PATH is used",
        )
    if not home and shutil.which("java") is None:
        raise EngineError(
            "requires Java 17 or newer",
            who="Spark",
            got="no java on the PATH and no JAVA_HOME",
            hint="install a JRE, e.g. `apt-get install openjdk-17-jre-headless`",
        )


def require_user() -> None:
    """Check that this process's user has a name: Hadoop's libraries, within Spark, do not start without one."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        raise EngineError(
            "requires a user with a name and a home directory",
            who="Spark",
            got=f"user id {os.getuid()}, which has no entry in /etc/passwd",
            hint="run the container as a user of its image, or have its entrypoint add one: "
            'echo "spark:x:$(id -u):$(id -g)::/tmp:/bin/sh" >> /etc/passwd',
        ) from None
