"""Imports of what texts name: the functions, models and modules of statements.

A session of a server may have files of its own, whose modules are imported for it alone. Contract: such a module is in
`sys.modules` only while it is being imported, so sessions whose modules have the same names do not meet, and what it
defines is pickled with what it uses of its module, not by name: a worker that has run another session's function of the
same name does not take that one for it. What is imported later, within a function, is imported by name, and so are
modules of Python itself.
"""

from __future__ import annotations

import importlib
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

_importing: Final = threading.RLock()


class OwnModules:
    """The modules in files: `.py` files, zip archives, and directories, whose content is importable.

    A directory that is a package can be imported by its own name, too. Each module is imported once.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._places = {name: place for file in reversed(files) for name, place in _modules_of(file)}
        self._loaded: dict[str, ModuleType] = {}

    def has(self, name: str) -> bool:
        """Return whether a module, or the package that it is in, is in the files."""
        return _top(name) in self._places

    def load(self, name: str) -> ModuleType:
        """Return a module of the files. Raises what importing it raises, ImportError if Python has another one."""
        with _importing:
            known = sorted(self._places.keys() & sys.modules.keys())
            if known:
                raise ImportError(f"this process has other modules of these names: {', '.join(known)}")
            sys.modules.update(self._loaded)
            sys.meta_path.insert(0, self)
            try:
                importlib.invalidate_caches()
                return importlib.import_module(name)
            finally:
                sys.meta_path.remove(self)
                self._loaded = {one: sys.modules.pop(one) for one in [*sys.modules] if self.has(one)}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the files for Python's import; those within packages are found by their packages."""
        place = self._places.get(name)
        return None if place is None or path is not None else PathFinder.find_spec(name, [place], target)


_own: Final[ContextVar[Callable[[], OwnModules] | None]] = ContextVar("own modules", default=None)


@contextmanager
def importing_from(modules: Callable[[], OwnModules]) -> Iterator[None]:
    """Let `import_module` find modules first that are given when it is called, in this context."""
    token = _own.set(modules)
    try:
        yield
    finally:
        _own.reset(token)


def import_module(name: str) -> ModuleType:
    """Return the module of a name: the context's own one, or Python's.

    Raises what importing it raises, and what finding the context's modules raises.
    """
    given = _own.get()
    own = None if given is None else given()
    return own.load(name) if own is not None and own.has(name) else importlib.import_module(name)


def _modules_of(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the outermost modules of a file, each with the place that Python finds it in."""
    if file.suffix == ".py":
        yield file.stem, str(file.parent)
        return
    if file.is_dir():
        inside = {entry.name for entry in file.iterdir()}
    else:
        with zipfile.ZipFile(file) as archive:
            inside = {name.partition("/")[0] for name in archive.namelist()}
    names = {name.removesuffix(".py") for name in inside if name != "__init__.py"}
    yield from ((name, str(file)) for name in names if name.isidentifier() and not _is_pythons(name))
    if (file / "__init__.py").is_file():
        yield file.name, str(file.parent)


def _is_pythons(name: str) -> bool:
    return name in sys.stdlib_module_names or name == "__pycache__"


def _top(name: str) -> str:
    return name.partition(".")[0]
