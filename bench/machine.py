"""The machine on which the figures were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from bench.environments import PYFLINK


def describe() -> dict[str, str]:
    """Return the processor, memory, system and versions, as shown above the table."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "java": _java(),
        "pyspark": version("pyspark"),
        "pyflink": PYFLINK,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.0f} GiB"


def _java() -> str:
    ran = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return ran.stderr.splitlines()[0]
