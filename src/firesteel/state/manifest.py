"""Manifests: what a job is after each epoch. Writing one is the commit.

Layout of a state directory::

    job.json                  the job's id and max parallelism, written once
    manifests/000000000007    one for each committed epoch, written once, by exactly one driver
    runs/...                  the runs that manifests refer to

A manifest is all that is needed to go on after its epoch: the positions of the sources, watermarks, operator state,
committables, and the runs the epoch added. It is written with `Storage.create`, so it is there whole or not at
all, and of several drivers exactly one writes it; a checksum in the file tells damage that came later.

Which runs make up a state is found without reading every manifest: epoch 8 also lists the runs of epochs 1 to
8, epoch 64 those of 1 to 64, in general an epoch divisible by a power of 8 (up to 4096) those of as many
epochs. So an epoch lists the runs of fewer than five epochs on average, however long the job has run, and
those of any n epochs are found in about 7 log8(n) reads.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_digest, xxh3_64_hexdigest

from firesteel.common.errors import FencedError, StateCorruptedError, StateMismatchError
from firesteel.state.runs import RunRef
from firesteel.state.storage import AlreadyExists, NotFound, Storage

FORMAT: Final = 1
"""The version of the layout of state directories; it changes when older ones could be misread."""

SPAN: Final = 8
WIDEST_SPAN: Final = 8**4

_JOB: Final = "job.json"
_MANIFESTS: Final = "manifests"
_MAGIC: Final = b"FSMANIF1"
_CHECKSUM: Final = 8


class SplitPosition(msgspec.Struct, frozen=True):
    """How far a split has been read; `split` and `generator_state` are pickled."""

    split: bytes
    position: int
    finished: bool
    generator_state: bytes


class OperatorSnapshot(msgspec.Struct, frozen=True):
    """One operator after an epoch.

    Per subtask: its watermark (milliseconds) and its pickled operator state, None where it has none. `states`
    are the schemas of its keyed and broadcast states. `runs` are those the epoch added; the state is what all
    epochs' runs add up to. `max_parallelism` is the number of its key groups (0: not recorded).
    """

    name: str
    parallelism: int
    watermarks: list[int]
    operator_state: list[bytes | None]
    states: dict[str, dict[str, Any]]
    runs: list[RunRef]
    max_parallelism: int = 0


class Manifest(msgspec.Struct, frozen=True):
    """One committed epoch; `sources` and `committables` are by operator id, times are in milliseconds.

    `version` is Firesteel's, `fingerprint` the program's. The log adds the last three: `span` epochs up to this
    one have their runs in this manifest, those before this epoch in `history` (by operator, in order); `writer`
    tells apart the drivers.
    """

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
    wakeups: list[int] = []
    fingerprint: str = ""
    span: int = 1
    history: dict[str, list[RunRef]] = {}
    writer: str = ""


class JobFile(msgspec.Struct, frozen=True):
    """What never changes about a job; `checksum` is over the other fields."""

    job_id: str
    max_parallelism: int
    format: int = FORMAT
    checksum: str = ""

    def signed(self) -> JobFile:
        """Return this with the right checksum."""
        fields = f"{self.job_id}/{self.max_parallelism}/{self.format}"
        return msgspec.structs.replace(self, checksum=xxh3_64_hexdigest(fields.encode()))


class OperatorRuns(msgspec.Struct, frozen=True):
    """The part of an operator's snapshot that says which runs there are."""

    runs: list[RunRef]


class ManifestRuns(msgspec.Struct, frozen=True):
    """The part of a manifest that says which runs there are."""

    epoch: int
    operators: dict[str, OperatorRuns]
    span: int = 1
    history: dict[str, list[RunRef]] = {}

    def by_operator(self) -> dict[str, list[RunRef]]:
        """Return the runs of the manifest's span of epochs, in order."""
        runs = {operator: list(past) for operator, past in self.history.items()}
        for operator, snapshot in self.operators.items():
            runs.setdefault(operator, []).extend(snapshot.runs)
        return runs


class ManifestReader:
    """The manifests of a state directory, to be read; `ManifestLog` also writes."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def epochs(self) -> list[int]:
        """Return the committed epochs, in order."""
        names = (path.rpartition("/")[2] for path in self._storage.list(_MANIFESTS))
        return sorted(int(name) for name in names if name.isdecimal())

    def latest(self) -> Manifest | None:
        """Return the last manifest, None if no epoch has been committed."""
        epochs = self.epochs()
        return self.read(epochs[-1]) if epochs else None

    def committed(self, epoch: int) -> bool:
        """Return whether an epoch has been committed."""
        return self._storage.exists(_path(epoch))

    def read(self, epoch: int) -> Manifest:
        """Return an epoch's manifest. Raises StateCorruptedError, naming it, if it is missing or damaged."""
        manifest: Manifest = self._read(epoch, _manifest_decoder)
        return manifest

    def runs(self, operator: str, first_group: int, last_group: int, after: int, up_to: int) -> list[RunRef]:
        """Return the runs of epochs `after` + 1 to `up_to` that hold entries of these key groups, in order of epochs.

        Runs of one epoch come in the order of their key groups; the first of them that holds `first_group`, if
        there is one, is the one to take broadcast state from. Raises StateCorruptedError if a manifest is
        missing or damaged.
        """
        overlapping = [
            run
            for run in self._between(after, up_to).get(operator, [])
            if run.first_group <= last_group and first_group <= run.last_group
        ]
        return sorted(overlapping, key=lambda run: (run.epoch, run.first_group))

    def _between(self, after: int, up_to: int) -> dict[str, list[RunRef]]:
        stretches = []
        while up_to > after:
            stretches.append(self._stretch(up_to))
            up_to -= stretches[-1].span
        runs: dict[str, list[RunRef]] = {}
        for stretch in reversed(stretches):
            for operator, found in stretch.by_operator().items():
                runs.setdefault(operator, []).extend(run for run in found if run.epoch > after)
        return runs

    def _stretch(self, epoch: int) -> ManifestRuns:
        stretch: ManifestRuns = self._read(epoch, _runs_decoder)
        return stretch

    def _read(self, epoch: int, decoder: Any) -> Any:
        path = _path(epoch)
        try:
            manifest = _decode(decoder, self._storage.get(path))
        except NotFound:
            raise _damaged(self._storage, path, "no such file") from None
        except ValueError as error:
            raise _damaged(self._storage, path, str(error)) from error
        if manifest.epoch != epoch:
            raise _damaged(self._storage, path, f"the manifest of epoch {manifest.epoch}")
        return manifest


