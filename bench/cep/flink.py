"""Runs `FlinkMatches.java`, compiled against the jars of the `apache-flink` package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from bench.cep.events import KINDS, PER_MS, SPREAD, WITHIN_MS
from bench.environments import pyflink_jars
from bench.part import RunError
from bench.process import started

_PROGRAM: Final = Path(__file__).with_name("FlinkMatches.java")
_HEAP: Final = "-Xmx8g"


def run(case: str, keys: int, counts: Iterable[int], timeout_s: float) -> list[dict[str, Any]]:
    """Run a case, `matches` or `events`, over so many events each time, and return the figures of each run."""
    jars = pyflink_jars()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        _compile(jars, scratch)
        kinds = Path(scratch) / "kinds"
        kinds.write_text(KINDS, encoding="ascii")
        settings = [PER_MS, WITHIN_MS, SPREAD, kinds, *counts]
        command = [_HEAP, "-cp", os.pathsep.join([scratch, jars]), _PROGRAM.stem, case, keys, *settings]
        with started(f"Flink, {case}", command, timeout_s, _tool("java")) as process:
            output = process.output.read()
    found: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
    return found


def _compile(jars: str, folder: str) -> None:
    command = map(str, [_tool("javac"), "-Xlint:-deprecation", "-cp", jars, "-d", folder, _PROGRAM])
    ran = subprocess.run([*command], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RunError(f"{_PROGRAM.name} does not compile:\n{ran.stderr}")


def _tool(name: str) -> Path:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=f"{home}/bin" if home else None) or shutil.which(name)
    if found is None:
        raise RunError(f"requires a JDK of Java 17 or newer; got no {name}")
    return Path(found)
