"""The Python of somebody who reads a page: runs one command after the other, all in this process, on one Spark.

Each line of standard input is a command, ``[words]`` in JSON: a file and its arguments, or ``-m firesteel.cli`` and
what follows it. The answer is a line of JSON: the exit code, and what was printed on standard output and on standard
error.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from typer.testing import CliRunner

from firesteel.cli.main import app
from firesteel.cli.program import Program

CLI = ["-m", "firesteel.cli"]


def run(words: list[str]) -> tuple[int, str, str]:
    if words[:2] == CLI:
        done = CliRunner().invoke(app, words[2:], prog_name="firesteel")
        return done.exit_code, done.stdout, done.stderr
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as errors:
        try:
            Program(Path(words[0]), words[1:]).run()
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 1
    return code, printed.getvalue(), errors.getvalue()


if __name__ == "__main__":
    answers = sys.stdout
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)
