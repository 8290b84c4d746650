"""Python code that must reach the workers: what the program adds, and on a cluster Firesteel and the program's modules.

Everything travels as a zip archive whose name holds the hash of its content: Spark keeps one file per name for a
whole application, and two jobs may ship different files of one name.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import firesteel
from firesteel.common.errors import ProgramError

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""Every member's date, so that equal content gives equal archives."""


def ship(session: Any, python_files: Iterable[str], *, cluster: bool) -> None:
    """Put code on the module path of the session's workers, before what is installed there.

    `python_files` are `.py` files, zip archives, or directories whose content becomes importable (a directory
    that is a package also by its own name). Workers of a `cluster` also get this package and the modules beside
    the program that it has imported. Raises ProgramError for a file that is none of these.
    """
    archives = [_archive(Path(path)) for path in python_files]
    if cluster:
        archives.append(_packed("firesteel", _members(Path(firesteel.__file__).parent, "firesteel/")))
        beside = sorted(modules_beside_program())
        if beside:
            archives.append(_packed("program", [member for path in beside for member in _importable(path)]))
    for archive in archives:
        session.addArtifacts(str(archive), pyfile=True)


def modules_beside_program() -> set[Path]:
    """Return the files and package directories beside the running program that have been imported."""
    program = getattr(sys.modules["__main__"], "__file__", None)
    if program is None:  # an interactive session
        return set()
    main = Path(program).resolve()
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or "." in name or name == "firesteel":
            continue
        path = Path(file).resolve()
        top = path.parent if path.name == "__init__.py" else path
        if top.parent == main.parent and top != main and top.stem == name:
            found.add(top)
    return found


def _archive(path: Path) -> Path:
    if path.is_dir():
        inside = _members(path, f"{path.name}/") if (path / "__init__.py").exists() else ()
        return _packed(path.name, [*_members(path, ""), *inside])
    if path.suffix == ".py":
        return _packed(path.stem, _importable(path))
    if zipfile.is_zipfile(path):
        return _stored(path.stem, path.read_bytes())
    raise ProgramError(
        "requires a .py file, a zip archive or a directory", who="add_python_file", got=str(path)
    )


def _importable(path: Path) -> Iterable[tuple[str, bytes]]:
    return _members(path, f"{path.name}/") if path.is_dir() else [(path.name, path.read_bytes())]


def _members(directory: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{prefix}{path.relative_to(directory).as_posix()}", path.read_bytes()


def _packed(name: str, members: Iterable[tuple[str, bytes]]) -> Path:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for member, data in members:
            archive.writestr(zipfile.ZipInfo(member, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return _stored(name, content.getvalue())


def _stored(name: str, content: bytes) -> Path:
    path = _directory() / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    if not path.exists():
        path.write_bytes(content)
    return path


@cache
def _directory() -> Path:
    """Where archives lie for as long as this process lives: an executor that starts later fetches them, too."""
    directory = tempfile.mkdtemp(prefix="firesteel-code-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)
