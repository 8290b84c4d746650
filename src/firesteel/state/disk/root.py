"""The place of this machine's working copies, its access rights, and the removal of copies.

Copies outlive the application that created them: a restarted driver finds them. So they are next to the directories
that Spark creates for one application, at a path that anybody can guess, often below a directory that everybody can
write to. Contract: `work_root` returns a directory of this user that nobody else can enter or could ever write to, or
it raises an error. Nothing below it is read or written before this check.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from firesteel.common.errors import StateError
from firesteel.state.disk.copy import release_working_stores
from firesteel.state.disk.scratch import local_directory, unwritable

ABANDONED_S: Final = 3 * 86_400
SWEEP_EVERY_S: Final = 3600
_SWEPT: Final = ".swept"
"""The file whose time records the last search for abandoned copies on this machine."""

_OF_ONE_APPLICATION: Final = ("blockmgr-", "executor-", "spark-")
"""The prefixes of directories that Spark creates for an application in its local ones, and removes with it."""

_WHO: Final = "the directory of working copies"


def work_root() -> Path:
    """Return the directory of this user's working copies; create it with mode 0700 if it is missing.

    A directory that others can only read gets that mode. Raises StateError if it is a link, not a directory, belongs to
    another user, or is writable for others: they could have put files there, and working copies contain pickles.
    """
    path = _path()
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700, parents=True)
        objection = _objection(path)
        if objection is None and path.lstat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise unwritable(f"{_WHO} {path}", "cannot be made", error) from error
    if objection is not None:
        raise StateError(
            "must be a directory that belongs to you and that nobody else can write to",
            who=f"{_WHO} {path}",
            got=objection,
            hint="find out who created it, then remove it: copies are created again from the checkpoint; "
            "or name another directory in SPARK_LOCAL_DIRS",
        )
    return path


def existing_work_root() -> Path | None:
    """Return the directory of this user's working copies, None if there is none or others can write to it."""
    path = _path()
    try:
        return path if _objection(path) is None else None
    except OSError:  # nothing is there
        return None


def discard_working_copies(lineage: str) -> None:
    """Remove this machine's working copies of a history that nobody continues."""
    root = existing_work_root()
    if root is not None:
        _discard(root / lineage)


def discard_abandoned_copies() -> None:
    """Remove this machine's working copies of histories that nobody has used for `ABANDONED_S` seconds.

    A machine searches once in `SWEEP_EVERY_S` seconds; other calls cost almost nothing.
    """
    root, now = existing_work_root(), time.time()
    if root is None or now - _modified(root / _SWEPT) < SWEEP_EVERY_S:
        return
    (root / _SWEPT).touch()
    for history in root.iterdir():
        if history.is_dir() and _abandoned(history, now - ABANDONED_S):
            _discard(history)


def _path() -> Path:
    directory = local_directory()
    while directory.name.startswith(_OF_ONE_APPLICATION) and not _closed(directory.parent):
        directory = directory.parent
    return directory / f"firesteel-work-{os.geteuid()}"


def _closed(directory: Path) -> bool:
    """Return whether a directory is not writable, such as the one above a container's volumes."""
    return directory.exists() and not os.access(directory, os.W_OK)


def _objection(path: Path) -> str | None:
    """Return why the contents of a directory may not be this user's; None if they must be."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return "a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "a file"
    if found.st_uid != os.geteuid():
        return f"a directory of user {found.st_uid}, while this process runs as user {os.geteuid()}"
    mode = stat.S_IMODE(found.st_mode)
    return f"mode {mode:04o}" if mode & 0o022 else None


def _discard(history: Path) -> None:
    release_working_stores(history)
    shutil.rmtree(history, ignore_errors=True)


def _abandoned(history: Path, limit: float) -> bool:
    if _modified(history) >= limit:  # copies below it may be older: no need to look at them
        return False
    return max((_modified(path) for path in history.rglob("*")), default=0.0) < limit


def _modified(path: Path) -> float:
    """Return when a file was last written; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
