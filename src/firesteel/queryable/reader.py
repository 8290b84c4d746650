"""The states of a job as of its last committed epoch, or of any that it keeps, while it runs or when it has ended.

Nothing is asked of the job: its manifests and runs are read. Each operator that is read has a copy here, which follows
the epochs, and each answer comes from one snapshot of that copy: one epoch, whatever the job, its compaction and its
retention do meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from firesteel.checkpoint.following import Follower
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import MANIFESTS, manifest_path
from firesteel.checkpoint.objects import NotFound
from firesteel.common.errors import FencedError, FiresteelError, StateCorruptedError
from firesteel.graph.uids import id_of_uid
from firesteel.queryable.copies import OperatorCopy, Snapshot
from firesteel.queryable.place import ReadingPlace
from firesteel.saved.inspection import SavedOperator, SavedState

_EARLIER_KEPT: Final = 2
"""Epochs before the last one of which copies are kept; each takes as much disk as the state."""

_NEVER: Final = float("-inf")


_REST: Final = 4.0
"""A reader that may hand out an earlier epoch rests for so many times as long as it took to take over the last one."""


class _Followed:
    """An operator whose copy follows the epochs.

    `seen` is when its snapshot was known to be the last epoch's; `cost` are the seconds that it took to bring that.
    """

    def __init__(self) -> None:
        self.cost = 0.0
        self.turn = threading.Lock()
        self.copy: OperatorCopy | None = None
        self.current: Snapshot | None = None
        self.seen = _NEVER
        self.looking = False


class StateReader:
    """Reads a state directory, or a savepoint, by path or URL. Any number of threads may use it; close it in the end.

    A snapshot is of the last committed epoch, as it was at most `fresh` seconds ago. One that was the last within
    `stale` seconds is still handed out while a thread brings the next: then no read waits for an epoch to be taken
    over. That thread rests between two epochs, for at most a quarter of `stale`, so that it leaves processors to the
    job. With a `follower`, another process takes over what epochs changed, and this one goes on answering.

    Raises StateError if there is no such directory, operator or epoch, StateCorruptedError if a file is damaged.
    """

    def __init__(
        self, location: str, *, fresh: float = 0.0, stale: float = 0.0, follower: Follower | None = None
    ) -> None:
        self._saved = SavedState.open(location)
        self._storage = self._saved.storage
        self._fresh = fresh
        self._stale = stale
        self._follower = follower
        self._place = ReadingPlace()
        self._turn = threading.Lock()
        self._turn_of_earlier = threading.Lock()
        self._ids: dict[str, str] = {}
        self._followed: dict[str, _Followed] = {}
        self._earlier: OrderedDict[tuple[str, int], tuple[OperatorCopy, Snapshot]] = OrderedDict()
        self._behind = ThreadPoolExecutor(1, "firesteel-reads")

    def close(self) -> None:
        """Remove the copies."""
        self._behind.shutdown(cancel_futures=True)
        self._followed.clear()
        self._earlier.clear()
        self._place.close()

    def saved(self, epoch: int | None = None) -> SavedState:
        """Return the job as it was after an epoch (default: the last one)."""
        return self._newest() if epoch is None else SavedState.open(self._storage.url, epoch)

    def snapshot(self, operator: str, epoch: int | None = None) -> Snapshot:
        """Return the states of an operator (its uid, name, id, or the beginning of its id) after an epoch."""
        if epoch is not None:
            return self._as_of(operator, epoch)
        return self.at_hand(operator) or self._followed_to_the_end(operator)

    def at_hand(self, operator: str) -> Snapshot | None:
        """Return the snapshot that can be handed out without any waiting; None if there is none."""
        followed = self._followed.get(self._ids.get(operator, ""))
        if followed is None or followed.current is None:
            return None
        age = time.monotonic() - followed.seen
        if age > max(self._fresh, min(_REST * followed.cost, self._stale / 4)):
            if age > self._stale:
                return None
            self._look_behind(operator, followed)
        return followed.current

    def _look_behind(self, operator: str, followed: _Followed) -> None:
        if followed.looking:
            return
        followed.looking = True

        def look() -> None:
            try:
                self._followed_to_the_end(operator)
            except FiresteelError:
                followed.seen = _NEVER  # the next read fails in the same way, and tells its caller
            finally:
                followed.looking = False

        self._behind.submit(look)

    def _followed_to_the_end(self, operator: str) -> Snapshot:
        asked = time.monotonic()
        operator_id = _operator(self._newest(), operator).id
        with self._turn:
            followed = self._followed.setdefault(operator_id, _Followed())
            self._ids[operator] = operator_id
        with followed.turn:
            while followed.current is None or followed.seen < asked:
                began, before = time.monotonic(), followed.copy
                saved = self._newest()
                try:
                    followed.current = self._advanced(followed, saved, _operator(saved, operator_id))
                except (FencedError, StateCorruptedError):
                    if self._newest().manifest.epoch == saved.manifest.epoch:
                        raise
                    # Retention was faster; what has been read by now is not read again.
                else:
                    followed.seen, followed.cost = began, time.monotonic() - began
                    if followed.copy is not before and followed.cost > self._stale / 2 > 0:
                        # All of the state took long: the next reads would have to wait for the epochs since.
                        asked = time.monotonic()
            return followed.current

    def _advanced(self, followed: _Followed, saved: SavedState, operator: SavedOperator) -> Snapshot:
        current, copy = followed.current, followed.copy
        manifest = saved.manifest
        if copy is None or copy.lineage != manifest.lineage:
            copy = OperatorCopy(self._storage, self._place.fresh(), manifest.lineage)
            if followed.copy is not None:
                self._place.discard(followed.copy.directory)
            followed.copy, current = copy, None
        if current is not None and current.epoch >= manifest.epoch:
            return current
        if current is not None and operator.snapshot.states and self._follower is not None:
            self._follower.take(copy.step_to(saved, operator))
        return copy.at(saved, operator)

    def _as_of(self, operator: str, epoch: int) -> Snapshot:
        saved = self._newest()
        if epoch == saved.manifest.epoch:
            last = self._followed_to_the_end(operator)
            if last.epoch == epoch:
                return last
        with self._turn_of_earlier:
            saved = SavedState.open(self._storage.url, epoch)
            found = _operator(saved, operator)
            if (found.id, epoch) not in self._earlier:
                self._read_earlier(saved, found)
            self._earlier.move_to_end((found.id, epoch))
            return self._earlier[found.id, epoch][1]

    def _read_earlier(self, saved: SavedState, operator: SavedOperator) -> None:
        copy = OperatorCopy(self._storage, self._place.fresh(), saved.manifest.lineage)
        try:
            snapshot = copy.at(saved, operator)
        except (FencedError, StateCorruptedError):
            self._place.discard(copy.directory)
            SavedState.open(self._storage.url, saved.manifest.epoch)  # raises if it is no longer kept
            raise
        self._earlier[operator.id, snapshot.epoch] = copy, snapshot
        while len(self._earlier) > _EARLIER_KEPT:
            self._place.discard(self._earlier.popitem(last=False)[1][0].directory)

    def _newest(self) -> SavedState:
        """Return the last committed epoch, by one look at the names of manifests if it is the one that is known."""
        while True:
            known = self._saved
            epoch = known.manifest.epoch
            names = self._storage.names_after(MANIFESTS, manifest_path(epoch - 1))
            numbers = [int(name) for path in names if (name := path.rpartition("/")[2]).isdecimal()]
            if not numbers:  # the directory is another one than it was
                self._saved = SavedState.open(self._storage.url)
                return self._saved
            if numbers[-1] == epoch:
                return known
            try:
                self._saved = SavedState(self._storage, ManifestReader(self._storage).read(numbers[-1]))
            except StateCorruptedError as error:
                if not isinstance(error.__cause__ or error.__context__, NotFound):
                    raise
            else:
                return self._saved


def _operator(saved: SavedState, wanted: str) -> SavedOperator:
    return saved.operator(wanted, id_of_uid(wanted))
