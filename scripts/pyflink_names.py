"""Prints PyFlink's public names as JSON, to be kept as a list that `scripts/compatibility.py` looks up.

Usage, in an environment that has PyFlink: python scripts/pyflink_names.py MODULE... > NAMES.json. For each module
there are its public classes and functions, and for each class its public members, functions with their parameters.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def names(module: ModuleType) -> dict[str, list[str]]:
    """Return the public names of a module, each with its public members."""
    return {name: sorted(members(getattr(module, name))) for name in public(module)}


def public(module: ModuleType) -> list[str]:
    """Return what the module says is public, else the classes and functions that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(found) or inspect.isfunction(found))
        and found.__module__ == module.__name__
    ]


def members(found: Any) -> Iterator[str]:
    """Yield the public members of a class; functions have none."""
    if not inspect.isclass(found):
        return
    for name in dir(found):
        if name.startswith("_") or hasattr(object, name):
            continue
        member = inspect.getattr_static(found, name)
        bound = getattr(found, name) if isinstance(member, staticmethod | classmethod) else member
        is_function = inspect.isfunction(bound) or inspect.ismethod(bound)
        yield f"{name}({', '.join(_parameters(bound))})" if is_function else name


def _parameters(function: Any) -> Iterator[str]:
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for parameter in inspect.signature(function).parameters.values():
        yield marks.get(parameter.kind, "") + parameter.name


if __name__ == "__main__":
    found = {name: names(importlib.import_module(name)) for name in sys.argv[1:]}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
