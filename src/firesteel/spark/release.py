"""The release of a job in the workers after it was stopped, cancelled or failed: the functions' `close` runs there."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Sequence
from typing import Any, Final

from firesteel.common.errors import FiresteelError
from firesteel.spark.errors import engine_error
from firesteel.spark.interruption import Interruption
from firesteel.spark.shared.attaching import is_shared
from firesteel.spark.shipped import ANSWER, Preparation
from firesteel.spark.worker import LetGoTask

_log = logging.getLogger(__name__)

PATIENCE_S: Final = 30.0
"""How long the workers have: a job must be able to end even while its functions, or other jobs, occupy them."""


def release(spark: Any, state_url: str) -> None:
    """Close a job's operators in all Python workers; errors are logged and do not fail the job.

    This takes one task for each slot of the application, all at once, so that each is in a different worker process. In
    an application that other processes use, too, they come one by one: all slots are hardly ever free at once there.
    """
    task = LetGoTask(Preparation(), state_url)
    interruption = Interruption(spark, f"firesteel-release-{uuid.uuid4().hex}")
    timer = threading.Timer(PATIENCE_S, interruption.interrupt)
    timer.daemon = True
    timer.start()
    try:
        slots = _slots(spark)
        with interruption.running():
            tasks = spark.range(0, slots, 1, slots).mapInArrow(
                task, ANSWER.spark, barrier=not is_shared(spark)
            )
            answers = tasks.collect()
    except Exception as error:
        _log.warning("workers close the job's functions later, if at all: %s", engine_error(error))
        return
    finally:
        timer.cancel()
    for problem in sorted({problem for answer in answers if (problem := _problem(task, answer))}):
        _log.warning("%s", problem)


def _problem(task: LetGoTask, answer: Sequence[Any]) -> str | None:
    try:
        task.read(answer)
    except FiresteelError as error:
        return str(error)
    return None


def _slots(spark: Any) -> int:
    cores: int = spark.sparkContext.defaultParallelism
    return max(1, cores // int(spark.conf.get("spark.task.cpus", "1")))
