"""The interpreters of the other systems: virtual environments under .cache/, created on first use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CACHE: Final = ROOT / ".cache"
PYFLINK: Final = "2.3.0"
FLINK_JARS: Final = (
    "org/apache/flink/flink-sql-parquet/2.3.0/flink-sql-parquet-2.3.0.jar",
    "org/apache/flink/flink-shaded-hadoop-2-uber/2.8.3-10.0/flink-shaded-hadoop-2-uber-2.8.3-10.0.jar",
    "org/apache/flink/flink-connector-jdbc-core/4.0.0-2.0/flink-connector-jdbc-core-4.0.0-2.0.jar",
    "org/apache/flink/flink-sql-connector-kafka/5.0.0-2.2/flink-sql-connector-kafka-5.0.0-2.2.jar",
    "org/apache/derby/derby/10.14.2.0/derby-10.14.2.0.jar",
    "org/apache/derby/derbytools/10.14.2.0/derbytools-10.14.2.0.jar",
)
"""What Flink's package lacks for Parquet, Kafka and tables of databases, by the paths in Maven's repository."""

MAVEN: Final = "https://repo.maven.apache.org/maven2/"
PYFLINK_VARIABLE: Final = "FIRESTEEL_BENCH_PYFLINK"
SPARK_VARIABLE: Final = "FIRESTEEL_BENCH_SPARK"
TPCH: Final = "1.5.5"
"""The version of DuckDB for which there is a package of its generator of TPC-H."""

TPCH_VARIABLE: Final = "FIRESTEEL_BENCH_TPCH"
FLINK_CLIENT: Final = "1.0.8"
FLINK_CLIENT_VARIABLE: Final = "FIRESTEEL_BENCH_FLINK_CLIENT"


def pyflink_python() -> Path:
    """Return an interpreter with apache-flink: that of $FIRESTEEL_BENCH_PYFLINK, or one created in .cache/."""
    # PyFlink's dependencies have no wheels for newer Pythons, and its source build does not work with them.
    interpreter = next(
        (found for found in map(shutil.which, ("python3.11", "python3.10", "python3.12")) if found), None
    )
    packages = [f"apache-flink=={PYFLINK}", "setuptools<81"]
    return _python(PYFLINK_VARIABLE, f"pyflink-{PYFLINK}", packages, interpreter or sys.executable)


def flink_jars() -> str:
    """Return the URLs of the jars for Parquet, Kafka and databases, separated by semicolons; they are fetched once."""
    folder = CACHE / f"bench-flink-{PYFLINK}-jars"
    folder.mkdir(parents=True, exist_ok=True)
    for path in FLINK_JARS:
        jar = folder / path.rpartition("/")[2]
        if not jar.exists():
            draft = jar.with_suffix(".new")
            urllib.request.urlretrieve(MAVEN + path, draft)
            draft.replace(jar)
    return ";".join(jar.as_uri() for jar in sorted(folder.glob("*.jar")))


def pyflink_jars() -> str:
    """Return the class path of the jars that the `apache-flink` package brings, CEP included."""
    where = "import pathlib, pyflink; print(pathlib.Path(pyflink.__file__).parent / 'lib')"
    ran = subprocess.run([pyflink_python(), "-c", where], check=True, capture_output=True, text=True)
    return os.pathsep.join(map(str, sorted(Path(ran.stdout.strip()).glob("*.jar"))))


def spark_python() -> Path:
    """Return an interpreter with the PySpark installed here and the other packages of transformWithState."""
    pyspark = version("pyspark")
    packages = [f"pyspark=={pyspark}", f"pyarrow=={version('pyarrow')}", "pandas", "protobuf"]
    return _python(SPARK_VARIABLE, f"spark-{pyspark}", packages, sys.executable)


def tpch_python() -> Path:
    """Return an interpreter with DuckDB and its extension for TPC-H."""
    packages = [f"duckdb=={TPCH}", f"duckdb-extension-tpch=={TPCH}"]
    return _python(TPCH_VARIABLE, f"tpch-{TPCH}", packages, sys.executable)


def flink_client_python() -> Path:
    """Return an interpreter with a client of Flink's REST: its wheel has a package `tests`, which would hide ours."""
    packages = [f"flink-rest-client=={FLINK_CLIENT}"]
    return _python(FLINK_CLIENT_VARIABLE, f"flink-rest-client-{FLINK_CLIENT}", packages, sys.executable)


def _python(variable: str, name: str, packages: list[str], interpreter: str) -> Path:
    given = os.environ.get(variable)
    if given:
        return Path(given)
    return python_with(CACHE / f"bench-{name}", packages, interpreter)


def python_with(folder: Path, packages: list[str], interpreter: str = sys.executable) -> Path:
    """Return the interpreter of an environment with these packages, which is made where it is not complete.

    uv makes it, if there is one (`./run` gets it): pip takes several times as long.
    """
    python = folder / "bin" / "python"
    complete = folder / ".complete"
    if complete.exists():
        return python
    said = f"bench: making {folder} with {', '.join(packages)} (once; some minutes)"
    print(said, file=sys.stderr, flush=True)
    if uv := shutil.which("uv"):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([uv, "venv", "--quiet", "--python", interpreter, folder], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *packages], check=True)
    complete.touch()
    return python
