"""The committers of a job's sinks: they make the output of committed epochs visible."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.outputs import StoredOutputs
from firesteel.checkpoint.retention import kept_epochs
from firesteel.control.connector_errors import connector_error
from firesteel.functions.sink import CarryOut, Committer, Leftovers, Sink
from firesteel.runtime.plan import OperatorSpec

_log = logging.getLogger("firesteel.control")


class Committers:
    """One committer for each sink, made when it is first needed.

    Contract: `commit` is called with the committables of one epoch after the other, and again with those of the last
    one after a failure. `discard` may be called once no other driver can commit anything. Call `close` at the end.
    """

    def __init__(self, log: ManifestReader, outputs: StoredOutputs) -> None:
        self._log = log
        self._outputs = outputs
        self._made: dict[str, Committer] = {}

    def commit(
        self,
        spec: OperatorSpec,
        sink: Sink[Any],
        epoch: int,
        blobs: Iterable[bytes],
        carry_out: CarryOut | None,
    ) -> None:
        """Commit an epoch's committables, as the manifest has them. Raises ConnectorError if the sink's system fails.

        The sink may let workers do what is heavy by `carry_out`.
        """
        committables = [pickle.loads(blob) for blob in blobs]
        try:
            committer = self._of(spec, sink)
            if carry_out is not None:
                committer.use_workers(carry_out)
            committer.commit(committables)
        except Exception as error:
            raise connector_error(
                error,
                spec.who,
                f"could not make epoch {epoch} visible",
                "nothing is lost: the epoch is committed, and becomes visible first when the job resumes",
            ) from error

    def work_beside(self, operators: Iterable[str]) -> bool:
        """Whether there are operators, and all their sinks publish beside the next epoch (`Committer.beside`)."""
        asked = [self._made.get(operator) for operator in operators]
        return bool(asked) and all(committer is not None and committer.beside for committer in asked)

    def discard(self, spec: OperatorSpec, sink: Sink[Any], job_id: str, epoch: int) -> None:
        """Let a sink remove what earlier runs of the job have left behind; a failure is logged."""
        try:
            committer = self._of(spec, sink)
            if type(committer).discard is not Committer.discard:
                needed = tuple(self._saved_states(spec.id))
                committer.discard(Leftovers(job_id, spec.id, epoch, needed))
        except Exception as error:
            _log.warning("%s could not remove what earlier runs of the job have left: %s", spec.who, error)

    def close(self) -> None:
        """Close all committers."""
        for committer in self._made.values():
            committer.close()

    def _of(self, spec: OperatorSpec, sink: Sink[Any]) -> Committer:
        if spec.id not in self._made:
            committer = sink.create_committer()
            committer.attach(self._outputs)
            self._made[spec.id] = committer
        return self._made[spec.id]

    def _saved_states(self, operator_id: str) -> Iterator[Any]:
        """Return what an operator's subtasks saved, in all epochs that are kept."""
        for epoch in kept_epochs(self._log):
            snapshot = self._log.read(epoch).operators.get(operator_id)
            for blob in () if snapshot is None else snapshot.operator_state:
                if blob is not None:
                    yield pickle.loads(blob)
