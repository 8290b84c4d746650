"""The program that runs, as manifests record it."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def program_version() -> tuple[str, str]:
    """Return the name of the program's file and the beginning of its SHA-256, both empty in an interactive session."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None or not Path(file).is_file():
        return "", ""
    path = Path(file)
    return path.name, hashlib.sha256(path.read_bytes()).hexdigest()[:12]
