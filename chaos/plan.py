"""The steps of a run, drawn from a seed: the same seed gives the same steps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal, NamedTuple

Strike = Literal["worker", "executor", "driver", "machine"]
Act = Literal["kill", "rescale", "savepoint", "database"]

_RESCALES = (3, 1, 2)


class Step(NamedTuple):
    """Let `files` arrive, wait for `delay` seconds, and then do something.

    A kill strikes a Python worker, an executor, the driver's Python process, or (`machine`) also its JVM; `pick`
    chooses among the existing ones. A rescale changes to `parallelism`. A savepoint ends the job, which is then
    restored from it in another state directory. The database server, or another one that the
    job uses, is killed and restarted.
    """

    act: Act
    files: int
    delay: float
    strike: Strike = "worker"
    pick: int = 0
    parallelism: int = 0


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
            yield Step(act, rng.randint(1, 3), rng.uniform(0, 0.5), parallelism=parallelism)
        strike: Strike = rng.choices(("worker", "executor", "driver", "machine"), (70, 12, 9, 9))[0]  # type: ignore[assignment]
        yield Step("kill", rng.randint(1, 3), rng.uniform(0, 1.0), strike, rng.randrange(1 << 16))
    for _, act in others:
        yield Step(act, 1, 0.0, parallelism=_RESCALES[rescaled % len(_RESCALES)])
        rescaled += act == "rescale"
