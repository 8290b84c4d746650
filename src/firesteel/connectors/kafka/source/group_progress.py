"""How far a job has read, for those who watch its consumer group. The job itself never reads this."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final

from confluent_kafka import KafkaException

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.source.offsets import Offsets
from firesteel.connectors.kafka.source.planning import Cluster, Unreachable, partition_of

_LAST_S: Final = 5.0
"""How long the end of a job waits for its last offsets."""

_log = logging.getLogger(__name__)


class GroupProgress:
    """Commits offsets to the group, one request after the other; what comes meanwhile is sent together afterwards.

    A failure is logged, once until a request succeeds, and does not end the job. `close` sends what is left.
    """

    def __init__(self, cluster: Cluster, who: str) -> None:
        self._cluster = cluster
        self._who = who
        self._sent: Offsets = {}
        self._waiting: Offsets = {}
        self._request: Future[Any] | None = None
        self._failed = False

    def advance(self, positions: Mapping[str, int]) -> None:
        """Send the positions of splits that have changed."""
        for split, position in positions.items():
            partition = partition_of(split)
            if partition is not None and self._sent.get(partition) != position:
                self._waiting[partition] = position
        if self._request is None or self._request.done():
            self._send()

    def close(self) -> None:
        """Send what is left and wait for the answer."""
        self._answer(_LAST_S)
        self._send()
        self._answer(_LAST_S)

    def _send(self) -> None:
        self._answer(0)
        if not self._waiting:
            return
        try:
            self._request = self._cluster.commit(self._waiting)
        except (Unreachable, ConnectorError) as error:
            self._complain(str(error))
            return
        self._sent |= self._waiting
        self._waiting = {}

    def _answer(self, timeout: float) -> None:
        request, self._request = self._request, None
        if request is None:
            return
        try:
            request.result(timeout)
            self._failed = False
        except TimeoutError:
            self._complain("no answer")
        except KafkaException as error:
            self._complain(reason_of(error.args[0]))

    def _complain(self, why: str) -> None:
        if not self._failed:
            _log.warning("%s: the offsets could not be committed to the consumer group: %s", self._who, why)
        self._failed = True
