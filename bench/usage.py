"""What a process and all that descend from it use: seconds of the processors, and memory.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_TICK: Final = os.sysconf("SC_CLK_TCK")


def cpu_seconds(root: int) -> float:
    """Return the seconds that the processes of a tree have computed so far, those that have ended included.

    >>> cpu_seconds(os.getpid()) > 0
    True
    """
    used = 0
    for pid in tree(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile, and its parent has its time
        used += sum(map(int, fields[11:15]))
    return used / _TICK


class PeakOfTree:
    """The most memory that the processes of a tree had together; pages that they share count once."""

    def __init__(self, root: int) -> None:
        self._root = root
        self.bytes = 0

    def look(self) -> None:
        """Look at the memory now."""
        self.bytes = max(self.bytes, sum(map(_memory, tree(self._root))))


def tree(root: int) -> Iterator[int]:
    """Yield a process and those that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
        children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    yield from found


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
