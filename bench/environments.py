"""The interpreters of the other systems: virtual environments under .cache/, created on first use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CACHE: Final = ROOT / ".cache"
PYFLINK: Final = "2.3.0"
PYFLINK_VARIABLE: Final = "FIRESTEEL_BENCH_PYFLINK"
SPARK_VARIABLE: Final = "FIRESTEEL_BENCH_SPARK"


def pyflink_python() -> Path:
    """Return an interpreter with apache-flink: that of $FIRESTEEL_BENCH_PYFLINK, or one created in .cache/."""
    # PyFlink's dependencies have no wheels for newer Pythons, and its source build does not work with them.
    interpreter = next(
        (found for found in map(shutil.which, ("python3.11", "python3.10", "python3.12")) if found), None
    )
    packages = [f"apache-flink=={PYFLINK}", "setuptools<81"]
    return _python(PYFLINK_VARIABLE, f"pyflink-{PYFLINK}", packages, interpreter or sys.executable)


def spark_python() -> Path:
    """Return an interpreter with the PySpark installed here and the other packages of transformWithState."""
    pyspark = version("pyspark")
    packages = [f"pyspark=={pyspark}", f"pyarrow=={version('pyarrow')}", "pandas", "protobuf"]
    return _python(SPARK_VARIABLE, f"spark-{pyspark}", packages, sys.executable)


def _python(variable: str, name: str, packages: list[str], interpreter: str) -> Path:
    given = os.environ.get(variable)
    if given:
        return Path(given)
    folder = CACHE / f"bench-{name}"
    python = folder / "bin" / "python"
    complete = folder / ".complete"
    if not complete.exists():
        print(
            f"bench: making {folder} with {', '.join(packages)} (once; some minutes)",
            file=sys.stderr,
            flush=True,
        )
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True
        )
        complete.touch()
    return python
