"""Lets a program for PyFlink import Firesteel under PyFlink's name."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.datastream.unsupported import UnsupportedModuleError, module_gap

_ELSEWHERE: Final = {
    "pyflink.metrics": "firesteel.common.metrics",
    "pyflink.metrics.metricbase": "firesteel.common.metrics",
    "pyflink.serializers": "firesteel.common.serializer",
    "pyflink.table.resolved_expression": "firesteel.table.resolved_schema",
}
"""Modules with another path than in PyFlink."""

_PACKAGES: Final = frozenset(name.rpartition(".")[0] for name in _ELSEWHERE)
_WHERE_TO_LOOK: Final = "docs/compatibility.md lists what there is"


def install_pyflink_alias() -> None:
    """Make `import pyflink...` return Firesteel's modules: the same objects, so types and state are the same too.

    A name that Firesteel lacks raises UnsupportedError, which for a module is also an ImportError. A second call
    changes nothing. Raises ProgramError if the real PyFlink has already been imported.

    >>> install_pyflink_alias()
    >>> import pyflink.datastream
    >>> pyflink.datastream.DataStream
    <class 'firesteel.datastream.streams.plain.DataStream'>
    """
    if any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        return
    if "pyflink" in sys.modules:
        raise ProgramError(
            "requires that PyFlink is not imported yet",
            who="the alias for pyflink",
            got=f"{sys.modules['pyflink'].__file__}",
            hint="start the program with: firesteel run --pyflink program.py",
        )
    sys.meta_path.insert(0, _AliasFinder())


class _AliasFinder(importlib.abc.MetaPathFinder):
    """Finds `pyflink` and everything below it in Firesteel."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != "pyflink" and not fullname.startswith("pyflink."):
            return None
        gap = module_gap(fullname)
        if gap is not None:
            raise gap
        actual = _ELSEWHERE.get(fullname, fullname.replace("pyflink", "firesteel", 1))
        found = importlib.util.find_spec(actual)
        if found is None:
            raise UnsupportedModuleError("is not supported", who=f"import {fullname}", hint=_WHERE_TO_LOOK)
        # The import system gives a module that replaces one of PyFlink's packages an empty path.
        is_package = found.submodule_search_locations is not None or fullname in _PACKAGES
        return ModuleSpec(fullname, _AliasLoader(actual), is_package=is_package)


class _AliasLoader(importlib.abc.Loader):
    """Loads a module of Firesteel under another name."""

    def __init__(self, actual: str) -> None:
        self._actual = actual

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        del spec
        module = importlib.import_module(self._actual)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec into the module, which must keep its original spec.
        module.__spec__ = self._spec
