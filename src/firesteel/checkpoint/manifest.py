"""Manifests: the job after each epoch. Writing one is the commit.

Layout of a state directory::

    job.json                  the job's id and max parallelism, written once
    manifests/000000000007    one for each committed epoch, written once, by exactly one driver
    runs/...                  the runs that manifests refer to
    outputs/...               output that sinks stored for committed epochs that are not published yet
    published                 the last epoch that the sinks made visible

A manifest has everything needed to continue after its epoch: the positions of the sources, watermarks, operator state,
committables, and the runs that the epoch added. It is written with `Storage.create`, so it appears completely or not at
all, and exactly one of several drivers writes it. A checksum in the file detects later damage.

A state is the sum of its **layers**, oldest first. A manifest names the layers of compaction, which hold all
epochs up to `compacted`; the runs of each later epoch are a separate layer. These runs are found without reading every
manifest: epoch 8 also lists the runs of epochs 1 to 8, epoch 64 those of 1 to 64. In general, an epoch divisible by a
power of 8 (up to 4096) lists the runs of that many epochs, unless they are compacted. So an epoch lists the runs of
fewer than five epochs on average, however long the job runs, and those of any n epochs are found in about 7 log8(n)
reads.

History is append-only. To return to an earlier epoch, or to start from a savepoint, a driver commits another manifest
with the layers of that state (`taken_over`), under a new `lineage`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_digest, xxh3_64_hexdigest

from firesteel.common.decoders import msgpack_decoder
from firesteel.common.identities import PartIdentity
from firesteel.state.live.durable import RunRef

FORMAT: Final = 3
"""The version of the layout of state directories; it changes when older ones could be misread."""

MANIFESTS: Final = "manifests"

_MAGIC: Final = b"FSMANIF1"
_CHECKSUM: Final = 8


class SplitPosition(msgspec.Struct, frozen=True):
    """The progress of a split that is not finished; `split` and `generator_state` are pickled.

    `ordinal` is its place in the order of discovery, which decides the subtask that reads it.
    """

    split: bytes
    position: int
    generator_state: bytes
    ordinal: int


class SourceProgress(msgspec.Struct, frozen=True):
    """The progress of a source, by the ids of its splits; see `firesteel.checkpoint.splits`.

    `recent` has finished splits with their end positions; `finished` are runs with more of them.
    """

    unfinished: dict[str, SplitPosition] = {}
    recent: dict[str, int] = {}
    finished: list[RunRef] = []


class Layer(msgspec.Struct, frozen=True, array_like=True):
    """The changes of epochs `first` to `last` (both inclusive) in one operator's state.

    The runs hold disjoint ranges of key groups, and each has a copy of the changes in broadcast state. `whole` means
    that this is not a change but the whole state, without deletes: a copy starts empty with it.
    """

    first: int
    last: int
    whole: bool
    runs: list[RunRef]

    @property
    def size(self) -> int:
        """The size on storage, in bytes."""
        return sum(run.size for run in self.runs)


class OperatorSnapshot(msgspec.Struct, frozen=True):
    """One operator after an epoch.

    Each subtask has its watermark (milliseconds) and its pickled operator state, None if it has none. `states` are the
    schemas of its keyed and broadcast states. `runs` are those that the epoch added; the state is the sum of the runs
    of all epochs. `max_parallelism` is the number of its key groups (0: not recorded). `key_types` are the schemas of
    the types that a program may declare for its keys (None: no type; empty: not recorded), `key_kinds` the kinds of all
    keys that ever had state (None: not recorded).

    `holds_lists` means that the operator state is operator list state (`OperatorLists`); otherwise it is an object that
    belongs to the operator. `arrangements` are the layouts of its arrangements (`encode_layout`), by the names of their
    states, which their runs among `runs` give as their operator. `identity` is None for operators of stream programs.
    """

    name: str
    parallelism: int
    watermarks: list[int]
    operator_state: list[bytes | None]
    states: dict[str, dict[str, Any]]
    runs: list[RunRef]
    max_parallelism: int = 0
    key_types: list[dict[str, Any] | None] = []
    key_kinds: list[str] | None = None
    holds_lists: bool = False
    arrangements: dict[str, bytes] = {}
    identity: PartIdentity | None = None


class Manifest(msgspec.Struct, frozen=True):
    """One committed epoch; `sources` and `committables` are by operator id, times are in milliseconds.

    `version` is Firesteel's; `program` and `fingerprint` identify the program, and `records` is the number of records
    that the epoch read. At the processing times of `wakeups` a subtask wants an epoch, at the steady times of
    `idle_deadlines` a stream becomes idle (see `functions.epoch` for both). `layers` (by operator id, oldest first) are
    the state up to epoch `compacted`. `oldest` is the oldest epoch that is kept. `restored_from` names the epoch or
    savepoint that a reset took over. The log adds the last three: `span` epochs up to this one, if they are not
    compacted, have their runs in this manifest, those before this epoch in `history` (by operator, in order); `writer`
    distinguishes the drivers.
    """

    job_id: str
    epoch: int
    max_parallelism: int
    operators: dict[str, OperatorSnapshot]
    sources: dict[str, SourceProgress]
    committables: dict[str, list[bytes]]
    processing_time: int
    finished: bool
    created_at: int
    version: str
    wakeups: list[int] = []
    steady_time: int = 0
    idle_deadlines: list[int] = []
    fingerprint: str = ""
    program: str = ""
    job_name: str = ""
    records: int = 0
    layers: dict[str, list[Layer]] = {}
    compacted: int = 0
    lineage: str = ""
    oldest: int = 1
    restored_from: str = ""
    span: int = 1
    history: dict[str, list[RunRef]] = {}
    writer: str = ""


class JobFile(msgspec.Struct, frozen=True):
    """The constant facts of a job; `restored_from` identifies the savepoint that it started with, `checksum` covers the
    other fields.
    """

    job_id: str
    max_parallelism: int
    format: int = FORMAT
    restored_from: str = ""
    checksum: str = ""

    def signed(self) -> JobFile:
        """Return this with the right checksum."""
        fields = f"{self.job_id}/{self.max_parallelism}/{self.format}"
        if self.restored_from:
            fields += f"/{self.restored_from}"
        return msgspec.structs.replace(self, checksum=xxh3_64_hexdigest(fields.encode()))


def taken_over(
    manifest: Manifest,
    epoch: int,
    restored_from: str,
    *,
    job_id: str | None = None,
    oldest: int | None = None,
) -> Manifest:
    """Return a manifest for `epoch` with the state of a self-contained one, under a new lineage.

    The job and the oldest kept epoch are those of `manifest` unless others are given.
    """
    return msgspec.structs.replace(
        manifest,
        job_id=manifest.job_id if job_id is None else job_id,
        epoch=epoch,
        compacted=epoch,
        lineage=uuid.uuid4().hex,
        restored_from=restored_from,
        created_at=int(time.time() * 1000),
        records=0,
        oldest=manifest.oldest if oldest is None else oldest,
    )


class OperatorRuns(msgspec.Struct, frozen=True):
    """The part of an operator's snapshot that names its runs."""

    runs: list[RunRef]


