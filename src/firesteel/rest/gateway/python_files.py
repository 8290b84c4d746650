"""The Python files of sessions: what the options `python.*` name is imported in the server, and copied with jobs.

A job may outlive what its session has named, and its driver may be started again, so it takes copies along.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Final
from zipfile import is_zipfile

from firesteel.common.errors import ConfigurationError
from firesteel.common.importing import OwnModules

FILES: Final = "python.files"
_COPIES: Final = "python-files"
_OPTIONS: Final = (FILES, "python.requirements", "python.archives")
"""The options that name files: paths with commas between them, each with what belongs to it behind a `#`."""


def own_modules(options: Mapping[str, str]) -> OwnModules:
    """Return the modules of a session's files.

    Raises ConfigurationError for a file that does not exist, or is none that Python imports from.
    """
    return OwnModules([_importable(path) for path in _paths(options.get(FILES, ""))])


def _importable(path: str) -> Path:
    found = _existing(FILES, path)
    if found.suffix == ".py" or found.is_dir() or is_zipfile(found):
        return found
    raise ConfigurationError(
        "requires .py files, zip archives or directories", who=f"option {FILES!r}", got=path
    )


def copied(options: Mapping[str, str], place: Path) -> dict[str, str]:
    """Copy the files that options name to a directory, and return the options with paths within it.

    Raises ConfigurationError for a file that does not exist.
    """
    numbers = count()

    def copy(key: str, path: str) -> str:
        file = _existing(key, path)
        name = f"{_COPIES}/{next(numbers)}/{file.name}"
        (place / name).parent.mkdir(parents=True)
        if file.is_dir():
            shutil.copytree(file, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(file, place / name)
        return name

    return _with_paths(options, copy)


def placed(options: Mapping[str, str], place: Path) -> dict[str, str]:
    """Return the options that `copied` has given with paths that are found from anywhere."""
    return _with_paths(options, lambda _, path: str(place / path))


def _with_paths(options: Mapping[str, str], path_of: Callable[[str, str], str]) -> dict[str, str]:
    changed = {
        key: ",".join(_changed(key, path, path_of) for path in _paths(options[key]))
        for key in _OPTIONS
        if key in options
    }
    return {**options, **changed}


def _changed(key: str, path: str, path_of: Callable[[str, str], str]) -> str:
    file, hash_sign, more = path.partition("#")
    if more and key == "python.requirements":  # a directory with their packages
        more = path_of(key, more)
    return f"{path_of(key, file)}{hash_sign}{more}"


def _paths(text: str) -> list[str]:
    return [*filter(None, map(str.strip, text.split(",")))]


def _existing(key: str, path: str) -> Path:
    found = Path(path.removeprefix("file://").removeprefix("file:")).expanduser().resolve()
    if not found.exists():
        raise ConfigurationError(
            "requires files that exist on the machine of the server", who=f"option {key!r}", got=path
        )
    return found
