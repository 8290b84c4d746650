"""Names of Firesteel in docstrings lead to what they name, as links in the pages do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
DOTTED = re.compile(r"(?<![\w./-])firesteel(?:\.\w+)+")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def docstrings(path: Path) -> Iterator[str]:
    """The docstrings of a module and all in it; also the strings that document variables."""
    for node in ast.walk(tree(path)):
        for statement in getattr(node, "body", ()) if isinstance(node, DOCUMENTED) else ():
            value = getattr(statement, "value", None)
            if (
                isinstance(statement, ast.Expr)
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
            ):
                yield value.value


@cache
def spoken() -> frozenset[str]:
    """The names that code uses as strings: options, loggers."""
    return frozenset(
        node.value
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value
    )


def leads_somewhere(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place = SOURCE.joinpath(*parts[:length])
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.exists():
                text = file.read_text()
                inside = all(re.search(rf"\b{part}\b", text) for part in parts[length:])
                return length > 1 and inside
    return False


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_names_in_docstrings_exist(path: Path) -> None:
    named = {name for text in docstrings(path) for name in DOTTED.findall(text)}
    wrong = [name for name in sorted(named) if name not in spoken() and not leads_somewhere(name)]
    assert not wrong


def test_a_name_that_is_nowhere_is_found() -> None:
    assert leads_somewhere("firesteel.runtime.plan.Plan.chains")
    assert leads_somewhere("firesteel.compiler")
    assert not leads_somewhere("firesteel.runtime.inputs")
    assert not leads_somewhere("firesteel.runtime.plan.Plane")
    assert not leads_somewhere("firesteel.epochs")
