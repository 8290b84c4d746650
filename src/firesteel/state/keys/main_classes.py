"""Classes of the user's script, found by name: a worker has no such script as its `__main__`.

Known classes are cached. Others are looked up in the script if this process runs it, or among the classes that came
with the program's functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from cloudpickle import cloudpickle as tracking

from firesteel.common.errors import SerializationError

_classes: Final[dict[str, type]] = {}
_program: Final[list[Callable[[], object]]] = []


def remember_main_class(kind: type) -> str:
    """Record a class of the script, and return its name."""
    _classes[kind.__qualname__] = kind
    return kind.__qualname__


def main_class(qualname: str) -> type:
    """Return the class of the script with this name. Raises SerializationError if the program has none."""
    found = _classes.get(qualname)
    if found is None:
        found = _classes[qualname] = _find(qualname)
    return found


def find_classes_in(load: Callable[[], object]) -> None:
    """Set the function that unpickles all functions of this worker's program; it is called for an unknown class.

    A task unpickles only its own functions, but the class of a key may be known only to a key selector elsewhere.
    """
    _program[:] = [load]


def forget_main_classes() -> None:
    """Clear the cache of classes of the script: the worker may have received another program."""
    _classes.clear()


def _shipped(qualname: str) -> list[type]:
    return [
        kind
        for kind in list(tracking._DYNAMIC_CLASS_TRACKER_BY_ID.values())
        if kind.__module__ == "__main__" and kind.__qualname__ == qualname
    ]


def _find(qualname: str) -> type:
    found: Any = sys.modules.get("__main__")
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and found.__module__ == "__main__":
        return found
    # cloudpickle has no public way to the classes it has made, and nothing else refers to one that only a function's
    # globals mention. A release that renames this table fails the tests that run scripts.
    shipped = _shipped(qualname)
    if not shipped and _program:
        _program[0]()
        shipped = _shipped(qualname)
    if not shipped:
        raise SerializationError(
            f"requires the class {qualname} of your script to read state",
            who="a key or value of state",
            got="a program that does not have or use it",
            hint=f"keep {qualname} in the script, or move it into a module",
        )
    latest: type = shipped[-1]  # an earlier one belongs to a program that this worker ran before
    return latest
