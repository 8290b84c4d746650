"""Record what real PyFlink prints for every oracle program: the expectations that Firesteel is tested against.

    python tests/oracle/record.py --python /path/to/venv/bin/python [--times 2] [name ...]

The interpreter must have `apache-flink` installed (2.3.0 for the recorded files); Java 17 must be on the PATH. With
`--times N` every program runs N times and its outputs must agree, so that nothing which Flink leaves open is recorded.
Without names all programs and PyFlink's own shipped examples are recorded; a program that fails is reported and keeps
its old expectation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.oracle.outputs import (
    EXAMPLES,
    EXPECTED,
    Comparison,
    comparison_of,
    expected_of,
    programs,
    timed_programs,
)


def main() -> int:
    """Record the programs named on the command line, or all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", type=Path, required=True, help="an interpreter with apache-flink installed"
    )
    parser.add_argument("--times", type=int, default=1, help="runs per program, which must agree")
    parser.add_argument("names", nargs="*", help="programs to record (default: all)")
    arguments = parser.parse_args()
    EXPECTED.mkdir(exist_ok=True)
    failed = []
    for name, path, comparison in _chosen(arguments.python, arguments.names):
        problem = _record(arguments.python, name, path, comparison, arguments.times)
        print(f"{name}: {problem or 'recorded'}", flush=True)
        if problem:
            failed.append(name)
    return 1 if failed else 0


def _chosen(python: Path, names: list[str]) -> Iterator[tuple[str, Path, Comparison]]:
    for program in [*programs(), *timed_programs()]:
        if not names or program.stem in names:
            yield program.name, program, comparison_of(program)
    for example, comparison in EXAMPLES.items():
        if not names or Path(example).stem in names:
            yield example, _examples_folder(python) / example, comparison


def _examples_folder(python: Path) -> Path:
    found = subprocess.run(
        [python, "-c", "import pyflink; print(pyflink.__path__[0])"],
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(found.stdout.strip()) / "examples"


def _record(python: Path, name: str, path: Path, comparison: Comparison, times: int) -> str | None:
    outputs = []
    for _ in range(times):
        ran = _run(python, path)
        if ran.returncode:
            return f"failed\n{ran.stdout[-1500:]}\n{ran.stderr[-6000:]}"
        outputs.append(comparison.normalise(ran.stdout))
    if any(output != outputs[0] for output in outputs):
        return "differs from run to run:\n" + "\n".join(outputs)
    expected_of(name).write_text(outputs[0], encoding="utf-8")
    return None


def _run(python: Path, path: Path) -> subprocess.CompletedProcess[str]:
    # Flink's workers look for `python` on the PATH.
    environment = os.environ | {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONHASHSEED": "0",
    }
    return subprocess.run(
        [python, path],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=path.parent,
    )


if __name__ == "__main__":
    raise SystemExit(main())
