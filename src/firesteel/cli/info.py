"""`firesteel info`: the versions for a bug report, and whether Spark can start here."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

from firesteel.spark.class_archive import archive_path

MINIMAL_JAVA: Final = 17
"""The oldest Java that Spark 4 runs on."""

_VERSION: Final = re.compile(r'version "((\d+)[^"]*)"')


class Java(NamedTuple):
    """The Java that Spark would start: its path, its version, and its problem (None: it works)."""

    path: str
    version: str
    problem: str | None


def find_java() -> Java:
    """Find the Java that Spark would start (`JAVA_HOME`, else the path) and try it."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if found is None:
        return Java(
            "", "", f"no Java found; install a JRE, version {MINIMAL_JAVA} or newer, or set JAVA_HOME"
        )
    try:
        done = subprocess.run([found, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return Java(found, "", f"it does not start: {error}")
    return judge_java(found, done.stderr + done.stdout)


def judge_java(path: str, printed: str) -> Java:
    """Return a Java's version and problem from the output of `java -version`.

    >>> judge_java("/usr/bin/java", 'openjdk version "17.0.15" 2025-04-15')
    Java(path='/usr/bin/java', version='17.0.15', problem=None)
    >>> judge_java("/usr/bin/java", 'java version "1.8.0_392"').problem
    'it is too old: Spark needs Java 17 or newer'
    """
    match = _VERSION.search(printed)
    if match is None:
        return Java(path, "", f"it does not tell its version: {printed.strip()[:200]!r}")
    problem = None
    if int(match[2]) < MINIMAL_JAVA:
        problem = f"it is too old: Spark needs Java {MINIMAL_JAVA} or newer"
    return Java(path, match[1], problem)


def describe_installation(java: Java) -> list[tuple[str, str]]:
    """Return (name, version) pairs: Firesteel, Python, the libraries it depends on, Java and the machine."""
    packages = ("pyspark", "pyarrow", "lmdb", "obstore", "cloudpickle")
    return [
        ("firesteel", f"{_installed('firesteel')} ({Path(__file__).parents[1]})"),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        *((package, _installed(package)) for package in packages),
        ("java", f"{java.version} ({java.path})" if java.version else java.path or "none"),
        ("classes", _archived()),
        ("system", f"{platform.platform()}, {os.cpu_count()} cores"),
    ]


def _archived() -> str:
    archive = archive_path()
    if archive is None or not archive.is_file():
        return "not archived: `firesteel prepare` halves the time Spark takes to start"
    return f"archived ({archive})"


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"
