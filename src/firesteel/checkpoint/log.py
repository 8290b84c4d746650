"""Reads the manifests of a state directory, and appends to them, which commits an epoch."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final, TypeVar

import msgspec

from firesteel.checkpoint.documents import as_document, damaged_error, read_signed, write_document
from firesteel.checkpoint.manifest import (
    FORMAT,
    MANIFESTS,
    JobFile,
    Layer,
    Manifest,
    ManifestRuns,
    OperatorRuns,
    decode_listing,
    decode_manifest,
    encode_manifest,
    manifest_path,
)
from firesteel.checkpoint.objects import AlreadyExists, NotFound, Storage
from firesteel.common.errors import FencedError, StateCorruptedError, StateMismatchError
from firesteel.state.live.durable import RunRef

SPAN: Final = 8
WIDEST_SPAN: Final = 8**4

_JOB: Final = "job.json"

M = TypeVar("M", Manifest, ManifestRuns)


class ManifestReader:
    """Reads the manifests of a state directory; `ManifestLog` also writes them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def epochs(self) -> list[int]:
        """Return the committed epochs, in order."""
        names = (path.rpartition("/")[2] for path in self._storage.list(MANIFESTS))
        return sorted(int(name) for name in names if name.isdecimal())

    def latest(self) -> Manifest | None:
        """Return the last manifest, None if no epoch has been committed."""
        epochs = self.epochs()
        return self.read(epochs[-1]) if epochs else None

    def read(self, epoch: int) -> Manifest:
        """Return an epoch's manifest. Raises StateCorruptedError, which names it, if it is missing or damaged."""
        return self._read(epoch, decode_manifest)

    def listing(self, epoch: int) -> ManifestRuns:
        """Return the runs in an epoch's manifest. Raises StateCorruptedError as `read` does."""
        return self._read(epoch, decode_listing)

    def listings(self, epochs: Sequence[int]) -> list[ManifestRuns]:
        """Return the runs in the manifests of several epochs, read at once. Raises NotFound if one is missing."""
        found = self._storage.get_many(manifest_path(epoch) for epoch in epochs)
        return [self._decoded(epoch, data, decode_listing) for epoch, data in zip(epochs, found, strict=True)]

    def layers(self, operator: str, after: int, up_to: int) -> list[Layer]:
        """Return the layers, oldest first, that advance a copy of epoch `after` (0: an empty one) to epoch `up_to`.

        The first layer can start before `after`: what it repeats is as new as the copy or newer. Raises
        StateCorruptedError if a manifest is missing or damaged.
        """
        return self.all_layers(after, up_to).get(operator, [])

    def all_layers(self, after: int, up_to: int) -> dict[str, list[Layer]]:
        """Return the layers of all operators that have any."""
        if after >= up_to:
            return {}
        top = self.listing(up_to)
        layers = {
            operator: [layer for layer in merged if layer.last > after]
            for operator, merged in top.layers.items()
        }
        for operator, runs in self._between(max(after, top.compacted), up_to).items():
            runs.sort(key=lambda run: (run.epoch, run.first_group))
            for epoch, found in groupby(runs, key=lambda run: run.epoch):
                layers.setdefault(operator, []).append(Layer(epoch, epoch, False, list(found)))
        return {operator: found for operator, found in layers.items() if found}

    def _between(self, after: int, up_to: int) -> dict[str, list[RunRef]]:
        stretches = []
        while up_to > after:
            stretches.append(self.listing(up_to))
            up_to -= stretches[-1].span
        runs: dict[str, list[RunRef]] = {}
        for stretch in reversed(stretches):
            for operator, found in stretch.by_state().items():
                runs.setdefault(operator, []).extend(run for run in found if run.epoch > after)
        return runs

    def _read(self, epoch: int, decode: Callable[[bytes], M]) -> M:
        try:
            data = self._storage.get(manifest_path(epoch))
        except NotFound:
            raise damaged_error(self._storage, manifest_path(epoch), "no such file") from None
        return self._decoded(epoch, data, decode)

    def _decoded(self, epoch: int, data: bytes, decode: Callable[[bytes], M]) -> M:
        path = manifest_path(epoch)
        try:
            manifest = decode(data)
        except ValueError as error:
            raise damaged_error(self._storage, path, str(error)) from error
        if manifest.epoch != epoch:
            raise damaged_error(self._storage, path, f"the manifest of epoch {manifest.epoch}")
        return manifest


