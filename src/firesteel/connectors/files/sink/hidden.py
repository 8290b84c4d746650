"""The hidden files of a file sink: their names show their owner, so that unneeded ones can be removed.

A segment is named ``.<part>.inprogress.<scope>.<epoch>.<attempt>``; the scope stands for a sink of a job.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from xxhash import xxh3_64_hexdigest

_MARK: Final = ".inprogress."


def scope_of(job_id: str, operator_id: str) -> str:
    """Return the common part of the names of a sink's hidden files."""
    return xxh3_64_hexdigest(f"{job_id}/{operator_id}".encode())


def hidden_path(final: Path, scope: str, epoch: int, attempt: str) -> Path:
    """Return the path of a segment of a part.

    >>> hidden_path(Path("out/part-a-0"), "c0ffee", 7, "try-1").name
    '.part-a-0.inprogress.c0ffee.7.try-1'
    """
    return final.with_name(f".{final.name}{_MARK}{scope}.{epoch}.{attempt}")


def remove_unneeded(base: Path, scope: str, epoch: int, needed: Iterable[str]) -> list[Path]:
    """Remove a sink's hidden files of epochs up to `epoch`, except those in `needed`; return the removed ones."""
    kept = frozenset(needed)
    removed = []
    for directory, _, names in os.walk(base):
        for name in names:
            path = Path(directory, name)
            if _is_of(name, scope, epoch) and str(path) not in kept:
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def _is_of(name: str, scope: str, epoch: int) -> bool:
    if not name.startswith("."):
        return False
    owner, _, rest = name.rpartition(_MARK)[2].partition(".")
    number = rest.partition(".")[0]
    return owner == scope and number.isdecimal() and int(number) <= epoch
