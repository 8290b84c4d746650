"""PyFlink's public names, looked up one by one."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.datastream.gaps import GAPS, MODULE_GAPS
from firesteel.datastream.unsupported import UnsupportedModuleError
from firesteel.table.later import LATER
from scripts.compatibility import PAGE, names, page

NAMES = list(names())
TABLE_NAMES = list(names("firesteel.table"))


def test_at_least_nine_of_ten_names_work():
    working = sum(name.problem is None for name in NAMES)
    assert len(NAMES) > 1200
    assert working / len(NAMES) >= 0.9


def test_every_name_works_or_is_a_gap():
    listed = set(GAPS) | {name.full for name in NAMES if f"{name.module}.{name.owner}" in GAPS}
    surprising = [(name.full, name.problem) for name in NAMES if name.problem and name.full not in listed]
    assert surprising == []


def test_every_name_of_tables_works_or_comes_later():
    reasons = {*LATER.values(), *MODULE_GAPS.values()}
    surprising = [(name.full, name.problem) for name in TABLE_NAMES if name.problem not in (None, *reasons)]
    assert surprising == []
    assert {*LATER} <= {name.full for name in TABLE_NAMES}


@pytest.mark.parametrize("name", LATER)
def test_what_comes_later_says_so(name):
    with pytest.raises(UnsupportedError):
        use_of_tables(name)


def use_of_tables(name: str) -> None:
    """Import the class, or look the method up in an instance of it, or call the type."""
    owner, _, last = name.replace("pyflink", "firesteel", 1).rpartition(".")
    if owner in sys.modules:
        getattr(sys.modules[owner], last)
        return
    cls = getattr(sys.modules["firesteel.table"], owner.rpartition(".")[2])
    found = getattr(object.__new__(cls), last)
    found(*[None] * len(arguments(found, skip_self=False)))


@pytest.mark.parametrize("name", GAPS)
def test_gap_is_a_name_of_pyflink(name):
    assert name in {known.full for known in NAMES}


@pytest.mark.parametrize("name", GAPS)
def test_gap_raises_when_it_is_used(name):
    with pytest.raises(UnsupportedError):
        use(name)


def use(name: str) -> None:
    """Import the gap's module, find the class in it, and call the gap with None for every argument."""
    module_name, attributes = name.replace("pyflink", "firesteel", 1), []
    while module_name not in sys.modules:
        module_name, _, attribute = module_name.rpartition(".")
        attributes.insert(0, attribute)
    owner: Any = None
    found: Any = sys.modules[module_name]
    for attribute in attributes:
        owner, found = found, getattr(found, attribute)
    if inspect.isclass(found):
        found(*[None] * len(arguments(found.__init__, skip_self=True)))
        return
    static = isinstance(inspect.getattr_static(owner, attributes[-1]), staticmethod)
    receiver = [] if static else [SimpleNamespace(name="state")]
    found(*receiver, *[None] * len(arguments(found, skip_self=not static)))


def arguments(function: Any, skip_self: bool) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())[1 if skip_self else 0 :]
    return [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


MISSING = "pyflink.datastream.connectors.base.JavaFunctionWrapper"


def test_name_that_a_module_lacks_is_not_there():
    base = importlib.import_module("firesteel.datastream.connectors.base")
    assert not hasattr(base, "JavaFunctionWrapper")
    assert getattr(base, "JavaFunctionWrapper", None) is None
    with pytest.raises(UnsupportedError, match="JavaFunctionWrapper is not supported") as raised:
        _ = base.JavaFunctionWrapper
    assert GAPS[MISSING] in str(raised.value)


def test_import_of_a_name_that_a_module_lacks_gives_the_reason():
    with pytest.raises(ImportError, match="JavaFunctionWrapper is not supported") as raised:
        from firesteel.datastream.connectors.base import JavaFunctionWrapper  # noqa: F401
    assert isinstance(raised.value, UnsupportedError)
    assert GAPS[MISSING] in str(raised.value)


def test_star_import_of_a_module_with_gaps_takes_what_is_there():
    names: dict[str, Any] = {}
    exec("from firesteel.datastream.connectors.base import *", names)
    assert "SupportsPreprocessing" in names
    assert "JavaFunctionWrapper" not in names


@pytest.mark.parametrize("name", MODULE_GAPS)
def test_module_gap_raises_an_import_error_with_the_reason(name):
    with pytest.raises(UnsupportedModuleError) as raised:
        importlib.import_module(name.replace("pyflink", "firesteel", 1))
    assert isinstance(raised.value, ImportError)
    assert MODULE_GAPS[name] in str(raised.value)


def test_page_is_up_to_date():
    assert Path(PAGE).read_text("utf-8") == page(), "run: python scripts/compatibility.py"
