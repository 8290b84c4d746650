"""What the import-linter's contracts do not say: few imports inside functions, and few circles of files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp

PACKAGE = Path(__file__).parents[1] / "src" / "firesteel"
MOST_INSIDE_FUNCTIONS = 6
MOST_CIRCLES = 2


def inside_functions() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("firesteel"):
                        yield f"{path.relative_to(PACKAGE)}:{node.lineno}"


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules of which each reaches every other."""
    reached = {module: reach(module, imports) for module in imports}
    groups = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in imports
        if module in reached[module]
    }
    return [set(group) for group in groups]


def reach(module: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(imports[module])
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting.extend(imports[other])
    return found


def test_few_imports_of_the_package_are_inside_functions():
    places = list(inside_functions())
    assert len(places) <= MOST_INSIDE_FUNCTIONS, places


def test_few_files_import_each_other():
    graph = grimp.build_graph("firesteel", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    found = circles(imports)
    assert len(found) <= MOST_CIRCLES, found
    assert all(len(circle) == 2 for circle in found), found


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]