class SourceRuns(msgspec.Struct, frozen=True):
    """The part of a source's progress that names its runs."""

    finished: list[RunRef] = []


class ManifestRuns(msgspec.Struct, frozen=True):
    """The part of a manifest that names its runs."""

    epoch: int
    operators: dict[str, OperatorRuns]
    sources: dict[str, SourceRuns] = {}
    span: int = 1
    history: dict[str, list[RunRef]] = {}
    layers: dict[str, list[Layer]] = {}
    compacted: int = 0

    def by_state(self) -> dict[str, list[RunRef]]:
        """Return the runs of the manifest's span of epochs, in order, by the state that they belong to."""
        runs = {state: list(past) for state, past in self.history.items()}
        for snapshot in self.operators.values():
            for run in snapshot.runs:
                runs.setdefault(run.operator, []).append(run)
        return runs


def stored_runs(manifest: Manifest) -> list[RunRef]:
    """Return all runs that a self-contained manifest needs: those of its layers and of its sources."""
    return [*runs_of(manifest.layers), *split_runs(manifest.sources)]


def split_runs(sources: Mapping[str, SourceProgress | SourceRuns]) -> list[RunRef]:
    """Return the runs of finished splits."""
    return [run for progress in sources.values() for run in progress.finished]


def runs_of(layers: dict[str, list[Layer]]) -> list[RunRef]:
    """Return all runs of all layers."""
    return [run for found in layers.values() for layer in found for run in layer.runs]


def manifest_path(epoch: int) -> str:
    """Return the path of an epoch's manifest in a state directory."""
    return f"{MANIFESTS}/{epoch:012d}"


_encoder: Final = msgspec.msgpack.Encoder()
_manifest_decoder: Final = msgpack_decoder(Manifest)
_runs_decoder: Final = msgpack_decoder(ManifestRuns)


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest's file: a mark, the xxh3 checksum of the rest, and the struct in msgpack."""
    body = _encoder.encode(manifest)
    return _MAGIC + xxh3_64_digest(body) + body


def decode_manifest(data: bytes) -> Manifest:
    """Return the manifest in a file. Raises ValueError (msgspec's errors are of that kind) for a damaged file."""
    manifest: Manifest = _manifest_decoder.decode(_body(data))
    return manifest


def decode_listing(data: bytes) -> ManifestRuns:
    """Return the runs that the manifest in a file names. Raises ValueError as `decode_manifest` does."""
    listing: ManifestRuns = _runs_decoder.decode(_body(data))
    return listing


def _body(data: bytes) -> memoryview:
    start = len(_MAGIC) + _CHECKSUM
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{len(data)} bytes that do not start like a manifest")
    if xxh3_64_digest(data[start:]) != data[len(_MAGIC) : start]:
        raise ValueError(f"{len(data)} bytes that do not match their checksum")
    return memoryview(data)[start:]
