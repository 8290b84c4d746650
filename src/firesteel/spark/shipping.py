"""The files that the workers need: those that the program adds, and on a cluster Firesteel and the program's modules.

Everything travels as an archive whose name holds the hash of its content: Spark keeps one file per name for a whole
application, and two jobs may ship different files with the same name.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

import firesteel
from firesteel.common.errors import ProgramError
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.spark.worker_python import CACHED, REQUIREMENTS, WorkerPython, installed, use_packages

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""Every member's date, so that equal content gives equal archives."""

_TARS: Final = (".tar", ".tar.gz", ".tgz")
"""The ends of the names of archives that Spark unpacks, besides zip."""


def ship(session: Any, python_files: Iterable[str], *, cluster: bool) -> None:
    """Put code on the module path of the session's workers, before what is installed there.

    `python_files` are `.py` files, zip archives, or directories whose content becomes importable (a directory that is a
    package also by its own name). Workers of a `cluster` also get this package and those of the program's own modules
    that it has imported. Raises ProgramError for any other file.
    """
    archives = [_archive(Path(path)) for path in python_files]
    if cluster:
        archives.append(_packed("firesteel", _members(Path(firesteel.__file__).parent, "firesteel/")))
        own = sorted(modules_of_program())
        if own:
            archives.append(_packed("program", chain.from_iterable(map(_importable, own))))
    for archive in archives:
        session.addArtifacts(str(archive), pyfile=True)


def ship_environment(
    session: Any, python: PythonDependencies, then: Callable[[], None] | None
) -> Callable[[], None] | None:
    """Ship requirements and archives; return a function that a worker must call before it unpickles the program's
    objects.

    The function calls `then` at its end. Raises ProgramError for an archive that is neither a zip nor a tar file.
    """
    if python.requirements is None and not python.archives:
        return then
    requirements = None
    if python.requirements is not None:
        bundle = _packed("requirements", _requirements(Path(python.requirements), python.cached_dir))
        requirements = bundle.stem
        session.addArtifacts(f"{bundle}#{requirements}", archive=True)
    archives = []
    for path, target in python.archives:
        stored = _unpackable(Path(path))
        unpacked = stored.name.partition(".")[0]
        session.addArtifacts(f"{stored}#{unpacked}", archive=True)
        archives.append((unpacked, target))
    of = repr((requirements, archives))
    return WorkerPython(hashlib.sha256(of.encode()).hexdigest()[:16], requirements, tuple(archives), then)


def modules_of_program() -> set[Path]:
    """Return the files and package directories of the running program that it has imported.

    They are next to its main file or, if that was started as a module (`python -m package.main`), next to its outermost
    package, and that package itself. For an installed program, only its own package counts.
    """
    main = sys.modules["__main__"]
    program = getattr(main, "__file__", None)
    if program is None:  # an interactive session
        return set()
    file = Path(program).resolve()
    package = (main.__spec__.parent or "") if main.__spec__ is not None else ""
    root = file.parents[package.count(".") + 1] if package else file.parent
    own = package.partition(".")[0]
    found = {root / own} if own and (root / own).is_dir() and own != "firesteel" else set()
    if not any(part in ("site-packages", "dist-packages") for part in root.parts):
        found.update(path for path in _imported_modules() if path.parent == root and path != file)
    return found


def _imported_modules() -> Iterator[Path]:
    """Find the files and directories of imported modules that are outside any package, except this one."""
    for name, module in list(sys.modules.items()):
        if "." in name or name in ("firesteel", "__main__"):
            continue
        file = getattr(module, "__file__", None)
        if file is not None:
            path = Path(file).resolve()
            top = path.parent if path.name == "__init__.py" else path
        else:  # a package without __init__.py, or a module without a file
            places = list(getattr(module, "__path__", ()))
            if len(places) != 1:
                continue
            top = Path(places[0]).resolve()
        if top.stem == name:
            yield top


def _archive(path: Path) -> Path:
    if path.is_dir():
        inside = _members(path, f"{path.name}/") if (path / "__init__.py").exists() else ()
        return _packed(path.name, [*_members(path, ""), *inside])
    if path.suffix == ".py":
        return _packed(path.stem, _importable(path))
    if zipfile.is_zipfile(path):
        return _unpackable(path)
    raise ProgramError(
        "requires a .py file, a zip archive or a directory", who="add_python_file", got=str(path)
    )


def _importable(path: Path) -> Iterable[tuple[str, bytes]]:
    return _members(path, f"{path.name}/") if path.is_dir() else [(path.name, path.read_bytes())]


def _members(directory: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{prefix}{path.relative_to(directory).as_posix()}", path.read_bytes()


def use_requirements(requirements: Path) -> None:
    """Make imports of this process find the packages of a requirements file, which workers on this machine share.

    Raises ProgramError with pip's message if they cannot be installed.
    """
    bundle = _packed("requirements", _requirements(requirements, None))
    with tempfile.TemporaryDirectory(prefix="firesteel-requirements-") as place:
        unpacked = Path(place) / bundle.stem
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(unpacked)
        use_packages(installed(unpacked))


def _requirements(file: Path, cached_dir: str | None) -> Iterator[tuple[str, bytes]]:
    yield REQUIREMENTS, file.read_bytes()
    if cached_dir is not None:
        yield from _members(Path(cached_dir), f"{CACHED}/")


def _unpackable(path: Path) -> Path:
    """Return a copy of an archive with the name that Spark unpacks it under."""
    if path.is_file() and zipfile.is_zipfile(path):
        suffix = ".zip"  # of a wheel, too
    elif path.is_file() and path.name.endswith(_TARS) and tarfile.is_tarfile(path):
        suffix = next(suffix for suffix in _TARS if path.name.endswith(suffix))
    else:
        raise ProgramError(
            f"requires a zip archive (.zip, .whl, ...) or a tar archive ({', '.join(_TARS)})",
            who="add_python_archive",
            got=str(path),
        )
    with _draft() as draft:
        shutil.copyfile(path, draft)
        return _stored(path.name.partition(".")[0], draft, suffix)


def _packed(name: str, members: Iterable[tuple[str, bytes]]) -> Path:
    with _draft() as draft:
        with zipfile.ZipFile(draft, "w") as archive:
            for member, data in members:
                archive.writestr(zipfile.ZipInfo(member, _EPOCH), data, zipfile.ZIP_DEFLATED)
        return _stored(name, draft, ".zip")


def _stored(name: str, draft: Path, suffix: str) -> Path:
    with draft.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()[:16]
    return draft.replace(_directory() / f"{name}-{digest}{suffix}")


@contextmanager
def _draft() -> Iterator[Path]:
    descriptor, name = tempfile.mkstemp(dir=_directory(), prefix="draft-")
    os.close(descriptor)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@cache
def _directory() -> Path:
    """Return the directory of archives. It exists as long as this process, for executors that start later."""
    directory = tempfile.mkdtemp(prefix="firesteel-code-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)