class ManifestLog(ManifestReader):
    """Reads the manifests of one job, and appends to them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     log = ManifestLog.open_or_create(Storage.of(directory), 128)
    ...     log.append(Manifest(log.job.job_id, 1, 128, {}, {}, {}, 0, False, 0, "1.0"))
    ...     log.epochs(), log.latest().epoch
    ([1], 1)
    """

    def __init__(self, storage: Storage, job: JobFile) -> None:
        super().__init__(storage)
        self.job = job
        self._writer = uuid.uuid4().hex
        self._stretches: dict[int, ManifestRuns] = {}

    @classmethod
    def open(cls, storage: Storage) -> ManifestLog | None:
        """Open the job of a state directory, None if there is none.

        Raises StateCorruptedError if job.json is damaged, StateMismatchError if a newer Firesteel created the
        directory.
        """
        job = read_signed(storage, _JOB, JobFile, FORMAT, "state directories")
        return None if job is None else cls(storage, job)

    @classmethod
    def open_or_create(
        cls, storage: Storage, max_parallelism: int, restored_from: str = "", job_id: str | None = None
    ) -> ManifestLog:
        """Open the job of a state directory, or create a new one, which records what it was restored from.

        A new job gets `job_id`, 32 hexadecimal digits (None: random ones).

        Raises StateMismatchError if the job has another max parallelism, since that permanently determines its key
        groups, StateCorruptedError if there are manifests but no job.json.
        """
        log = cls.open(storage)
        if log is None:
            if storage.list(MANIFESTS):
                raise damaged_error(storage, _JOB, "no such file, but manifests")
            chosen = job_id or uuid.uuid4().hex
            job = JobFile(chosen, max_parallelism, restored_from=restored_from).signed()
            try:
                storage.create(_JOB, as_document(job))
                return cls(storage, job)
            except AlreadyExists:  # another driver starts at the same time: both continue with its job
                return cls.open_or_create(storage, max_parallelism, restored_from, job_id)
        if log.job.max_parallelism != max_parallelism:
            raise StateMismatchError(
                f"belongs to a job with max parallelism {log.job.max_parallelism}, which is fixed for its life",
                who=f"the state directory {storage.url}",
                got=f"max parallelism {max_parallelism}",
                hint=f"call env.set_max_parallelism({log.job.max_parallelism}), or use another state directory",
            )
        return log

    def restored_from(self, source: str) -> ManifestLog:
        """Return the log of the same job (which has no epochs) that records what it is restored from."""
        job = msgspec.structs.replace(self.job, restored_from=source).signed()
        write_document(self._storage, _JOB, job)
        return ManifestLog(self._storage, job)

    def append(self, manifest: Manifest) -> None:
        """Commit an epoch, atomically and durably. Raises FencedError if another driver has committed it.

        A driver that was suspended for long may write an epoch that others committed and whose manifest retention
        removed. But the newest manifest is never removed, so a later one reveals this.
        """
        try:
            stretch = self._stretch_to(manifest)
        except StateCorruptedError as error:  # another driver's retention may have removed it
            if self._storage.names_after(MANIFESTS, manifest_path(manifest.epoch - 1)):
                raise _fenced(self._storage, manifest.epoch) from error
            raise
        complete = msgspec.structs.replace(
            manifest, span=stretch.span, history=stretch.history, writer=self._writer
        )
        path, data = manifest_path(manifest.epoch), encode_manifest(complete)
        try:
            self._storage.create(path, data)
        except AlreadyExists as error:
            if (
                self._storage.get(path) != data
            ):  # otherwise it is our own: the response to a first request was lost
                raise _fenced(self._storage, manifest.epoch) from error
        if self._storage.names_after(MANIFESTS, path):
            raise _fenced(self._storage, manifest.epoch)
        reach = manifest.epoch - stretch.span
        for epoch in [epoch for epoch in self._stretches if epoch > reach or epoch <= manifest.compacted]:
            del self._stretches[epoch]
        self._stretches[manifest.epoch] = stretch

    def _stretch_to(self, manifest: Manifest) -> ManifestRuns:
        epoch = manifest.epoch
        span = _span(epoch)
        return ManifestRuns(
            epoch=epoch,
            operators={
                operator: OperatorRuns(snapshot.runs) for operator, snapshot in manifest.operators.items()
            },
            span=span,
            history=self._between(max(epoch - span, manifest.compacted), epoch - 1),
            layers=manifest.layers,
            compacted=manifest.compacted,
        )

    def listing(self, epoch: int) -> ManifestRuns:
        """Return the runs in several manifests; recent commits are cached, so a driver never reads its own."""
        found = self._stretches.get(epoch)
        return super().listing(epoch) if found is None else found


def write_manifest(storage: Storage, manifest: Manifest) -> None:
    """Write a manifest into a savepoint, where no driver competes."""
    storage.put(manifest_path(manifest.epoch), encode_manifest(manifest))


def fenced_error(requirement: str, who: str, outcome: str = "the other one continues") -> FencedError:
    """Return the error that ends a driver which has a successor; `outcome` says what happens to its work."""
    hint = f"a job is run by one driver at a time; this one ends, {outcome}"
    return FencedError(requirement, who=who, hint=hint)


def job_in(storage: Storage) -> str:
    """Return the name of a state directory's job in errors."""
    return f"the job in {storage.url}"


def _span(epoch: int) -> int:
    span = 1
    while span < WIDEST_SPAN and epoch % (span * SPAN) == 0:
        span *= SPAN
    return span


def _fenced(storage: Storage, epoch: int) -> FencedError:
    return fenced_error(
        f"has a new driver: epoch {epoch} was committed while this one worked on it",
        job_in(storage),
        "and nothing of its epoch is visible",
    )
