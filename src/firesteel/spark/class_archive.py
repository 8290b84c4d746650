"""The archive of Java classes that halves the time in which Spark starts.

Until Spark's first job is done a JVM mostly finds, parses and verifies some 15,000 classes. From an archive it maps
them into memory as they were in the run that created it (dynamic application class data sharing, JEP 350). An archive
belongs to one Java and one Spark; the JVM itself checks that it fits, and otherwise ignores it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from firesteel.common.errors import EngineError

_QUIET: Final = "-Xlog:cds*=error"
"""An archive that does not fit is not reported on standard output, which has the program's results."""

_TIMEOUT_SECONDS: Final = 300


def archive_path() -> Path | None:
    """Return the path of the archive for this Java and Spark; None without one of them, or without a home directory."""
    java, jars = _java(), _jars()
    if java is None or jars is None:
        return None
    digest = hashlib.sha256()
    for path in (java, *sorted(jars.glob("*.jar"))):
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - it never raises
    if cache.startswith("~"):  # a user without a home
        return None
    return Path(cache) / "firesteel" / f"classes-{digest.hexdigest()[:16]}.jsa"


def archive_options() -> str:
    """Return the JVM's options to start from the archive; none if it has not been created."""
    path = archive_path()
    return f"-XX:SharedArchiveFile={path} {_QUIET}" if path is not None and path.is_file() else ""


def make_archive() -> Path:
    """Create the archive, unless it exists, by a run of Spark in a separate process (about 20 seconds).

    Raises EngineError if Java or Spark is missing, or if the run leaves no archive.
    """
    path = archive_path()
    if path is None:
        raise EngineError(
            "requires Java, PySpark and a home directory",
            who="the archive of classes",
            hint="see `firesteel info`; XDG_CACHE_HOME names another place than ~/.cache",
        )
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch, path.name)
        # The JVM writes the archive after the process that started it has ended, and holds its output until then.
        done = subprocess.run(
            [sys.executable, "-m", "firesteel.spark.class_run", str(made)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode or not made.is_file():
            raise EngineError(
                "could not be made",
                who="the archive of classes",
                got=f"a run of Spark that ended with {done.returncode}",
                hint="jobs run without it, too; they start more slowly",
                details=done.stdout[-2000:],
            )
        made.replace(path)
    return path


def _java() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    return None if found is None else Path(found).resolve()


def _jars() -> Path | None:
    home = os.environ.get("SPARK_HOME")
    if home is None:
        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            return None
        home = str(Path(spec.origin).parent)
    jars = Path(home, "jars")
    return jars if jars.is_dir() else None
