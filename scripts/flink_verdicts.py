"""Ask Flink's own SQL parser about statements: `python scripts/flink_verdicts.py SITE_PACKAGES FILE`.

SITE_PACKAGES is the directory that `apache-flink` is installed in (an environment of its own; Firesteel never
needs it). FILE has a JSON object a line, each with the `sql` of a statement; it is rewritten with what Flink's
parser says of each: `accepted`, and where it is not, `line`, `column` and the first line of `message`. A line
with the key `grouped` gets the statement as Flink writes it with every operation in parentheses. Needs Java 11
with its compiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any


def verdicts(statements: list[str], site_packages: Path) -> list[dict[str, Any]]:
    """Return what Flink's parser says of each statement."""
    jars = site_packages / "pyflink" / "lib"
    with tempfile.TemporaryDirectory() as directory:
        [loader] = jars.glob("flink-table-planner-loader-*.jar")
        with zipfile.ZipFile(loader) as archive:
            planner = archive.extract("flink-table-planner.jar", directory)
        class_path = ":".join([directory, planner, *map(str, sorted(jars.glob("*.jar")))])
        source = Path(__file__).with_name("FlinkVerdicts.java")
        subprocess.run(
            ["javac", "-proc:none", "-d", directory, "-cp", class_path, str(source)],
            check=True,
        )
        ran = subprocess.run(
            ["java", "-cp", class_path, source.stem],
            input="\0".join(statements).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
    return [json.loads(line) for line in ran.stdout.decode().splitlines()]


def main() -> None:
    """Rewrite the file."""
    file = Path(sys.argv[2])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = verdicts([line["sql"] for line in lines], Path(sys.argv[1]))
    with file.open("w") as output:
        for line, verdict in zip(lines, found, strict=True):
            if "grouped" not in line:
                verdict.pop("grouped", None)
            output.write(json.dumps({"sql": line["sql"], **verdict}) + "\n")


if __name__ == "__main__":
    main()
