"""The Python environment of a job's workers, set up there: installed requirements and unpacked archives.

Spark unpacks a job's archives once for each executor. Requirements are installed once for each machine, into a
directory named by their content. A job with either of them has separate Python workers (see
`firesteel.spark.executor`), so it shares neither modules nor a working directory with other jobs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark import SparkFiles

from firesteel.common.errors import ProgramError
from firesteel.state.disk.root import SWEEP_EVERY_S, work_root
from firesteel.state.disk.scratch import unwritable

REQUIREMENTS: Final = "requirements.txt"
CACHED: Final = "cached"
"""Names within the archive that carries a job's requirements."""

_SHOWN: Final = 1500
_PACKAGES: Final = "python-packages"
"""The directory of installed requirements in the work root."""

_prepared: set[WorkerPython] = set()
_said: float | None = None


@dataclass(frozen=True)
class WorkerPython:
    """The function that a worker calls before it unpickles the program's objects; it works once for each process.

    `requirements` and the first of each pair in `archives` are names of directories that Spark has unpacked; the second
    is the name that the program's functions use. `then` is called at the end.
    """

    key: str
    requirements: str | None
    archives: tuple[tuple[str, str], ...]
    then: Callable[[], None] | None

    def __call__(self) -> None:
        if self not in _prepared:
            root = Path(SparkFiles.getRootDirectory()).resolve()
            if self.requirements is not None:
                use_packages(installed(root / self.requirements))
            if self.archives:
                move_to(_working_directory(root, self.key, self.archives))
            _prepared.add(self)
        elif self.requirements is not None:
            _say_that_packages_are_used()
        if self.then is not None:
            self.then()


def installed(bundle: Path) -> Path:
    """Return the directory with the packages of a requirements bundle, installed by pip if it is not there yet.

    Processes that need it at the same time wait for one of them. Raises ProgramError with pip's message.
    """
    of = f"{bundle.name} {sys.version} {sys.platform}"
    target = work_root() / _PACKAGES / hashlib.sha256(of.encode()).hexdigest()[:24]
    try:
        target.parent.mkdir(exist_ok=True)
        with _locked(target.parent):
            if not target.exists():
                draft = target.with_suffix(".new")
                shutil.rmtree(draft, ignore_errors=True)
                _install(bundle, draft)
                draft.rename(target)
    except OSError as error:
        raise unwritable(
            f"the directory of installed requirements {target}", "cannot be made", error
        ) from error
    _say_that_packages_are_used()
    return target


def _say_that_packages_are_used() -> None:
    """Mark a directory of the work root as used; those that nobody touches for days are removed."""
    global _said
    if _said is None or time.monotonic() - _said > SWEEP_EVERY_S:
        os.utime(work_root() / _PACKAGES)
        _said = time.monotonic()


def use_packages(directory: Path) -> None:
    """Make imports find the packages of a directory before all others, and subprocesses its programs."""
    sys.path.insert(0, str(directory))
    os.environ["PATH"] = f"{directory / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"


def move_to(directory: Path) -> None:
    """Make this the working directory of the process; modules on relative paths stay importable."""
    sys.path[:] = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - it need not exist
    for module in list(sys.modules.values()):
        places = getattr(module, "__path__", None)
        if isinstance(places, list):
            places[:] = [os.path.abspath(place) for place in places]  # noqa: PTH100
    for place in [place for place in sys.path_importer_cache if not os.path.isabs(place)]:  # noqa: PTH117
        del sys.path_importer_cache[place]
    os.chdir(directory)


def _working_directory(root: Path, key: str, archives: tuple[tuple[str, str], ...]) -> Path:
    directory = root / f"firesteel-{key}"
    directory.mkdir(exist_ok=True)
    for unpacked, target in archives:
        with suppress(FileExistsError):
            (directory / target).symlink_to(root / unpacked)
    return directory


def _install(bundle: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    command += ["--target", str(target), "--requirement", str(bundle / REQUIREMENTS)]
    if (bundle / CACHED).is_dir():
        command += ["--no-index", "--find-links", str(bundle / CACHED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        target.mkdir(exist_ok=True)  # pip creates none if there are no packages
        return
    words = (done.stderr or done.stdout).strip()
    raise ProgramError(
        "requires packages that can be installed",
        who="set_python_requirements",
        got=words.splitlines()[-1] if words else f"exit code {done.returncode} of pip",
        hint="check the file, or ship the packages: pip download -d DIRECTORY -r FILE, and pass DIRECTORY, too",
        details=f"{' '.join(command)}\n{words[-_SHOWN:]}",
    )


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
