"""Ask real Flink what operations answer in STREAMING mode; the answers are in streaming.json beside this file.

    /path/to/venv/bin/python tests/table/flink/ask_streaming.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
An operation that Flink refuses has the message of the error as its answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from ask_operations import refusal  # beside this file
from pyflink.table import EnvironmentSettings, TableEnvironment
from tables import HERE, names_of, streamed, streaming_operations


def main() -> None:
    """Write the answers."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1")
    env.get_config().set_local_timezone("UTC")
    answers = {}
    with TemporaryDirectory() as directory:
        names = names_of(env, Path(directory))
        for name, text in streaming_operations().items():
            try:
                answers[name] = streamed(env, names, text, in_order=name.startswith("in order"))
            except Exception as error:
                answers[name] = refusal(error)
    (HERE / "streaming.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
