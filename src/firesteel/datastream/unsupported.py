"""The behaviour of names that Firesteel lacks: UnsupportedError with the reason from `firesteel.datastream.gaps`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dis import opmap
from functools import wraps
from importlib.abc import MetaPathFinder
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn, TypeVar

from firesteel.common.errors import UnsupportedError
from firesteel.datastream.gaps import GAPS, MODULE_GAPS
from firesteel.graph.nodes import Location

_IMPORT_FROM: Final = opmap["IMPORT_FROM"]

F = TypeVar("F", bound=Callable[..., Any])


class UnsupportedModuleError(UnsupportedError, ModuleNotFoundError):
    """A module of PyFlink that Firesteel does not have; also an ImportError, so optional imports stay optional."""


class UnsupportedImportError(UnsupportedError, ImportError):
    """A PyFlink name that is imported from a module of Firesteel that lacks it."""


class UnsupportedNameError(UnsupportedError, AttributeError):
    """A PyFlink name that is looked up in a module of Firesteel that lacks it.

    Also an AttributeError, so that `hasattr` and `getattr` with a default report that it does not exist.
    """


def gap(name: str) -> Callable[[F], F]:
    """Decorate a method or `__init__` that replaces the gap `name`: a call raises UnsupportedError.

    >>> @gap("pyflink.datastream.StreamExecutionEnvironment.add_jars")
    ... def add_jars(*jars_path): ...
    >>> add_jars("my.jar")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.UnsupportedError: StreamExecutionEnvironment.add_jars (...) is not supported...
    """
    reason = GAPS[name]

    def decorate(method: F) -> F:
        @wraps(method)
        def unsupported(*_arguments: Any, **_named: Any) -> NoReturn:
            raise UnsupportedError(
                "is not supported", who=f"{short_name(name)} ({Location.of_caller()})", hint=reason
            )

        unsupported.__dict__["__gap__"] = name
        return unsupported  # type: ignore[return-value]

    return decorate


def fill_gaps() -> None:
    """Prepare every imported module and class for its gaps: a use of a missing name raises UnsupportedError."""
    for name in GAPS:
        owner, _, last = name.replace("pyflink", "firesteel", 1).rpartition(".")
        module, _, class_name = owner.rpartition(".")
        cls = getattr(sys.modules.get(module), class_name, None)
        if isinstance(cls, type) and not hasattr(cls, last):
            setattr(cls, last, gap(name)(_accessor))
        elif owner in sys.modules and "__getattr__" not in vars(sys.modules[owner]):
            vars(sys.modules[owner])["__getattr__"] = missing_names(owner)


def _accessor(self: Any) -> None:
    """Replace PyFlink's accessors of Java objects, which take no arguments."""


def missing_names(module: str) -> Callable[[str], NoReturn]:
    """Return a module's `__getattr__`: UnsupportedError for the module's gaps, AttributeError for other names.

    A lookup of a gap raises UnsupportedNameError, an import of one UnsupportedImportError.
    """
    pyflink = module.replace("firesteel", "pyflink", 1)

    def getattr_(name: str) -> NoReturn:
        reason = GAPS.get(f"{pyflink}.{name}")
        if reason is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        # `from module import name` would replace an AttributeError, and so lose the reason.
        kind = UnsupportedImportError if _is_importing(sys._getframe(1)) else UnsupportedNameError
        raise kind("is not supported", who=short_name(f"{pyflink}.{name}"), hint=reason)

    return getattr_


def _is_importing(frame: FrameType) -> bool:
    """Return whether the frame is at the `name` of `from module import name`."""
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


def module_gap(name: str) -> UnsupportedModuleError | None:
    """Return the error for importing the module `name` (of `pyflink` or `firesteel`); None if it is not a gap."""
    pyflink = name.replace("firesteel", "pyflink", 1)
    for gap_name, reason in MODULE_GAPS.items():
        if pyflink == gap_name or pyflink.startswith(f"{gap_name}."):
            error = UnsupportedModuleError("is not supported", who=f"import {name}", hint=reason)
            error.name = name
            return error
    return None


class _GapFinder(MetaPathFinder):
    """The last finder: reports that a missing module is a gap."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        del path, target
        error = module_gap(fullname) if fullname.startswith("firesteel.") else None
        if error is not None:
            raise error


def explain_missing_modules() -> None:
    """Make the import of a module that is a gap, under Firesteel's name, raise the gap's error."""
    if not any(isinstance(finder, _GapFinder) for finder in sys.meta_path):
        sys.meta_path.append(_GapFinder())


def short_name(name: str) -> str:
    """Return a PyFlink name in the form that programs use.

    >>> short_name("pyflink.datastream.DataStream.map")
    'DataStream.map'
    """
    parts = name.split(".")
    return ".".join(part for index, part in enumerate(parts) if part[0].isupper() or index == len(parts) - 1)
