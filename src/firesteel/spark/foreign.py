"""The check of a Spark application that somebody else has started: which Python its workers run."""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
from typing import Any, Final, NamedTuple

from firesteel.common.errors import ConfigurationError

_NEEDED: Final = ("firesteel", "cloudpickle", "lmdb", "msgspec", "obstore", "pandas", "pyarrow", "xxhash")
_PROBE: Final = f"""
import importlib.util, json, platform, sys
missing = [name for name in {_NEEDED} if importlib.util.find_spec(name) is None]
print(json.dumps([sys.executable, platform.python_version(), sys.prefix, missing]))
"""
_MENDED_BY: Final = (
    "before the session is made, set os.environ['PYSPARK_PYTHON'] = sys.executable (or the Spark setting "
    "spark.pyspark.python); restart the notebook's kernel or the program if the session is there already"
)

_logger = logging.getLogger(__name__)


class Python(NamedTuple):
    """An interpreter: its path, version and prefix, and the modules that Firesteel needs and it lacks."""

    path: str
    version: str
    prefix: str
    missing: list[str]


def check_workers_python(session: Any) -> None:
    """Compare the Python of a local session's workers with this process's, without starting a worker.

    Logs a warning if they are different environments of one minor version. Raises ConfigurationError if jobs cannot
    run: with another minor version, or if it lacks modules that Firesteel needs.
    """
    named = session.sparkContext.pythonExec
    if shutil.which(named) == sys.executable:
        return
    theirs = probe(named)
    here = f"{sys.executable} ({platform.python_version()})"
    there = f"{theirs.path} ({theirs.version})"
    who = "the Spark session that is open already"
    if theirs.version.split(".")[:2] != platform.python_version().split(".")[:2]:
        raise ConfigurationError(
            f"must run its workers by the driver's minor version of Python, {here}",
            who=who,
            got=there,
            hint=_MENDED_BY,
        )
    if theirs.missing:
        raise ConfigurationError(
            f"must run its workers by a Python that has {', '.join(theirs.missing)}, as the driver's {here}",
            who=who,
            got=there,
            hint=_MENDED_BY,
        )
    if theirs.prefix != sys.prefix:
        _logger.warning(
            "%s runs its workers by %s, while the driver is %s: packages may differ; to fix this, %s",
            who,
            there,
            here,
            _MENDED_BY,
        )


def probe(python: str) -> Python:
    """Run an interpreter on this machine and return its properties. Raises ConfigurationError if it does not start."""
    try:
        done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        return Python(*json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise ConfigurationError(
            "must run its workers by a Python that starts",
            who="the Spark session that is open already",
            got=f"{python} (PYSPARK_PYTHON={os.environ.get('PYSPARK_PYTHON', '')}): {error}",
            hint=_MENDED_BY,
        ) from error
