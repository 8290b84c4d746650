"""The job's memory between epochs: the last manifest, what follows from it, and whether it is published."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from typing import Any

from firesteel import __version__
from firesteel.checkpoint.compaction import Compaction
from firesteel.checkpoint.documents import published_epoch, record_published
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Layer, Manifest, SourceProgress, SplitPosition
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.outputs import StoredOutputs
from firesteel.checkpoint.readers import oldest_read
from firesteel.checkpoint.splits import finished_splits, progressed
from firesteel.common import pickles
from firesteel.common.errors import StateCorruptedError
from firesteel.control.clock import Moment
from firesteel.control.committers import Committers
from firesteel.control.kept_parallelism import keep_parallelism
from firesteel.control.program_check import check_program
from firesteel.control.redistribution import inherited_states, own_states
from firesteel.control.snapshots import arranged_runs, operator_snapshot
from firesteel.control.sources import Positions
from firesteel.control.wakeups import Wakeups
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import CarryOut, Sink
from firesteel.runtime.plan import EpochPlan, Plan, SplitInput, SubtaskReport
from firesteel.state.arrangements.names import arrangement_of, operator_of


class Journal:
    """Reads and writes the manifests of one job.

    Contract: `recover` at the start and after each failure; then, epoch by epoch, `next_epoch`, `commit`, `publish`.
    The commit is the create-only write of the manifest; FencedError means that another driver was first. `publish`
    commits the sinks of the last manifest unless that is known to have happened; another thread may call it if
    `publishes_beside`, and `commit` follows when it has returned. `retained` is the least number of manifests to keep.

    Raises StateMismatchError if the directory has state of operators that the program lacks (unless
    `allow_non_restored_state`: then the next epoch drops it) or has with another max parallelism. Raises
    StateCorruptedError if the last manifest is missing.
    """

    def __init__(
        self,
        log: ManifestLog,
        storage: Storage,
        plan: Plan,
        *,
        program: str = "",
        fingerprint: str = "",
        retained: int = 10,
        read_by_others: bool = False,
        allow_non_restored_state: bool = False,
    ) -> None:
        self._log = log
        self._storage = storage
        self._plan = plan
        self._program = program
        self._fingerprint = fingerprint
        self._retained = retained
        self._read_by_others = read_by_others
        self._allow_non_restored_state = allow_non_restored_state
        self._last: Manifest | None = None
        self._begun = uuid.uuid4().hex
        self._resuming = True
        self._tidied = False
        self._committers = Committers(log, StoredOutputs(storage))

    @property
    def job_id(self) -> str:
        """The job's id, assigned when its state directory was created."""
        return self._log.job.job_id

    @property
    def log(self) -> ManifestReader:
        """The log of manifests."""
        return self._log

    @property
    def epoch(self) -> int:
        """The last committed epoch; 0 before the first."""
        return 0 if self._last is None else self._last.epoch

    @property
    def last(self) -> Manifest | None:
        """The last committed epoch's manifest."""
        return self._last

    @property
    def lineage(self) -> str:
        """The name of the history that working copies belong to, which no other has: an id of a job may come again."""
        return self._begun if self._last is None else self._last.lineage or self.job_id

    @property
    def visible(self) -> bool:
        """Whether all committed output has been published."""
        last = self._last
        return last is None or not last.committables or published_epoch(self._storage) >= last.epoch

    @property
    def finished(self) -> bool:
        """Whether the last committed epoch was the job's last."""
        return self._last is not None and self._last.finished

    def recover(self) -> None:
        """Read the last manifest and check that it is this program's."""
        # The published epoch is read before the manifests: another driver may be adding to both.
        published = published_epoch(self._storage)
        self._last = self._log.latest()
        self._resuming = True
        if published > self.epoch:
            raise self._lost(published)
        if self._last is not None:
            check_program(
                self._last,
                self._plan,
                f"the state directory {self._storage.url}",
                unpublished=published < self._last.epoch,
                allow_non_restored_state=self._allow_non_restored_state,
            )

    def keep_parallelism(self, started_at: int, parallelism: int) -> None:
        """Make later drivers of the job begin at another parallelism: see `firesteel.control.kept_parallelism`."""
        keep_parallelism(self._storage, started_at, parallelism)

    def go_on_with(self, plan: Plan) -> None:
        """Use another plan of the same program, with another parallelism, from the next epoch on."""
        self._plan = plan

    def reset(self, manifest: Manifest) -> None:
        """Commit a manifest that takes over another state, under a new lineage: see `checkpoint.manifest`."""
        self._log.append(manifest)
        self.recover()

    def positions(self, operator_id: str) -> dict[str, SplitPosition]:
        """Return the committed positions of a source's splits that are not at their end."""
        return self._progress(operator_id).unfinished

    def finished_splits(self, operator_id: str) -> dict[str, int]:
        """Return the splits of a source that are at their end, with the committed end positions."""
        return finished_splits(self._storage, self._progress(operator_id))

    def _progress(self, operator_id: str) -> SourceProgress:
        sources = {} if self._last is None else self._last.sources
        return sources.get(operator_id) or SourceProgress()

    @property
    def wakeups(self) -> Wakeups:
        """When some subtask wants an epoch even without input."""
        last = self._last
        return Wakeups() if last is None else Wakeups.first_of(last.wakeups, last.idle_deadlines)

    def next_epoch(
        self,
        driver: str,
        attempt: str,
        run: int,
        moment: Moment,
        final: bool,
        inputs: dict[int, dict[int, list[SplitInput]]],
        budget: int | None = None,
    ) -> EpochPlan:
        """Return the context of the next epoch for its tasks."""
        snapshots = {} if self._last is None else self._last.operators
        specs = self._plan.operators
        known = {spec.index: snapshots[spec.id] for spec in specs if spec.id in snapshots}
        return EpochPlan(
            job_id=self.job_id,
            facts=EpochFacts(
                number=self.epoch + 1,
                attempt=attempt,
                processing_time=moment.processing,
                final=final,
                lineage=self.lineage,
                oldest=self._oldest(self.epoch + 1),
                budget=budget,
                steady_time=moment.steady,
                resumed_at=moment.resumed,
                committed_time=None if self._last is None else self._last.processing_time,
            ),
            run=run,
            committed=self.epoch,
            driver=driver,
            inputs=inputs,
            watermarks={index: list(snapshot.watermarks) for index, snapshot in known.items()},
            operator_states={
                index: own_states(snapshot, specs[index].parallelism, specs[index].who)
                for index, snapshot in known.items()
            },
            inherited={
                index: inherited_states(snapshot, specs[index].parallelism)
                for index, snapshot in known.items()
            },
            schemas={index: snapshot.states for index, snapshot in known.items() if snapshot.states},
            runs={
                index: {run.subtask: run for run in snapshot.runs if run.operator == specs[index].id}
                for index, snapshot in known.items()
            },
            arranged={
                index: arranged_runs(snapshot) for index, snapshot in known.items() if snapshot.arrangements
            },
            arrangements={
                index: {arrangement_of(state): layout for state, layout in snapshot.arrangements.items()}
                for index, snapshot in known.items()
                if snapshot.arrangements
            },
        )

    def commit(
        self,
        epoch: EpochPlan,
        reports: list[SubtaskReport],
        positions: dict[str, Positions],
        compaction: Compaction | None = None,
    ) -> None:
        """Write the manifest, which commits the epoch. Raises FencedError if another driver wrote it.

        `compaction` is the result of merging the layers up to an earlier epoch; its layers replace them from now on.
        """
        if self._drops_state():  # for good: an operator that returns must not find a part of its state
            compaction = Compaction(uuid.uuid4().hex, self.epoch, self._log.all_layers(0, self.epoch))
        manifest = self._manifest(epoch, reports, positions, compaction)
        self._log.append(manifest)
        self._last, self._resuming = manifest, False

    def _manifest(
        self,
        epoch: EpochPlan,
        reports: list[SubtaskReport],
        positions: dict[str, Positions],
        compaction: Compaction | None,
    ) -> Manifest:
        by_operator: dict[int, list[SubtaskReport]] = defaultdict(list)
        for report in sorted(reports, key=lambda report: report.subtask):
            by_operator[report.operator].append(report)
        before = {} if self._last is None else self._last.operators
        return Manifest(
            job_id=self.job_id,
            epoch=epoch.facts.number,
            max_parallelism=self._plan.max_parallelism,
            operators={
                spec.id: operator_snapshot(
                    spec, by_operator[spec.index], before.get(spec.id), resuming=self._resuming
                )
                for spec in self._plan.operators
            },
            sources={
                operator: progressed(
                    self._storage,
                    self._progress(operator),
                    found.unfinished,
                    found.ended,
                    operator=operator,
                    epoch=epoch.facts.number,
                )
                for operator, found in positions.items()
            },
            committables={
                self._plan.operators[index].id: [
                    pickles.dumps(committable) for report in mine for committable in report.committables
                ]
                for index, mine in by_operator.items()
                if any(report.committables for report in mine)
            },
            processing_time=epoch.facts.processing_time,
            steady_time=epoch.facts.steady_time,
            finished=epoch.facts.final,
            created_at=int(time.time() * 1000),
            version=__version__,
            wakeups=[report.next_wakeup for report in reports if report.next_wakeup is not None],
            idle_deadlines=[report.idle_deadline for report in reports if report.idle_deadline is not None],
            fingerprint=self._fingerprint,
            program=self._program,
            job_name=self._plan.job_name,
            records=sum(split.records for report in reports for split in report.splits),
            layers=self._layers(compaction),
            compacted=self._compacted(compaction),
            lineage=epoch.facts.lineage if compaction is None else compaction.lineage,
            oldest=self._oldest(epoch.facts.number),
        )

    def publish(self, sinks: dict[int, Sink[Any]], carry_out: CarryOut | None = None) -> None:
        """Commit the last manifest's committables to the sinks and note that it is done.

        Sinks may let workers do what is heavy by `carry_out`.

        After the first epoch that this driver commits, or if the job's last epoch is committed already, the sinks
        remove what earlier drivers left behind: no other driver can commit anything then.
        """
        if self._last is None:
            return
        if not self.visible:
            self._publish(sinks, self._last, carry_out)
        if not self._tidied and (self.finished or not self._resuming):
            self._tidied = True
            for index, sink in sinks.items():
                self._committers.discard(self._plan.operators[index], sink, self.job_id, self.epoch)

    def publishes_beside(self, sinks: dict[int, Sink[Any]]) -> bool:
        """Whether the last epoch has output, and all its sinks publish beside the next epoch (`Committer.beside`)."""
        output = {} if self._last is None or not self._tidied else self._last.committables
        ids = [self._plan.operators[index].id for index in sinks]
        return self._committers.work_beside(operator for operator in ids if output.get(operator))

    def _publish(self, sinks: dict[int, Sink[Any]], last: Manifest, carry_out: CarryOut | None) -> None:
        for index, sink in sinks.items():
            spec = self._plan.operators[index]
            blobs = last.committables.get(spec.id)
            if blobs:
                self._committers.commit(spec, sink, last.epoch, blobs, carry_out)
        record_published(self._storage, last.epoch)

    def close(self) -> None:
        """Close the sinks' committers."""
        self._committers.close()

    def _drops_state(self) -> bool:
        known = {spec.id for spec in self._plan.operators}
        operators = {} if self._last is None else self._last.operators
        return any(
            (snapshot.states or snapshot.arrangements) and operator not in known
            for operator, snapshot in operators.items()
        )

    def _layers(self, compaction: Compaction | None) -> dict[str, list[Layer]]:
        known = {spec.id for spec in self._plan.operators}
        if compaction is not None:
            layers = compaction.layers
        else:
            layers = {} if self._last is None else self._last.layers
        return {state: found for state, found in layers.items() if operator_of(state) in known}

    def _compacted(self, compaction: Compaction | None) -> int:
        if compaction is not None:
            return compaction.up_to
        return 0 if self._last is None else self._last.compacted

    def _oldest(self, epoch: int) -> int:
        before = epoch if self._last is None else self._last.oldest
        wanted = epoch - self._retained + 1
        return max(before, oldest_read(self._storage, wanted) if self._read_by_others else wanted)

    def _lost(self, published: int) -> StateCorruptedError:
        return StateCorruptedError(
            f"must have the manifest of epoch {published}, whose output is visible",
            who=f"the state directory {self._storage.url}",
            got=f"no manifest after that of epoch {self.epoch}",
            hint="restore it from a backup: going on from an earlier epoch would put records out twice",
        )
