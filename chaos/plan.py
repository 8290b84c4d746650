"""The steps of a run, drawn from a seed: the same seed gives the same steps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal, NamedTuple

Strike = Literal["worker", "executor", "driver", "machine"]
Act = Literal["kill", "rescale", "savepoint", "database"]

_RESCALES = (3, 1, 2)
_AWKWARD = 0.7
"""The share of the failures of drivers and servers that come while a commit is under way."""


class Step(NamedTuple):
    """Let `files` arrive, wait for `delay` seconds, and then do something.

    A kill strikes a Python worker, an executor, the driver's Python process, or (`machine`) also its JVM; `pick`
    chooses among the existing ones. A rescale changes to `parallelism`. A savepoint ends the job, which is then
    restored from it in another state directory. The database server, or another one that the
    job uses, is killed and restarted. What is `awkward` happens, instead of after the delay, while a commit is under
    way, if the job's systems can tell.
    """

    act: Act
    files: int
    delay: float
    strike: Strike = "worker"
    pick: int = 0
    parallelism: int = 0
    awkward: bool = False


def steps(seed: int, kills: int, savepoints: int, rescales: int, database_failures: int) -> Iterator[Step]:
    """Draw the steps of a run; the other steps are spread among the kills."""
    rng = random.Random(seed)
    others: list[tuple[float, Act]] = []
    for act, count in (("rescale", rescales), ("savepoint", savepoints), ("database", database_failures)):
        others += [((number + rng.random()) * kills / count, act) for number in range(count)]  # type: ignore[misc]
    others.sort()
    rescaled = 0
    for number in range(kills):
        while others and others[0][0] <= number:
            act = others.pop(0)[1]
            parallelism = _RESCALES[rescaled % len(_RESCALES)]
            rescaled += act == "rescale"
            awkward = act == "database" and rng.random() < _AWKWARD
            files, delay = rng.randint(1, 3), rng.uniform(0, 0.5)
            yield Step(act, files, delay, parallelism=parallelism, awkward=awkward)
        strike: Strike = rng.choices(("worker", "executor", "driver", "machine"), (70, 12, 9, 9))[0]  # type: ignore[assignment]
        awkward = strike in ("driver", "machine") and rng.random() < _AWKWARD
        files, delay, pick = rng.randint(1, 3), rng.uniform(0, 1.0), rng.randrange(1 << 16)
        yield Step("kill", files, delay, strike, pick, awkward=awkward)
    for _, act in others:
        yield Step(act, 1, 0.0, parallelism=_RESCALES[rescaled % len(_RESCALES)])
        rescaled += act == "rescale"
