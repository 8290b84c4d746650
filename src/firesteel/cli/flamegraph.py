"""`firesteel flamegraph`: where the time of a job's operators goes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import typer

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError
from firesteel.common.suggestions import did_you_mean
from firesteel.control.asking import ask, open_job
from firesteel.control.views.flame_svg import flame_svg
from firesteel.control.views.flamegraphs import CpuKind, FlameNode, flame_tree, read_samples
from firesteel.control.views.plans import read_plan
from firesteel.rest.client import state_directory_of

_PATIENCE_S: Final = 60
"""How long the answer may take beyond the time of sampling: a long epoch may be running."""


def draw_flame_graph(
    location: str, operator: str | None, kind: CpuKind, seconds: float, target: Path | None
) -> None:
    """Sample a running job and write the flame graph of an operator (None: of all) as SVG, or as JSON if there is no
    target. Raises StateError without a driver, or if no operator has this name.
    """
    storage = open_job(state_directory_of(location))
    names = _names(storage, operator)
    ask(storage, "flamegraph", f"{seconds:g}", seconds + _PATIENCE_S)
    samples = read_samples(storage)
    tree = FlameNode("root") if samples is None else flame_tree(samples, names, kind)
    if target is None:
        typer.echo(msgspec.json.format(msgspec.json.encode(tree)))
        return
    target.write_text(flame_svg(tree, operator or "all operators"), "utf-8")
    typer.echo(f"{tree.value} samples are in {target}")


def _names(storage: Storage, operator: str | None) -> set[str]:
    """Return the ids of the operators of this name."""
    plan = read_plan(storage)
    known = () if plan is None else plan.description.operators
    found = {each.id for each in known if operator in (None, each.name, each.id)}
    if operator is not None and not found:
        raise StateError(
            "has no operator of this name",
            who=f"the job in {storage.url}",
            got=repr(operator),
            hint=did_you_mean(operator, [each.name for each in known]),
        )
    return found
