"""The interruption of one thread's Spark jobs by another thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import SparkSession

from firesteel.common.errors import EngineError
from firesteel.spark.errors import engine_error

_log = logging.getLogger(__name__)

_AGAIN_SECONDS: Final = 0.1
"""How long to wait for a job that an interrupted thread was about to start; that job is then cancelled, too."""


class Interruption:
    """Tags the Spark jobs that are started within `running`, so that `interrupt` can cancel them.

    Contract: one thread at a time is within `running`; `interrupt` may be called by any thread, at any time, and
    returns at once. It is final: a running job raises soon, and `running` raises EngineError from then on.

    Tags of a classic session belong to the thread that sets them (`SparkSession.interruptTag` finds none from another
    one), so the jobs carry a tag of the SparkContext there.
    """

    def __init__(self, spark: Any, tag: str) -> None:
        self._tag = tag
        if isinstance(spark, SparkSession):
            context = spark.sparkContext
            self._add, self._remove = context.addJobTag, context.removeJobTag
            self._cancel = context.cancelJobsWithTag
        else:
            self._add, self._remove, self._cancel = spark.addTag, spark.removeTag, spark.interruptTag
        self._asked = threading.Event()
        self._idle = threading.Event()
        self._idle.set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make the jobs that this thread starts within the context interruptible."""
        self._idle.clear()
        try:
            if self._asked.is_set():
                raise EngineError("the epoch was interrupted")
            self._add(self._tag)
            try:
                yield
            finally:
                self._remove(self._tag)
        finally:
            self._idle.set()

    @property
    def asked(self) -> bool:
        """Whether `interrupt` has been called."""
        return self._asked.is_set()

    def interrupt(self) -> None:
        """Cancel the running job, and let no other one run."""
        if not self._asked.is_set():
            self._asked.set()
            threading.Thread(target=self._keep_cancelling, name="firesteel-interrupt", daemon=True).start()

    def _keep_cancelling(self) -> None:
        """Cancel jobs until there is none, because a job that is not yet submitted cannot be cancelled."""
        while not self._idle.is_set():
            try:
                self._cancel(self._tag)
            except Exception as error:  # without a driver process there is nothing left to cancel
                _log.warning("could not cancel the running epoch: %s", engine_error(error))
            self._idle.wait(_AGAIN_SECONDS)
