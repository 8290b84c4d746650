"""The start of a job's history: empty, its last epoch, a savepoint, or an earlier epoch."""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from firesteel.checkpoint.documents import (
    published_epoch,
    read_document,
    record_published,
    write_document,
)
from firesteel.checkpoint.integrity import advised_error, damage_of
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Manifest, stored_runs, taken_over
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.checkpoint.savepoint import copy_runs, open_savepoint, self_contained
from firesteel.common.errors import StateCorruptedError, StateError, StateMismatchError
from firesteel.control.program_check import check_program
from firesteel.runtime.plan import Plan

LATEST: Final = "latest"

_GONE_BACK: Final = "gone_back.json"

_log = logging.getLogger("firesteel.control")


class _GoneBack(msgspec.Struct, frozen=True):
    """What the last start did: the job went back to `epoch`, whose state is that of `as_epoch` now."""

    epoch: int
    as_epoch: int


def open_history(
    storage: Storage, plan: Plan, restore_from: str | None, *, allow_non_restored_state: bool = False
) -> ManifestLog:
    """Carry out what `restore_from` asks for, and open the job of a state directory:

    - None: an existing job resumes, a new one begins empty.
    - ``latest``: the job resumes; there must be one.
    - the number of a kept epoch: the job goes back to it. Its output since then is visible and stays. If you repeat the
      start, the job resumes, so that a supervisor can repeat the command.
    - the path or URL of a savepoint, or of another job's state directory (its last visible epoch): a new job begins
      with a copy of that state. In a directory where exactly this has been done the job resumes, so that you can repeat
      the command after a crash.

    Raises StateMismatchError if the state is of another program (see `check_program`) or the directory has another
    history, StateCorruptedError if the state to restore is damaged, StateError if it does not exist.
    """
    restoring = _Restoring(storage, plan, allow_non_restored_state)
    if restore_from is None:
        return restoring.go_on()
    if restore_from == LATEST:
        return restoring.go_on(existing=True)
    if restore_from.isdecimal():
        return restoring.go_back(int(restore_from))
    return restoring.take_over(Storage.existing(restore_from))


def starting_manifest(storage: Storage | None, restore_from: str | None) -> Manifest | None:
    """Return the state from which `open_history` will let a job go on.

    None means that it begins empty, or that `open_history` will not open it: that says why.
    """
    try:
        return _starting_manifest(storage, restore_from)
    except StateError:
        return None


def _starting_manifest(storage: Storage | None, restore_from: str | None) -> Manifest | None:
    log = None if storage is None else ManifestLog.open(storage)
    epochs = [] if log is None else log.epochs()
    if restore_from is not None and restore_from.isdecimal():
        return log.read(int(restore_from)) if log is not None and int(restore_from) in epochs else None
    if log is not None and epochs:
        return log.latest()
    if restore_from is None or restore_from == LATEST:
        return None
    source = Storage.existing(restore_from)
    return ManifestReader(source).read(_identity(source)[0])


