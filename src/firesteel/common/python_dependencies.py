"""The files and packages that a program needs in the Python of its workers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PythonDependencies:
    """What workers get besides the program's functions; all paths are on the driver's machine.

    `files` are `.py` files, zip archives or directories that become importable. `requirements` is a requirements file
    for pip; `cached_dir` holds the packages to install them from (None: pip's own index). `archives` are (path, name of
    the directory that it is unpacked into) pairs; the names are relative to a worker's working directory. `executable`
    is the workers' interpreter, a path on the workers or within an archive (None: the driver's).
    """

    files: tuple[str, ...] = ()
    requirements: str | None = None
    cached_dir: str | None = None
    archives: tuple[tuple[str, str], ...] = ()
    executable: str | None = None