class ManifestLog(ManifestReader):
    """The manifests of one job, to be read and appended to.

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

        Raises StateCorruptedError if job.json is damaged, StateMismatchError if a newer Firesteel made the directory.
        """
        try:
            data = storage.get(_JOB)
        except NotFound:
            return None
        try:
            job = msgspec.json.decode(data, type=JobFile)
        except msgspec.DecodeError as error:
            raise _damaged(storage, _JOB, str(error)) from error
        if job.signed() != job:
            raise _damaged(storage, _JOB, f"checksum {job.checksum!r}")
        if job.format > FORMAT:
            raise StateMismatchError(
                f"requires a Firesteel that knows format {job.format} of state directories",
                who=storage.url,
                got=f"one that knows formats up to {FORMAT}",
                hint="run the program with the version of Firesteel it was last run with, or a newer one",
            )
        return cls(storage, job)

    @classmethod
    def open_or_create(cls, storage: Storage, max_parallelism: int) -> ManifestLog:
        """Open the job of a state directory, or begin a new one there.

        Raises StateMismatchError if the job there has another max parallelism, since its keys are grouped by
        that for good.
        """
        log = cls.open(storage)
        if log is None:
            job = JobFile(uuid.uuid4().hex, max_parallelism).signed()
            try:
                storage.create(_JOB, msgspec.json.format(msgspec.json.encode(job)))
                return cls(storage, job)
            except AlreadyExists:  # another driver begins at the same time: both go on with its job
                return cls.open_or_create(storage, max_parallelism)
        if log.job.max_parallelism != max_parallelism:
            raise StateMismatchError(
                f"belongs to a job with max parallelism {log.job.max_parallelism}, which is fixed for its life",
                who=f"the state directory {storage.url}",
                got=f"max parallelism {max_parallelism}",
                hint=f"call env.set_max_parallelism({log.job.max_parallelism}), or use another state directory",
            )
        return log

    def append(self, manifest: Manifest) -> None:
        """Commit an epoch, atomically and durably. Raises FencedError if another driver has committed it."""
        stretch = self._stretch_to(manifest)
        complete = msgspec.structs.replace(
            manifest, span=stretch.span, history=stretch.history, writer=self._writer
        )
        path, data = _path(manifest.epoch), _encode(complete)
        try:
            self._storage.create(path, data)
        except AlreadyExists as error:
            if self._storage.get(path) != data:  # else it is our own: the answer to a first request was lost
                raise _fenced(self._storage, manifest.epoch) from error
        for epoch in [epoch for epoch in self._stretches if epoch > manifest.epoch - stretch.span]:
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
            history=self._between(epoch - span, epoch - 1),
        )

    def _stretch(self, epoch: int) -> ManifestRuns:
        """Those of the epochs just committed are remembered: a driver never reads what it has written."""
        found = self._stretches.get(epoch)
        return super()._stretch(epoch) if found is None else found


_encoder: Final = msgspec.msgpack.Encoder()
_manifest_decoder: Final = msgspec.msgpack.Decoder(Manifest)
_runs_decoder: Final = msgspec.msgpack.Decoder(ManifestRuns)


def _encode(manifest: Manifest) -> bytes:
    """A file is a mark, the xxh3 checksum of the rest, and the struct in msgpack."""
    body = _encoder.encode(manifest)
    return _MAGIC + xxh3_64_digest(body) + body


def _decode(decoder: Any, data: bytes) -> Any:
    """Raises ValueError (of which msgspec's errors are a kind) saying what is wrong with a file."""
    start = len(_MAGIC) + _CHECKSUM
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{len(data)} bytes that do not begin as a manifest does")
    if xxh3_64_digest(data[start:]) != data[len(_MAGIC) : start]:
        raise ValueError(f"{len(data)} bytes that do not add up to the checksum in them")
    return decoder.decode(memoryview(data)[start:])


def _span(epoch: int) -> int:
    span = 1
    while span < WIDEST_SPAN and epoch % (span * SPAN) == 0:
        span *= SPAN
    return span


def _path(epoch: int) -> str:
    return f"{_MANIFESTS}/{epoch:012d}"


def _fenced(storage: Storage, epoch: int) -> FencedError:
    return FencedError(
        f"has a new driver: epoch {epoch} was committed while this one worked on it",
        who=f"the job in {storage.url}",
        hint="a job is run by one driver at a time; this one ends, and nothing of its epoch is visible",
    )


def _damaged(storage: Storage, path: str, got: str) -> StateCorruptedError:
    return StateCorruptedError(
        "must be as it was written",
        who=f"{storage.url.rstrip('/')}/{path}",
        got=got,
        hint="the file was damaged or removed after it was written; restore it from a backup",
    )