class _Restoring:
    def __init__(self, storage: Storage, plan: Plan, allow_non_restored_state: bool) -> None:
        self._storage = storage
        self._plan = plan
        self._allow = allow_non_restored_state

    def go_on(self, *, existing: bool = False) -> ManifestLog:
        log = ManifestLog.open(self._storage)
        self._storage.delete(_GONE_BACK)  # another command: the next one with an epoch is no repetition
        if existing and (log is None or not log.epochs()):
            raise self._nothing(LATEST, "no epoch that was committed")
        if log is not None and log.job.restored_from and not log.epochs():
            raise StateError(
                "was to start from a savepoint, but did not finish taking it over",
                who=f"the state directory {self._storage.url}",
                hint="start the job with the same --from again",
            )
        return ManifestLog.open_or_create(self._storage, self._plan.max_parallelism)

    def go_back(self, epoch: int) -> ManifestLog:
        log = ManifestLog.open_or_create(self._storage, self._plan.max_parallelism)
        if self._has_gone_back(log, epoch):
            return log
        kept, oldest = self._kept(log, epoch)
        if epoch not in kept:
            raise self._nothing(f"epoch {epoch}", f"the epochs {_listed(kept)}" if kept else "no epoch")
        published = self._published(kept[-1])
        if epoch == kept[-1] >= published:  # it is there already; output that is not visible yet will be
            return self._gone_back(log, epoch, epoch)
        damage = damage_of(self._storage, epoch)
        if damage is not None:
            raise advised_error(damage, self._storage, before=epoch)
        manifest = self_contained(log, epoch)
        self._check(manifest, self._storage)
        last = max(log.epochs()[-1], published)
        log.append(taken_over(manifest, last + 1, f"epoch {epoch}", job_id=log.job.job_id, oldest=oldest))
        return self._gone_back(log, epoch, last + 1)

    def _has_gone_back(self, log: ManifestLog, epoch: int) -> bool:
        """Return whether the previous command was the same, and has been carried out."""
        done = read_document(self._storage, _GONE_BACK, _GoneBack)
        epochs = log.epochs()
        if done is None or done.epoch != epoch or not epochs or epochs[-1] < done.as_epoch:
            return False
        _log.warning(
            "the job has gone back to epoch %d before, as epoch %d, and resumes from epoch %d; "
            "--from %d goes back again",
            epoch,
            done.as_epoch,
            epochs[-1],
            done.as_epoch,
        )
        return True

    def _gone_back(self, log: ManifestLog, epoch: int, as_epoch: int) -> ManifestLog:
        # If the driver dies before this is written the job goes back again; nothing has happened in between.
        write_document(self._storage, _GONE_BACK, _GoneBack(epoch, as_epoch))
        return log

    def take_over(self, source: Storage) -> ManifestLog:
        epoch, identity = _identity(source)
        log = ManifestLog.open(self._storage)
        if log is not None and log.epochs():
            if log.job.restored_from == identity:
                return log
            raise StateMismatchError(
                "requires a separate state directory",
                who=f"a job that begins with {source.url}",
                got=f"{self._storage.url}, which has another history",
                hint="name an empty directory, or leave --from out to resume the job that is there",
            )
        manifest = self_contained(ManifestReader(source), epoch)
        self._check(manifest, source)
        log = ManifestLog.open_or_create(self._storage, self._plan.max_parallelism, identity)
        if log.job.restored_from != identity:  # of a job that has committed nothing
            log = log.restored_from(identity)
        copy_runs(source, stored_runs(manifest), self._storage)
        first = epoch + 1
        log.append(taken_over(manifest, first, source.url, job_id=log.job.job_id, oldest=first))
        return log

    def _kept(self, log: ManifestLog, epoch: int) -> tuple[list[int], int]:
        """Return all epochs, and the oldest that is still kept if the job goes back to `epoch`.

        The last manifest has the latter, but may be damaged: then nothing is known about epochs before `epoch`.
        """
        try:
            kept = kept_epochs(log)
        except StateCorruptedError:
            return log.epochs(), epoch
        return kept, min(kept, default=epoch)

    def _published(self, newest: int) -> int:
        """Return the last visible epoch by the record; if that cannot be read, the newest is made visible again."""
        try:
            return published_epoch(self._storage)
        except StateCorruptedError:
            record_published(self._storage, newest - 1)
            return newest - 1

    def _check(self, manifest: Manifest, source: Storage) -> None:
        if manifest.max_parallelism != self._plan.max_parallelism:
            raise StateMismatchError(
                f"requires the max parallelism {manifest.max_parallelism}",
                who=f"the state in {source.url}",
                got=f"a program with {self._plan.max_parallelism}",
                hint=f"call env.set_max_parallelism({manifest.max_parallelism})",
            )
        check_program(
            manifest,
            self._plan,
            f"the state in {source.url}",
            unpublished=False,
            allow_non_restored_state=self._allow,
        )

    def _nothing(self, wanted: str, got: str) -> StateError:
        return StateError(
            f"requires {wanted}",
            who=f"--from in the state directory {self._storage.url}",
            got=got,
            hint="firesteel checkpoints lists the epochs a job can be started from",
        )


def _identity(source: Storage) -> tuple[int, str]:
    """Return the epoch to take over, and an identity of this source that does not depend on its location."""
    savepoint = open_savepoint(source)
    if savepoint is not None:
        return savepoint.epoch, f"savepoint {savepoint.checksum}"
    job = ManifestLog.open(source)
    if job is not None:
        published = published_epoch(source)
        epochs = job.epochs()
        silent = [epoch for epoch in epochs if epoch <= published or not job.read(epoch).committables]
        if silent:
            return silent[-1], f"job {job.job.job_id}"
    raise StateError(
        "requires a savepoint, or the state directory of a job",
        who="--from",
        got=f"{source.url}, which holds neither (a savepoint that is not complete has no savepoint.json)",
    )


def _listed(epochs: list[int]) -> str:
    return ", ".join(map(str, epochs[-20:]))
