"""The options of commands about jobs: which job, how it runs and from what state, and what is shown of it."""

from __future__ import annotations

from typing import Annotated

import typer

from firesteel.common.log_context import LogForm as Form

PyFlink = Annotated[bool, typer.Option("--pyflink", help="Let imports of pyflink find Firesteel.")]
Parallelism = Annotated[
    int | None,
    typer.Option("--parallelism", "-p", min=1, help="Subtasks of each operator.", show_default=False),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", metavar="KEY=VALUE", help="An option of the job or, spark.*, of Spark; repeatable."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(help="Spark's master: local[4], spark://host:7077, yarn, k8s://...", show_default=False),
]
LogForm = Annotated[
    Form | None,
    typer.Option("--log-format", help="The lines of the log (default: text).", show_default=False),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log what the engine does.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show whole tracebacks.")]
Json = Annotated[bool, typer.Option("--json", help="For programs, not for people.")]
RestoreFrom = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="DIR|latest|EPOCH",
        help="Start from a savepoint, from another job's state, from the job's last epoch (there must be one), "
        "or again from a kept epoch.",
        show_default=False,
    ),
]
AllowNonRestored = Annotated[
    bool,
    typer.Option(
        "--allow-non-restored-state", help="Leave out state that no operator of the program claims."
    ),
]
Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="The job's state directory, a path or a URL; or http://host:8081/jobs/ID.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="DIR",
        help="Where the savepoint goes: into a new directory below this one (default: the job's own place for them).",
        show_default=False,
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long the answer is waited for.")
]
TEN_MINUTES = 600.0
