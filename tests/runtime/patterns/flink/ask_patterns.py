"""Ask real Flink which matches its automaton finds, and its operator in streams; see `cases.py`.

    FLINK_JARS=/path/to/pyflink/lib python tests/runtime/patterns/flink/ask_patterns.py

The directory has the jars of the `apache-flink` package (2.3.0 for the answers that are kept); a JDK 17 must be on the
PATH. Each line of the answers is a case and what Flink answers to
each run, or how it refuses the pattern. Cases with very many matches are left out.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MOST_MATCHES = 24


def main() -> None:
    """Write the answers."""
    sys.path.insert(0, str(HERE))
    from cases import cases, streams

    jars = ":".join(map(str, sorted(Path(os.environ["FLINK_JARS"]).glob("*.jar"))))
    with tempfile.TemporaryDirectory() as classes:
        programs = map(str, sorted(HERE.glob("*.java")))
        subprocess.run(["javac", "-cp", jars, "-d", classes, *programs], check=True, timeout=120)
        path = f"{classes}:{jars}"
        _keep(
            "patterns.jsonl.gz", [line for line in _answers("AskPatterns", path, cases()) if _is_small(line)]
        )
        _keep("streams.jsonl.gz", _answers("AskOperator", path, streams()))


def _answers(program: str, path: str, asked: Iterable[dict[str, Any]]) -> list[str]:
    ran = subprocess.run(
        ["java", "-Xmx700m", "-cp", path, program],
        input="".join(json.dumps(case) + "\n" for case in asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return ran.stdout.splitlines()


def _keep(name: str, lines: list[str]) -> None:
    file = HERE / name
    file.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), 9, mtime=0))
    print(f"{name}: {len(lines)} lines, {file.stat().st_size} bytes")


def _is_small(line: str) -> bool:
    return all(len(answer) <= MOST_MATCHES for answer in json.loads(line).get("answers", ()))


if __name__ == "__main__":
    main()
