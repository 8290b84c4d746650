"""Manifests: what the state of a job is after each epoch. Writing one is the commit.

Layout of a state directory::

    job.json                    the job's id and max parallelism, written once
    manifests/000000000007      one for each committed epoch, created by exactly one driver
    runs/<operator>/...         the runs manifests refer to
    plans/<hash>                the programs that ran
    published                   the last epoch whose sinks are known to be committed

A manifest lists the runs its own epoch added, and every 64th one (and the first) also all runs so far; so the cost of an
epoch does not grow with the job's history, and the whole list is found in at most 64 small reads. Each object ends with the
xxh3 checksum of what is before it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_digest

from firesteel.common.errors import FencedError, StateCorruptedError, StateMismatchError
from firesteel.state.runs import RunRef
from firesteel.state.storage import AlreadyExists, NotFound, Storage

FULL_EVERY: Final = 64
_FORMAT: Final = 1
_CHECKSUM: Final = 8


class SplitPosition(msgspec.Struct, frozen=True):
    """How far a split has been read; `split` and `generator_state` are pickled."""

    split: bytes
    position: int
    finished: bool
    generator_state: bytes


class OperatorSnapshot(msgspec.Struct, frozen=True):
    """One operator after an epoch: per subtask its watermark (milliseconds) and state blob; the runs the epoch added."""

    name: str
    parallelism: int
    watermarks: list[int]
    operator_state: list[bytes | None]
    states: dict[str, dict[str, Any]]
    runs: list[RunRef]


class Manifest(msgspec.Struct, frozen=True):
    """A committed epoch. `all_runs` is set in full manifests: every run of every operator up to this epoch, in order."""

    job_id: str
    epoch: int
    max_parallelism: int
    operators: dict[str, OperatorSnapshot]
    sources: dict[str, dict[str, SplitPosition]]
    committables: dict[str, list[bytes]]
    processing_time: int
    finished: bool
    created_at: int
    version: str
    wakeups: list[int]
    all_runs: dict[str, list[RunRef]] | None = None


class JobFile(msgspec.Struct, frozen=True):
    """What never changes about a job."""

    job_id: str
    max_parallelism: int
    format: int = _FORMAT


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Manifest)


class ManifestReader:
    """Reads the manifests of a state directory."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def epochs(self) -> list[int]:
        """Return the committed epochs, in order."""
        return [int(path.rsplit("/", 1)[1]) for path in self._storage.list("manifests")]

    def latest(self) -> Manifest | None:
        """Return the last manifest, None if no epoch has been committed."""
        epochs = self.epochs()
        return self.read(epochs[-1]) if epochs else None

    def read(self, epoch: int) -> Manifest:
        """Return an epoch's manifest. Raises StateCorruptedError naming it if it is missing or damaged."""
        path = _path(epoch)
        try:
            data = self._storage.get(path)
        except NotFound as error:
            raise _corrupted(self._storage, path, "no such object") from error
        body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
        if xxh3_64_digest(body) != checksum:
            raise _corrupted(self._storage, path, "another checksum than was written")
        return _decoder.decode(body)

    def all_runs(self, upto: int) -> dict[str, list[RunRef]]:
        """Return every run of every operator, in the order of epochs, as of epoch `upto`."""
        manifests = list(self._back_to_full(upto))
        runs: dict[str, list[RunRef]] = dict(manifests[-1].all_runs or {})
        for manifest in reversed(manifests[:-1]):
            for operator, snapshot in manifest.operators.items():
                runs[operator] = [*runs.get(operator, []), *snapshot.runs]
        return runs

    def runs_between(self, operator: str, after: int, upto: int) -> list[RunRef]:
        """Return the runs of an operator from the epochs `after` + 1 to `upto`, in order."""
        if upto - after > FULL_EVERY:
            return [run for run in self.all_runs(upto).get(operator, []) if run.epoch > after]
        snapshots = (self.read(epoch).operators.get(operator) for epoch in range(after + 1, upto + 1))
        return [run for snapshot in snapshots if snapshot is not None for run in snapshot.runs]

    def _back_to_full(self, epoch: int) -> Iterator[Manifest]:
        while True:
            manifest = self.read(epoch)
            yield manifest
            if manifest.all_runs is not None:
                return
            epoch -= 1


class ManifestLog(ManifestReader):
    """The manifests of one job. Appending is the commit: of several drivers exactly one appends an epoch."""

    def __init__(self, storage: Storage, job: JobFile) -> None:
        super().__init__(storage)
        self.job = job

    @staticmethod
    def open_or_create(storage: Storage, max_parallelism: int) -> ManifestLog:
        """Open the job of a state directory, made if the directory is new.

        Raises StateMismatchError if the job has another max parallelism: its keys are grouped by it for good.
        """
        try:
            storage.create("job.json", msgspec.json.encode(JobFile(uuid.uuid4().hex, max_parallelism)))
        except AlreadyExists:  # a job was here before: go on with it
            pass
        try:
            job = msgspec.json.decode(storage.get("job.json"), type=JobFile)
        except msgspec.DecodeError as error:
            raise _corrupted(storage, "job.json", str(error)) from error
        if job.format != _FORMAT:
            raise StateMismatchError(
                f"requires state of format {_FORMAT}", who=storage.url, got=f"format {job.format}",
                hint="run it with the version of firesteel that wrote it",
            )  # fmt: skip
        if job.max_parallelism != max_parallelism:
            raise StateMismatchError(
                f"belongs to a job with max parallelism {job.max_parallelism}, which cannot change",
                who=f"the state directory {storage.url}",
                got=f"max parallelism {max_parallelism}",
                hint=f"call env.set_max_parallelism({job.max_parallelism}), or use another state directory",
            )
        return ManifestLog(storage, job)

    def append(self, manifest: Manifest) -> None:
        """Commit an epoch. Raises FencedError if another driver has committed it."""
        if manifest.epoch % FULL_EVERY == 1:
            added = {operator: snapshot.runs for operator, snapshot in manifest.operators.items()}
            before = self.all_runs(manifest.epoch - 1) if manifest.epoch > 1 else {}
            manifest = msgspec.structs.replace(
                manifest,
                all_runs={
                    operator: [*before.get(operator, []), *added.get(operator, [])]
                    for operator in {**before, **added}
                },
            )
        body = _encoder.encode(manifest)
        try:
            self._storage.create(_path(manifest.epoch), body + xxh3_64_digest(body))
        except AlreadyExists as error:
            raise FencedError(
                f"has been committed by another driver (epoch {manifest.epoch})",
                who=f"the state directory {self._storage.url}",
                hint="two drivers run this job; this one ends, the other goes on, and nothing was lost",
            ) from error


def _path(epoch: int) -> str:
    return f"manifests/{epoch:012d}"


def _corrupted(storage: Storage, path: str, found: str) -> StateCorruptedError:
    return StateCorruptedError(
        "requires the file as it was written",
        who=f"{storage.url}/{path}",
        got=found,
        hint="the file was altered or removed from outside; restore it, or start from a copy of the directory",
    )
