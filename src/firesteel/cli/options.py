"""The options of commands that run a program: the program, and its workers' files. `flink run`'s names work, too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from firesteel.cli.program import Program


def _text(metavar: str, names: str, help: str) -> Any:
    return typer.Option(*names.split(), metavar=metavar, help=help, show_default=False)


_MODULE = "Run a module as the program: package.main."
_PY_FILES = "Python files, zip archives or directories for the program and its workers."
_REQUIREMENTS = "Packages that worker machines install, those in DIR if that is given."
_ARCHIVES = "Archives that are unpacked in the workers' working directory."
_PYTHON = "The workers' Python, which may lie in an archive."


File = Annotated[
    str | None,
    typer.Argument(
        metavar="PROGRAM", help="A Python file; with -m, the module's first argument.", show_default=False
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        help="The program's own arguments; those that begin with a dash after --.", show_default=False
    ),
]
Module = Annotated[str | None, _text("MODULE", "--module -m -pym --pyModule", _MODULE)]
PyFiles = Annotated[list[str] | None, _text("FILE,...", "--py-files -pyfs --pyFiles", _PY_FILES)]
Requirements = Annotated[
    str | None, _text("FILE[#DIR]", "--requirements -pyreq --pyRequirements", _REQUIREMENTS)
]
Archives = Annotated[list[str] | None, _text("FILE[#NAME],...", "--archives -pyarch --pyArchives", _ARCHIVES)]
Python = Annotated[str | None, _text("PATH", "--python -pyexec --pyExecutable", _PYTHON)]


def chosen_program(
    file: str | None, module: str | None, arguments: list[str] | None, py_files: list[str] | None
) -> Program:
    """Return the chosen program. Raises BadParameter if there is none."""
    given = [*arguments] if arguments else []
    files = [path.strip() for option in py_files or () for path in option.split(",") if path.strip()]
    if module is not None:
        return Program(module, [file, *given] if file is not None else given, files)
    if file is None:
        raise typer.BadParameter("requires a Python file, or -m MODULE", param_hint="PROGRAM")
    if not Path(file).is_file():
        raise typer.BadParameter(f"there is no such file: {file}", param_hint="PROGRAM")
    return Program(Path(file), given, files)


def python_options(
    program: Program, requirements: str | None, archives: list[str] | None, python: str | None
) -> dict[str, str]:
    """Return the given options as settings of a job, by Flink's names."""
    options = {
        "python.files": ",".join(program.python_files),
        "python.requirements": requirements,
        "python.archives": ",".join(archives or ()),
        "python.executable": python,
    }
    return {name: text for name, text in options.items() if text}
