"""Flink's own web UI: the jar with its files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.maven import CACHE, jars

_JARS: Final = Path(__file__).with_name("flink_ui.jars")


def flink_ui_jar() -> Path:
    """Return the jar, which is fetched from Maven Central once."""
    folder = CACHE / "flink-ui"
    jars(_JARS, folder)
    return folder / _JARS.read_text().split()[1].rpartition("/")[2]
