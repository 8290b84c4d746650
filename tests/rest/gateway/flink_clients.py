"""Flink's own clients of SQL gateways, and two of PyPI: fetched once, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Final

from bench.environments import CACHE, MAVEN, PYFLINK, pyflink_jars, python_with

HERE: Final = Path(__file__).parent / "flink"
_JARS: Final = CACHE / f"flink-gateway-{PYFLINK}"
_GATEWAY: Final = f"org/apache/flink/flink-sql-gateway/{PYFLINK}/flink-sql-gateway-{PYFLINK}.jar"
_DRIVER: Final = (
    f"org/apache/flink/flink-sql-jdbc-driver-bundle/{PYFLINK}/flink-sql-jdbc-driver-bundle-{PYFLINK}.jar",
    "org/slf4j/slf4j-api/1.7.36/slf4j-api-1.7.36.jar",
)
_OPENED: Final = (
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


def _jar(path: str) -> Path:
    jar = _JARS / path.rpartition("/")[2]
    if not jar.exists():
        jar.parent.mkdir(parents=True, exist_ok=True)
        draft = jar.with_suffix(".new")
        urllib.request.urlretrieve(MAVEN + path, draft)
        draft.replace(jar)
    return jar


def run_jdbc(address: str) -> str:
    """Return what the round of the JDBC driver prints."""
    path = os.pathsep.join(str(_jar(each)) for each in _DRIVER)
    command = ["java", "-Xmx256m", *_OPENED, "-cp", path, str(HERE / "JdbcRound.java"), address]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def run_python(package: str, version: str, program: str, url: str) -> str:
    """Return what a program prints that uses a package of PyPI, in an environment of its own."""
    python = python_with(CACHE / f"{package}-{version}", [f"{package}=={version}"])
    command = [str(python), str(HERE / program), url]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=_plain()).stdout


def _plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}


class SqlClient:
    """Flink's SQL client, with a home of its own below a directory."""

    def __init__(self, directory: Path) -> None:
        lib = [Path(jar) for jar in pyflink_jars().split(os.pathsep)]
        installed = lib[0].parents[1]
        self.home = directory / "flink"
        for name, jars in (
            ("lib", lib),
            ("opt", [*(installed / "opt").glob("flink-*.jar"), _jar(_GATEWAY)]),
            ("conf", [*(installed / "conf").glob("log4j*")]),
        ):
            (self.home / name).mkdir(parents=True)
            for file in jars:
                (self.home / name / file.name).symlink_to(file)
        shutil.copytree(installed / "bin", self.home / "bin")  # its scripts look beside what a link leads to
        (self.home / "log").mkdir()
        (self.home / "conf" / "config.yaml").write_text("parallelism.default: 1\n")
        self.environment = {
            **_plain(),
            "FLINK_HOME": str(self.home),
            "FLINK_CONF_DIR": str(self.home / "conf"),
            "JVM_ARGS": "-Xmx256m",
            "HOME": str(directory),
        }

    def command(self, address: str, *arguments: str) -> list[str]:
        """Return the command that starts it, for a gateway at an address."""
        script = str(self.home / "bin" / "sql-client.sh")
        return ["bash", script, "gateway", "--endpoint", address, *arguments]

    def run(self, address: str, *arguments: str) -> str:
        """Run it to its end and return what it prints."""
        command = self.command(address, *arguments)
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env=self.environment, cwd=self.home
        )
        return done.stdout
