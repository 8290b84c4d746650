"""The needs of a program in the Python of its workers: files, requirements, archives, an interpreter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from firesteel.common.errors import ProgramError
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.datastream.streams.node_settings import call_site, require_text


class PythonSettings:
    """The part of an environment's settings that concerns the workers' Python.

    A `file:` in front of a path, as in `flink run`, is removed. Each method raises ProgramError for a path that does
    not exist.
    """

    _python: PythonDependencies

    def add_python_file(self, file_path: str) -> None:
        """Ship to the workers a `.py` file, a zip archive, or a directory, whose content becomes importable."""
        path = _existing("add_python_file", file_path)
        files = dict.fromkeys((*self._python.files, path))
        self._python = replace(self._python, files=tuple(files))

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Install the packages of a requirements file on each worker machine, once, for this program only.

        With a `requirements_cache_dir`, its packages (from `pip download -d DIRECTORY -r FILE`) are shipped, and no
        package index is used.
        """
        call = "set_python_requirements"
        file = _existing(call, requirements_file_path)
        cached = None if requirements_cache_dir is None else _existing(call, requirements_cache_dir)
        self._python = replace(self._python, requirements=file, cached_dir=cached)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack a zip or tar archive in the workers' working directory, once for each executor.

        Functions open its files under `target_dir`, a relative path that defaults to the archive's file name:
        `open("data.zip/names.txt")`.
        """
        call = "add_python_archive"
        path = _existing(call, archive_path)
        target = PurePosixPath(require_text(call, target_dir) if target_dir is not None else Path(path).name)
        if target.is_absolute() or len(target.parts) != 1 or ".." in target.parts:
            raise ProgramError(
                "requires the name of a directory as its target", who=call_site(call), got=str(target_dir)
            )
        archives = dict.fromkeys((*self._python.archives, (path, str(target))))
        self._python = replace(self._python, archives=tuple(archives))

    def set_python_executable(self, python_exec: str) -> None:
        """Set the workers' interpreter: a path on the workers, or one within an archive of `add_python_archive`.

        It must have the driver's minor version and Firesteel's dependencies.
        """
        executable = require_text("set_python_executable", python_exec)
        self._python = replace(self._python, executable=executable)


def _existing(call: str, given: str) -> str:
    text = require_text(call, given)
    path = Path(text.removeprefix("file://").removeprefix("file:")).expanduser()
    if not path.exists():
        raise ProgramError("requires a file that exists", who=call_site(call), got=str(path))
    return str(path.resolve())
