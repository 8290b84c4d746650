"""The hidden files of a file sink: their names show their owner, so that unneeded ones can be removed.

Where files are renamed, a segment lies beside its part and is named ``.<part>.inprogress.<scope>.<epoch>.<attempt>``.
Where they are copied, it is an object below the base path, ``_firesteel/<scope>/<epoch>.<attempt>/<part>``: a listing
of the leftovers sees nothing else, and a rule of the bucket can remove what nobody comes back for. The scope stands for
a sink of a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from xxhash import xxh3_64_hexdigest

from firesteel.connectors.files.systems import joined, name_of, parent_of, system_of

STAGED: Final = "_firesteel"
_MARK: Final = ".inprogress."


def scope_of(job_id: str, operator_id: str) -> str:
    """Return the common part of the names of a sink's hidden files."""
    return xxh3_64_hexdigest(f"{job_id}/{operator_id}".encode())


def hidden_path(final: Path, scope: str, epoch: int, attempt: str) -> Path:
    """Return the path of a segment of a part, where files are renamed.

    >>> hidden_path(Path("out/part-a-0"), "c0ffee", 7, "try-1").name
    '.part-a-0.inprogress.c0ffee.7.try-1'
    """
    return final.with_name(_hidden(final.name, scope, epoch, attempt))


def _hidden(name: str, scope: str, epoch: int, attempt: str) -> str:
    return f".{name}{_MARK}{scope}.{epoch}.{attempt}"


def segment_path(base: str, final: str, scope: str, epoch: int, attempt: str) -> str:
    """Return the path of a segment of a part below a base path.

    >>> segment_path("s3://b/out", "s3://b/out/day=1/part-a-0", "c0ffee", 7, "try-1")
    's3://b/out/_firesteel/c0ffee/7.try-1/part-a-0'
    """
    if system_renames(base):
        return joined(parent_of(final), _hidden(name_of(final), scope, epoch, attempt))
    return joined(base, STAGED, scope, f"{epoch}.{attempt}", name_of(final))


def system_renames(base: str) -> bool:
    """Return whether files below a path are renamed; else they are copied."""
    return base.startswith("/") or system_of(base).renames


def remove_unneeded(base: str, scope: str, epoch: int, needed: Iterable[str]) -> list[str]:
    """Remove a sink's hidden files of epochs up to `epoch`, except those in `needed`; return the removed ones."""
    kept = frozenset(needed)
    found = _beside(base, scope, epoch) if system_renames(base) else _staged(base, scope, epoch)
    removed = [path for path in found if path not in kept]
    system_of(base).remove(removed)
    return removed


def _beside(base: str, scope: str, epoch: int) -> Iterator[str]:
    for path, _ in system_of(base).below(base):
        if _is_of(name_of(path), scope, epoch):
            yield path


def _is_of(name: str, scope: str, epoch: int) -> bool:
    if not name.startswith("."):
        return False
    owner, _, rest = name.rpartition(_MARK)[2].partition(".")
    return owner == scope and _is_up_to(rest, epoch)


def _staged(base: str, scope: str, epoch: int) -> Iterator[str]:
    directory = joined(base, STAGED, scope)
    for path, _ in system_of(base).below(directory):
        if _is_up_to(path[len(directory) + 1 :], epoch):
            yield path


def _is_up_to(text: str, epoch: int) -> bool:
    number = text.partition(".")[0]
    return number.isdecimal() and int(number) <= epoch
