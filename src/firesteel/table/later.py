"""The names of PyFlink's tables that are not there yet, each with its reason; using one says so."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.unsupported import UnsupportedImportError, UnsupportedNameError

_STRUCTURED: Final = "it is a type of PyFlink's own that SQL has not; use a ROW"
_JAVA: Final = "it is a class of Java, and there is no JVM for it"


def _each(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


CLASSES: Final = {"UserDefinedType": _STRUCTURED}
"""Classes of `pyflink.table`."""

METHODS: Final = {
    **_each(
        _JAVA, "create_java_function create_java_temporary_function create_java_temporary_system_function"
    ),
}
"""Methods of table environments."""


LATER: Final = {
    f"pyflink.table.{name}": reason
    for name, reason in {
        **CLASSES,
        **{
            f"{owner}.{name}": METHODS[name]
            for owner in ("TableEnvironment", "StreamTableEnvironment")
            for name in METHODS
        },
    }.items()
}
"""Full PyFlink name -> reason; that of a class or a module is the reason of all that is in it."""


def missing_class(name: str) -> NoReturn:
    """Raise the error for a name that `firesteel.table` lacks: one that is an ImportError, too."""
    if name not in CLASSES:
        raise AttributeError(f"module 'firesteel.table' has no attribute {name!r}")
    raise UnsupportedImportError("is not supported yet", who=f"firesteel.table.{name}", hint=CLASSES[name])


def later(name: str) -> UnsupportedNameError:
    """Make the error for the use of a name of `pyflink.table`."""
    owner, _, last = name.rpartition(".")
    return UnsupportedNameError(
        "is not supported yet", who=f"{owner}.{call_site(last)}", hint=LATER[f"pyflink.table.{name}"]
    )


class Incomplete:
    """A class of which PyFlink's has more methods; to look up one of these raises UnsupportedNameError."""

    def __getattr__(self, name: str) -> Any:
        owner = type(self).__name__
        if f"pyflink.table.{owner}.{name}" not in LATER:
            raise AttributeError(f"{owner!r} object has no attribute {name!r}")
        raise later(f"{owner}.{name}")
