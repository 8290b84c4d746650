"""The Python of somebody who reads pages: runs one command after the other, all in this process, on one Spark.

Each line of standard input is a command in JSON, ``[directory, words]``: where it is run, and a file and its arguments,
or ``-m firesteel.cli`` and what follows it. The answer is a line of JSON: the exit code, and what was printed on
standard output and on standard error. In another directory begins another page: the modules of the former one are
forgotten, and its environment variables, too.
"""

from __future__ import annotations

import io
import json
import os
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


def turn_to(directory: Path, environment: dict[str, str]) -> None:
    """Begin a page, unless it is the same one."""
    before = Path.cwd()
    if directory == before:
        return
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).is_relative_to(before):
            del sys.modules[name]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)


if __name__ == "__main__":
    answers, environment = sys.stdout, dict(os.environ)
    for line in sys.stdin:
        directory, words = json.loads(line)
        turn_to(Path(directory), environment)
        print(json.dumps(run(words)), file=answers, flush=True)
