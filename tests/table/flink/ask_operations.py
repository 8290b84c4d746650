"""Ask real Flink what the operations of operations.txt answer; the answers are in operations.json beside this file.

    /path/to/venv/bin/python tests/table/flink/ask_operations.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
An operation that Flink refuses has the message of the error as its answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment
from tables import HERE, answer, names_of, operations  # beside this file


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "1")
    env.get_config().set_local_timezone("UTC")
    with TemporaryDirectory() as directory:
        names = names_of(env, Path(directory))
        answers = {name: asked(env, names, text) for name, text in operations().items()}
    (HERE / "operations.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")


def asked(env: TableEnvironment, names: dict[str, Any], text: str) -> dict[str, Any]:
    """Return what Flink answers to an operation."""
    try:
        return answer(env, names, text)
    except Exception as error:
        return refusal(error)


def refusal(error: Exception) -> dict[str, Any]:
    """Return the answer to what Flink refuses."""
    lines = str(error).splitlines()
    return {"error": next((line for line in lines[1:] if "Exception: " in line), lines[0])}


if __name__ == "__main__":
    main()
