"""`firesteel run --cluster`: uploads a program with its files, and has it run."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from firesteel.cli.program import Program
from firesteel.common.errors import ConfigurationError
from firesteel.datastream.ambient import Ambient
from firesteel.rest.client import ClusterClient

_LEFT_OUT: Final = frozenset({"__pycache__", ".git", ".venv"})


@dataclass(frozen=True)
class Submitted:
    """A program for a cluster, with the names of the secrets that it asks for."""

    program: Program
    surroundings: Ambient
    pyflink: bool
    requirements: str | None
    secrets: tuple[str, ...] = ()


def submit(url: str, submitted: Submitted) -> None:
    """Submit a program and print the address of its job.

    Raises ConfigurationError for a setting that a cluster has no place for, StateError if the cluster refuses.
    """
    surroundings, program = submitted.surroundings, submitted.program
    for option, value in (("--master", surroundings.master), ("--state-dir", surroundings.state_dir)):
        if value is not None:
            raise ConfigurationError("is the cluster's own", who=option, got=value, hint="leave it out")
    client = ClusterClient(url)
    with tempfile.TemporaryDirectory(prefix="firesteel-submit-") as directory:
        uploaded = client.upload(_packed(submitted, Path(directory)))
    configuration = {
        name: text
        for name, text in surroundings.configuration.items()
        if name not in ("python.files", "python.requirements")
    }
    body: dict[str, Any] = {
        "programArgsList": list(program.arguments),
        "parallelism": surroundings.parallelism,
        "savepointPath": surroundings.restore_from,
        "allowNonRestoredState": surroundings.allow_non_restored_state,
        "flinkConfiguration": configuration,
        "pyflink": submitted.pyflink,
        "secrets": list(submitted.secrets),
    }
    if isinstance(program.code, str):
        body["entryClass"] = program.code
    else:
        body["entryFile"] = program.code.name
    job = client.ask("POST", f"/programs/{uploaded}/run", body)["jobid"]
    typer.echo(f"{client.url}/jobs/{job}")


def _packed(submitted: Submitted, directory: Path) -> Path:
    """Return what is uploaded: the file, or an archive if there are more."""
    program = submitted.program
    if isinstance(program.code, Path) and not program.python_files and submitted.requirements is None:
        return program.code
    stem = program.code.partition(".")[0] if isinstance(program.code, str) else program.code.stem
    archive = directory / f"{stem}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, file in _files(submitted):
            packed.write(file, name)
    return archive


def _files(submitted: Submitted) -> Iterator[tuple[str, Path]]:
    program = submitted.program
    if isinstance(program.code, Path):
        yield program.code.name, program.code
    else:
        yield from _below(Path(program.code.partition(".")[0]))
    for said in program.python_files:
        file = Path(said)
        if file.is_dir():
            yield from ((name.partition("/")[2], found) for name, found in _below(file))
        else:
            yield file.name, file
    if submitted.requirements is not None:
        if "#" in submitted.requirements:
            raise ConfigurationError(
                "cannot send a directory of packages", who="--requirements", got=submitted.requirements
            )
        yield "requirements.txt", Path(submitted.requirements)


def _below(directory: Path) -> Iterable[tuple[str, Path]]:
    """Return the files below a directory, with names that begin with its own."""
    if not directory.is_dir():
        raise ConfigurationError(
            "requires a package in the current directory", who="--module", got=directory.name
        )
    return [
        (str(file.relative_to(directory.parent)), file)
        for file in sorted(directory.rglob("*"))
        if file.is_file() and not _LEFT_OUT.intersection(file.parts)
    ]
