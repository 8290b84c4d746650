"""The `run` script, on a machine made of stubs: what it does first, what it says, what it refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = (
    "sh",
    "env",
    "cat",
    "cp",
    "rm",
    "id",
    "sed",
    "head",
    "cksum",
    "dirname",
    "date",
    "touch",
    "mkdir",
    "chmod",
)

VENV = """#!/bin/sh
# Stands for a Python: makes a "venv" that holds this stub again, and notes what it is asked to install.
case "$*" in
    *version_info*) exit 0 ;;
    *python_version*) echo 3.12.0 ;;
    *"import venv"*) exit {venv_missing} ;;
    "-m venv "*) mkdir -p "$3/bin" && cat "$0" >"$3/bin/python" && chmod +x "$3/bin/python" ;;
    "-m pip "*" uv") echo "pip $*" >>"{log}"; cp "{uv}" "${{0%/*}}/uv" ;;
    "-m pip "*) echo "pip $*" >>"{log}"; exit {pip_code} ;;
    *) echo "python $*" ;;
esac
"""


class Machine:
    """A project directory with the script, and a PATH of which every program is known."""

    def __init__(self, directory: Path, script: Path) -> None:
        self.project = directory / "a project"
        self.bin = directory / "bin"
        self.log = directory / "pip.log"
        self.project.mkdir()
        self.bin.mkdir()
        text = script.read_text().replace("/usr/lib/jvm", str(directory / "jvm"))
        for place in ("/usr/lib/postgresql", "/opt/homebrew/opt/postgresql", "/usr/local/opt/postgresql"):
            text = text.replace(place, str(directory / "postgresql"))
        self.write(self.project / "run", text)
        (self.project / "pyproject.toml").write_text("[project]\n")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.python()
        self.java("21.0.4")
        self.postgres()

    def postgres(self) -> None:
        for program in ("initdb", "postgres", "pytest"):
            self.write(self.bin / program, f"#!/bin/sh\necho {program}\n")

    def without_postgres(self) -> None:
        (self.bin / "initdb").unlink()

    def as_root(self) -> None:
        (self.bin / "id").unlink()
        self.write(self.bin / "id", "#!/bin/sh\necho 0\n")

    def write(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def python(self, *, venv_missing: int = 0, pip_code: int = 0, uv: bool = True) -> None:
        """Write the stub of Python, whose pip installs the stub of uv, if there is one."""
        program = self.bin.with_name("stub-of-uv")
        program.unlink(missing_ok=True)
        if uv:
            self.write(program, f'#!/bin/sh\necho "uv $*" >>"{self.log}"\nexit {pip_code}\n')
        text = VENV.format(log=self.log, uv=program, venv_missing=venv_missing, pip_code=pip_code)
        self.write(self.bin / "python3", text)

    def java(self, version: str) -> None:
        self.write(self.bin / "java", f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.project / "run"), *arguments],
            capture_output=True,
            text=True,
            env={"PATH": str(self.bin), "HOME": str(self.project)},
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path, project: Path) -> Machine:
    if not Path("/bin/sh").exists():
        pytest.skip("no POSIX shell")
    return Machine(tmp_path, project / "run")


def test_without_a_command_it_explains_itself(machine: Machine) -> None:
    done = machine.run()
    assert done.returncode == 0
    for command in (
        "demo [FILE]",
        "test [ARGS]",
        "check",
        "bench [PART]",
        "chaos [ARGS]",
        "soak [ARGS]",
        "CMD ...",
    ):
        assert command in done.stdout
    assert not (machine.project / ".venv").exists()


def test_first_use_makes_the_environment_and_says_so(machine: Machine) -> None:
    done = machine.run("python", "-c", "1")
    assert done.returncode == 0, done.stderr
    assert "first use: making the environment .venv with" in done.stderr
    assert "the environment is ready" in done.stderr
    assert done.stdout == "python -c 1\n"
    *_, installed = machine.log.read_text().splitlines()
    assert installed.startswith("uv pip install ")
    assert installed.endswith(f" --editable {machine.project}[dev]")


def test_pip_installs_where_there_is_no_uv(machine: Machine) -> None:
    machine.python(uv=False)
    done = machine.run("python", "-c", "1")
    assert done.stdout == "python -c 1\n", done.stderr
    *_, installed = machine.log.read_text().splitlines()
    assert installed.startswith("pip -m pip install ")
    assert installed.endswith(f" --editable {machine.project}[dev]")


def test_later_uses_are_silent_until_pyproject_changes(machine: Machine) -> None:
    machine.run("true")
    assert machine.run("python", "-V").stderr == ""
    (machine.project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert "pyproject.toml has changed" in machine.run("python", "-V").stderr
    assert machine.log.read_text().count("--editable") == 2
    assert machine.run("python", "-V").stderr == ""


def test_a_failed_installation_is_made_good_by_the_next_use(machine: Machine) -> None:
    machine.python(pip_code=1)
    failed = machine.run("python", "-V")
    assert failed.returncode == 1
    assert "installing failed" in failed.stderr
    machine.python()
    assert machine.run("python", "-V").returncode == 0


def test_a_project_that_was_moved_gets_a_new_environment(machine: Machine) -> None:
    machine.run("python", "-V")
    machine.project = machine.project.rename(machine.project.with_name("moved"))
    assert "making the environment" in machine.run("python", "-V").stderr


def test_no_recent_python(machine: Machine) -> None:
    machine.write(machine.bin / "python3", "#!/bin/sh\necho 'Python 3.8.1'\nexit 1\n")
    done = machine.run("test")
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert "Python 3.8.1" in done.stderr


def test_an_old_java_and_no_package_manager(machine: Machine) -> None:
    machine.java("1.8.0_392")
    done = machine.run("demo")
    assert done.returncode == 1
    assert "Java 17 or newer" in done.stderr
    assert "package manager" in done.stderr


def test_without_root_the_exact_command_is_printed(machine: Machine) -> None:
    machine.java("11.0.2")
    (machine.bin / "id").unlink()
    machine.write(machine.bin / "id", "#!/bin/sh\necho 1000\n")
    machine.write(machine.bin / "apt-get", "#!/bin/sh\nexit 1\n")
    machine.write(machine.bin / "apt-cache", '#!/bin/sh\n[ "$2" = openjdk-17-jre-headless ]\n')
    done = machine.run("demo")
    assert done.returncode == 1
    command = "sudo apt-get install -y --no-install-recommends openjdk-17-jre-headless"
    assert f"please run:  {command}" in done.stderr


def test_as_root_java_is_installed(machine: Machine) -> None:
    (machine.bin / "java").unlink()
    machine.as_root()
    java = machine.bin / "java"
    install = f"printf '#!/bin/sh\\necho \"version \\\\\"21.0.1\\\\\"\"\\n' >'{java}' && chmod +x '{java}'"
    machine.write(machine.bin / "apt-get", f'#!/bin/sh\n[ "$1" = update ] || {{ {install}; }}\n')
    machine.write(machine.bin / "apt-cache", "#!/bin/sh\nexit 0\n")
    done = machine.run("python", "-V")
    assert done.returncode == 0, done.stderr
    assert "installing it: apt-get install -y --no-install-recommends openjdk-21-jre-headless" in done.stderr
    assert done.stdout == "python -V\n"


@pytest.mark.parametrize("place", ["bin", "postgresql/15/bin"])
def test_as_root_postgres_is_installed_for_the_tests(machine: Machine, place: str) -> None:
    machine.without_postgres()
    machine.as_root()
    target = machine.bin.parent / place
    install = f"mkdir -p '{target}' && printf '#!/bin/sh\\n' >'{target}/initdb' && chmod +x '{target}/initdb'"
    machine.write(machine.bin / "apt-get", f'#!/bin/sh\n[ "$1" = update ] || {{ {install}; }}\n')
    machine.write(machine.bin / "apt-cache", "#!/bin/sh\nexit 0\n")
    done = machine.run("test")
    assert done.returncode == 0, done.stderr
    assert "A PostgreSQL server, which the tests of the database sink use, is missing" in done.stderr
    assert "installing it: apt-get install -y --no-install-recommends postgresql" in done.stderr
    assert done.stdout == "pytest\n"
    assert "missing" not in machine.run("test").stderr


def test_without_root_the_command_for_postgres_is_printed(machine: Machine) -> None:
    machine.without_postgres()
    (machine.bin / "id").unlink()
    machine.write(machine.bin / "id", "#!/bin/sh\necho 1000\n")
    machine.write(machine.bin / "apt-get", "#!/bin/sh\nexit 1\n")
    machine.write(machine.bin / "apt-cache", "#!/bin/sh\nexit 0\n")
    assert machine.run("demo").returncode == 0  # which needs no database
    done = machine.run("test")
    assert done.returncode == 1
    assert "please run:  sudo apt-get install -y --no-install-recommends postgresql\n" in done.stderr


def test_a_python_without_venv_is_completed_or_explained(machine: Machine) -> None:
    machine.python(venv_missing=1)
    done = machine.run("python", "-V")
    assert done.returncode == 1
    assert "Python's venv module is missing" in done.stderr


def test_java_home_counts_before_the_path(machine: Machine, tmp_path: Path) -> None:
    machine.java("1.8.0_392")
    home = tmp_path / "jvm" / "seventeen"
    (home / "bin").mkdir(parents=True)
    machine.write(home / "bin" / "java", "#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    machine.run("true")
    assert machine.run("python", "-V").returncode == 0


def test_the_script_is_posix(project: Path) -> None:
    shell = shutil.which("dash") or "/bin/sh"
    for script in ("run", ".ci/run"):
        subprocess.run([shell, "-n", str(project / script)], check=True)
    assert os.access(project / "run", os.X_OK)
    assert sys.version_info >= (3, 11)
