"""`firesteel examples`: the example programs, which are installed with the package."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import typer

import firesteel
from firesteel.cli.tables import Column, show_table
from firesteel.common.errors import ConfigurationError


def list_examples() -> None:
    """Print each example's name and idea."""
    rows = [(program.stem, _idea(program)) for program in programs()]
    show_table([Column("NAME"), Column("IDEA", wraps=True)], rows)


def copy_example(name: str, directory: Path) -> None:
    """Copy an example, with the files it needs, and print how to run it.

    Raises ConfigurationError for an unknown name, or a file that already exists.
    """
    known = {program.stem: program for program in programs()}
    if name not in known:
        raise ConfigurationError(
            "requires a name that exists", who="examples", got=name, hint=", ".join(known)
        )
    program = known[name]
    files = {file: directory / file.relative_to(program.parent) for file in (program, *companions(program))}
    taken = [str(target) for target in files.values() if target.exists()]
    if taken:
        raise ConfigurationError(
            "does not overwrite", who="examples", got=", ".join(taken), hint="name another directory"
        )
    for file, target in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        typer.echo(target)


def programs() -> list[Path]:
    """Return the example programs, without the modules that only other examples import."""
    files = sorted(_directory().glob("*.py"))
    imported = {companion for file in files for companion in companions(file)}
    return [file for file in files if file not in imported]


def companions(program: Path) -> list[Path]:
    """Return the other files that an example needs: the modules it imports, the statements and the data it names."""
    text = program.read_text()
    tree = ast.parse(text)
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    beside = [file for file in program.parent.glob("*.py") if file.stem in modules]
    data = [file for file in (program.parent / "data").glob("*.csv") if file.name in text]
    statements = [file for file in program.parent.glob("*.sql") if file.name in text]
    return sorted([*beside, *data, *statements])


def _idea(program: Path) -> str:
    docstring = ast.get_docstring(ast.parse(program.read_text())) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


def _directory() -> Path:
    """Return the directory of examples: in the installed package or, in development, beside the sources."""
    package = Path(firesteel.__file__).parent
    installed = package / "examples"
    return installed if installed.is_dir() else package.parents[1] / "examples"
