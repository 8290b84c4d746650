"""Ask real Flink which matches its automaton finds; see `cases.py`.

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
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = HERE / "patterns.jsonl.gz"
MOST_MATCHES = 24


def main() -> None:
    """Write the answers."""
    sys.path.insert(0, str(HERE))
    from cases import cases

    jars = ":".join(map(str, sorted(Path(os.environ["FLINK_JARS"]).glob("flink-*.jar"))))
    asked = "".join(json.dumps(case) + "\n" for case in cases())
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(
            ["javac", "-cp", jars, "-d", classes, str(HERE / "AskPatterns.java")], check=True, timeout=120
        )
        ran = subprocess.run(
            ["java", "-Xmx512m", "-cp", f"{classes}:{jars}", "AskPatterns"],
            input=asked,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=600,
        )
    kept = [line for line in ran.stdout.splitlines() if _is_small(line)]
    ANSWERS.write_bytes(gzip.compress("".join(f"{line}\n" for line in kept).encode(), 9, mtime=0))
    print(f"{len(kept)} cases, {ANSWERS.stat().st_size} bytes")


def _is_small(line: str) -> bool:
    return all(len(answer) <= MOST_MATCHES for answer in json.loads(line).get("answers", ()))


if __name__ == "__main__":
    main()
