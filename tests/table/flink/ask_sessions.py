"""Ask real Flink what the sessions of sessions.sql answer; the answers are in sessions.json beside this file.

    /path/to/venv/bin/python tests/table/flink/ask_sessions.py [NAME ...]

With names of sessions, the answers of the others stay as they are.
The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
Each session has a TableEnvironment of its own; one whose name begins with "batch" is in BATCH mode. ${HERE} stands for
an empty directory. The sessions "scripts: ..." do what the scripts do with which Flink tests its SQL client and gateway
(flink-sql-client and flink-sql-gateway, src/test/resources/sql/*.q), in other words. In those with "options" in their
names SET does what it does in Flink's shell, which alone knows it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from py4j.protocol import Py4JJavaError
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.util.exceptions import JavaException
from session_file import sessions  # beside this file

HERE = Path(__file__).parent
SET = re.compile("SET '([^']*)' = '([^']*)'")


def main() -> None:
    """Write the answers."""
    file, wanted = HERE / "sessions.json", sys.argv[1:]
    known = json.loads(file.read_text()) if wanted else {}
    answers = {
        name: asked(name, statements) if not wanted or name in wanted else known[name]
        for name, statements in sessions(HERE / "sessions.sql").items()
    }
    file.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")


def asked(name: str, statements: list[str]) -> list[dict[str, Any]]:
    """Return what Flink answers to each statement of a session."""
    settings = (
        EnvironmentSettings.in_batch_mode()
        if name.startswith("batch")
        else EnvironmentSettings.in_streaming_mode()
    )
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1")
    in_shell = name.startswith(("scripts: options", "batch: scripts: options"))
    with TemporaryDirectory() as here:
        return [
            option_set(env, *SET.fullmatch(statement).groups())
            if in_shell and SET.fullmatch(statement)
            else answer(env, statement.replace("${HERE}", here))
            for statement in statements
        ]


def option_set(env: TableEnvironment, key: str, value: str) -> dict[str, Any]:
    """Set an option as Flink's shell does, and return its answer."""
    env.get_config().set(key, value)
    return {"kind": "SUCCESS", "columns": [["result", "STRING"]], "printed": "OK\n"}


def answer(env: TableEnvironment, statement: str) -> dict[str, Any]:
    """Return the kind of result, its columns and its printed form; or the messages of the error."""
    jvm = get_gateway().jvm
    try:
        result = env._j_tenv.executeSql(statement)
        bytes_out = jvm.java.io.ByteArrayOutputStream()
        before = jvm.java.lang.System.out
        jvm.java.lang.System.setOut(jvm.java.io.PrintStream(bytes_out, True, "UTF-8"))
        try:
            result.print()
        finally:
            jvm.java.lang.System.setOut(before)
    except (Py4JJavaError, JavaException) as error:
        return {"error": messages(error)}
    schema = result.getResolvedSchema()
    types = schema.getColumnDataTypes()
    return {
        "kind": result.getResultKind().toString(),
        "columns": [[name, types[place].toString()] for place, name in enumerate(schema.getColumnNames())],
        "printed": bytes_out.toString("UTF-8"),
    }


def messages(error: Exception) -> list[str]:
    """Return the messages of an exception and of its causes."""
    found = []
    cause = getattr(error, "java_exception", None)
    if cause is None:
        return [str(error).split("\n\tat ")[0]]
    while cause is not None:
        found.append(str(cause.getMessage()))
        cause = cause.getCause()
    return found


if __name__ == "__main__":
    main()
