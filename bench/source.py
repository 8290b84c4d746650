"""The measured source, as a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bench.environments import ROOT

_RENDERING: Final = ("report.py", "plots.py")
"""Modules that only show figures; the figures stay valid if these modules change."""


def source_hash(folders: Iterable[str], root: Path = ROOT) -> str:
    """Return twelve digits that identify the Python files in `src` and in these folders and files below the root."""
    digest = hashlib.sha256()
    for path in sorted(_files(root, ("src", *folders))):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _files(root: Path, folders: Iterable[str]) -> set[Path]:
    found: set[Path] = set()
    for folder in folders:
        path = root / folder
        found.update([path] if path.is_file() else path.rglob("*.py"))
    return {path for path in found if path.name not in _RENDERING}
