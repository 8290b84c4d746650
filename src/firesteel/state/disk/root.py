"""Where this machine's working copies lie, who may enter there, and when copies go.

Copies outlive the application that made them: a driver that is started again finds them. So they lie beside the
directories that Spark makes for one application, at a path that anybody can guess, often below a directory that
everybody may write to. Contract: `work_root` is a directory of this user's own that nobody else can enter, or an
error; nothing is read or written below it before that has been checked.
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
"""The file whose time says when this machine's abandoned copies were last looked for."""

_OF_ONE_APPLICATION: Final = ("blockmgr-", "executor-", "spark-")
"""How the names of directories begin that Spark makes for an application within its local ones, and removes with it."""

_WHO: Final = "the directory of working copies"


def work_root() -> Path:
    """Return the directory of this user's working copies, made with mode 0700 if it is missing.

    Raises StateError if it is a link or no directory, belongs to somebody else, or lets others in: what lies there may
    be read or have been put there by them, and working copies hold pickles.
    """
    path = _path()
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700, parents=True)
        objection = _objection(path)
    except OSError as error:
        raise unwritable(f"{_WHO} {path}", "cannot be made", error) from error
    if objection is not None:
        raise StateError(
            "must be your own, with mode 0700",
            who=f"{_WHO} {path}",
            got=objection,
            hint="find out who made it, then remove it: copies are made again from the checkpoint; "
            "or name another directory in SPARK_LOCAL_DIRS",
        )
    return path


def discard_working_copies(lineage: str) -> None:
    """Remove this machine's working copies of a history that nobody goes on with."""
    if _is_ours():
        _discard(_path() / lineage)


def discard_abandoned_copies() -> None:
    """Remove this machine's working copies of histories that nobody has touched for `ABANDONED_S` seconds.

    They are looked for once in `SWEEP_EVERY_S` seconds on a machine; other calls cost next to nothing.
    """
    root, now = _path(), time.time()
    if not _is_ours() or now - _modified(root / _SWEPT) < SWEEP_EVERY_S:
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
    """Whether nothing can be made in a directory, as in the one above a container's volumes."""
    return directory.exists() and not os.access(directory, os.W_OK)


def _is_ours() -> bool:
    try:
        return _objection(_path()) is None
    except OSError:  # nothing is there
        return False


def _objection(path: Path) -> str | None:
    """What is wrong with a directory that must be this user's alone, None if nothing is."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return "a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "a file"
    if found.st_uid != os.geteuid():
        return f"a directory of user {found.st_uid}, while this process runs as user {os.geteuid()}"
    mode = stat.S_IMODE(found.st_mode)
    return f"mode {mode:04o}" if mode & 0o077 else None


def _discard(history: Path) -> None:
    release_working_stores(history)
    shutil.rmtree(history, ignore_errors=True)


def _abandoned(history: Path, limit: float) -> bool:
    if _modified(history) >= limit:  # copies below it may be older: no need to look at them
        return False
    return max((_modified(path) for path in history.rglob("*")), default=0.0) < limit


def _modified(path: Path) -> float:
    """When a file was last written; 0 if it is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
