from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Manifest, OperatorSnapshot, SourceProgress, SplitPosition
from firesteel.checkpoint.objects import AlreadyExists, Storage
from firesteel.common.errors import FencedError, StateCorruptedError, StateMismatchError
from firesteel.state.live.durable import RunRef


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.of(tmp_path)


def run_ref(epoch: int, operator: str = "op", subtask: int = 0, groups: tuple[int, int] = (0, 127)) -> RunRef:
    return RunRef(f"runs/{operator}/{epoch}-{subtask}", 1, 10, "0" * 16, epoch, operator, subtask, *groups)


def manifest(epoch: int, runs: dict[str, list[RunRef]] | None = None, **fields: Any) -> Manifest:
    snapshots = {
        operator: OperatorSnapshot(operator, 1, [epoch], [None], {}, found)
        for operator, found in (runs or {}).items()
    }
    defaults: dict[str, Any] = {
        "job_id": "job",
        "epoch": epoch,
        "max_parallelism": 128,
        "operators": snapshots,
        "sources": {},
        "committables": {},
        "processing_time": 0,
        "finished": False,
        "created_at": 0,
        "version": "1",
    }
    return Manifest(**{**defaults, **fields})


def test_a_manifest_is_read_as_it_was_appended(storage: Storage) -> None:
    log = ManifestLog.open_or_create(storage, 128)
    assert (log.latest(), log.epochs()) == (None, [])
    snapshot = OperatorSnapshot(
        "count",
        2,
        [-(2**63), 2**63 - 1],
        [b"\0state", None],
        {"keyed:count": {"id": 7, "type": None}},
        [run_ref(1)],
    )
    first = manifest(
        1,
        operators={"op": snapshot},
        sources={
            "source": SourceProgress({"file:0": SplitPosition(b"split", 10, b"generator", 3)}, {"file:1": 7})
        },
        committables={"sink": [b"one", b"two"]},
        wakeups=[5],
        fingerprint="abc",
    )
    log.append(first)
    log.append(manifest(2, finished=True))
    reader = ManifestReader(Storage.of(storage.url))
    assert reader.epochs() == [1, 2]
    assert 2 in reader.epochs()
    found = reader.read(1)
    assert msgspec.structs.replace(found, writer="") == first
    latest = reader.latest()
    assert latest is not None
    assert (latest.epoch, latest.finished) == (2, True)


def test_the_log_goes_on_after_hundreds_of_epochs_and_foreign_files(storage: Storage) -> None:
    ManifestLog.open_or_create(storage, 128).append(manifest(999))
    ManifestLog.open_or_create(storage, 128).append(manifest(1_000_000_000_001))
    storage.put("manifests/.DS_Store", b"")
    assert ManifestReader(storage).epochs() == [999, 1_000_000_000_001]


class TestJobFile:
    def test_a_job_keeps_its_id(self, storage: Storage) -> None:
        assert ManifestLog.open(storage) is None
        job = ManifestLog.open_or_create(storage, 128).job
        assert ManifestLog.open_or_create(storage, 128).job == job
        opened = ManifestLog.open(storage)
        assert opened is not None
        assert (opened.job, job.max_parallelism) == (job, 128)

    def test_two_drivers_that_begin_together_have_one_job(self, storage: Storage) -> None:
        together = threading.Barrier(6)

        def begin() -> str:
            together.wait()
            return ManifestLog.open_or_create(Storage.of(storage.url), 128).job.job_id

        with ThreadPoolExecutor(6) as pool:
            assert len({begun.result() for begun in [pool.submit(begin) for _ in range(6)]}) == 1

    def test_another_max_parallelism_is_refused(self, storage: Storage) -> None:
        ManifestLog.open_or_create(storage, 128)
        with pytest.raises(StateMismatchError) as failure:
            ManifestLog.open_or_create(storage, 64)
        assert str(failure.value) == (
            f"the state directory {storage.url} belongs to a job with max parallelism 128, "
            "which is fixed for its life; got max parallelism 64\n"
            "  hint: call env.set_max_parallelism(128), or use another state directory"
        )

    def test_a_newer_layout_is_refused(self, storage: Storage) -> None:
        job = ManifestLog.open_or_create(storage, 128).job
        newer = msgspec.structs.replace(job, format=99).signed()
        storage.put("job.json", msgspec.json.encode(newer))
        with pytest.raises(StateMismatchError, match="knows format 99"):
            ManifestLog.open(storage)

    @pytest.mark.parametrize(("before", "after"), [(b"128", b"127"), (b"{", b""), (b"job_id", b"job_ID")])
    def test_damage_is_found(self, storage: Storage, before: bytes, after: bytes) -> None:
        ManifestLog.open_or_create(storage, 128)
        storage.put("job.json", storage.get("job.json").replace(before, after))
        with pytest.raises(StateCorruptedError, match=r"/job.json must be as it was written"):
            ManifestLog.open(storage)


@pytest.fixture(scope="module")
def written() -> Iterator[tuple[Storage, bytes]]:
    with TemporaryDirectory() as directory:
        storage = Storage.of(directory)
        log = ManifestLog.open_or_create(storage, 128)
        for epoch in (1, 2):
            log.append(manifest(epoch, {"op": [run_ref(epoch)]}))
        yield storage, storage.get("manifests/000000000002")


class TestDamage:
    def assert_named(self, storage: Storage) -> None:
        reader = ManifestReader(storage)
        for read in (reader.latest, lambda: reader.read(2), lambda: reader.layers("op", 0, 2)):
            with pytest.raises(
                StateCorruptedError, match=r"/manifests/000000000002 must be as it was written"
            ):
                read()

    @settings(max_examples=60)
    @given(data=st.data())
    def test_any_changed_byte_is_found(self, written: tuple[Storage, bytes], data: st.DataObject) -> None:
        storage, content = written
        changed = bytearray(content)
        changed[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        storage.put("manifests/000000000002", bytes(changed))
        self.assert_named(storage)

    @settings(max_examples=30)
    @given(data=st.data())
    def test_a_manifest_cut_off_is_found(self, written: tuple[Storage, bytes], data: st.DataObject) -> None:
        storage, content = written
        storage.put("manifests/000000000002", content[: data.draw(st.integers(0, len(content) - 1))])
        self.assert_named(storage)

    def test_a_manifest_in_the_place_of_another_is_found(self, written: tuple[Storage, bytes]) -> None:
        storage, _ = written
        storage.put("manifests/000000000002", storage.get("manifests/000000000001"))
        self.assert_named(storage)


def test_a_missing_manifest_is_found(storage: Storage) -> None:
    log = ManifestLog.open_or_create(storage, 128)
    for epoch in (1, 2, 3):
        log.append(manifest(epoch, {"op": [run_ref(epoch)]}))
    storage.delete("manifests/000000000002")
    with pytest.raises(StateCorruptedError, match=r"/manifests/000000000002 .* got no such file"):
        ManifestReader(storage).layers("op", 0, 3)


class TestTwoDrivers:
    def test_the_second_one_is_told(self, storage: Storage) -> None:
        first, second = (ManifestLog.open_or_create(storage, 128) for _ in range(2))
        first.append(manifest(1))
        with pytest.raises(FencedError) as failure:
            second.append(manifest(1))
        assert str(failure.value) == (
            f"the job in {storage.url} has a new driver: epoch 1 was committed while this one worked on it\n"
            "  hint: a job is run by one driver at a time; this one ends, and nothing of its epoch is visible"
        )

    def test_of_many_that_commit_an_epoch_exactly_one_does(self, storage: Storage) -> None:
        drivers = 6
        logs = [ManifestLog.open_or_create(Storage.of(storage.url), 128) for _ in range(drivers)]
        together = threading.Barrier(drivers)

        def commit(driver: int, epoch: int) -> bool:
            together.wait()
            try:
                logs[driver].append(manifest(epoch, fingerprint=str(driver)))
            except FencedError:
                return False
            return True

        with ThreadPoolExecutor(drivers) as pool:
            for epoch in range(1, 25):
                won = list(pool.map(commit, range(drivers), [epoch] * drivers))
                assert won.count(True) == 1
                assert ManifestReader(storage).read(epoch).fingerprint == str(won.index(True))

    def test_a_commit_whose_answer_was_lost_is_not_a_second_driver(self, tmp_path: Path) -> None:
        class SentTwice(Storage):
            def create(self, path: str, data: bytes) -> None:
                super().create(path, data)
                raise AlreadyExists("exists already", who=path)

        plain = Storage.of(tmp_path)
        ManifestLog.open_or_create(plain, 128)
        log = ManifestLog.open(SentTwice.of(tmp_path))
        assert log is not None
        log.append(manifest(1))
        assert ManifestReader(plain).epochs() == [1]


EPOCHS = 600


class CountingStorage(Storage):
    reads = 0

    @classmethod
    def at(cls, directory: str | Path) -> CountingStorage:
        storage = cls.of(directory)
        assert isinstance(storage, CountingStorage)
        return storage

    def get(self, path: str) -> bytes:
        self.reads += 1
        return super().get(path)


@pytest.fixture(scope="module")
def long_job() -> Iterator[CountingStorage]:
    with TemporaryDirectory() as directory:
        storage = CountingStorage.at(directory)
        log = ManifestLog.open_or_create(storage, 128)
        for epoch in range(1, EPOCHS + 1):
            if epoch in (10, 100, 301):  # a driver that starts again remembers nothing
                log = ManifestLog.open_or_create(storage, 128)
            halves = [run_ref(epoch, "op", 0, (0, 63)), run_ref(epoch, "op", 1, (64, 127))]
            rare = [run_ref(epoch, "rare")] if epoch % 50 == 0 else []
            log.append(manifest(epoch, {"op": halves, "rare": rare}))
        yield storage


class TestRuns:
    """600 epochs of two operators: `op` adds runs of two halves of the key groups, `rare` one every 50th epoch."""

    @settings(max_examples=150)
    @given(bounds=st.tuples(st.integers(0, EPOCHS), st.integers(0, EPOCHS)))
    def test_the_runs_between_two_epochs(self, long_job: CountingStorage, bounds: tuple[int, int]) -> None:
        after, up_to = sorted(bounds)
        epochs = range(after + 1, up_to + 1)
        reader, before = ManifestReader(long_job), long_job.reads
        layers = reader.layers("op", after, up_to)
        assert long_job.reads - before <= 3 * 7 + 2
        assert [(layer.first, layer.last, layer.whole) for layer in layers] == [
            (epoch, epoch, False) for epoch in epochs
        ]
        assert [[run.subtask for run in layer.runs] for layer in layers] == [[0, 1] for _ in epochs]
        assert [layer.last for layer in reader.layers("rare", after, up_to)] == [
            epoch for epoch in epochs if epoch % 50 == 0
        ]
        assert reader.layers("unknown", after, up_to) == []

    def test_an_epoch_lists_few_runs_however_old_the_job(self, long_job: Storage) -> None:
        reader = ManifestReader(long_job)
        spans = [reader.read(epoch).span for epoch in range(1, EPOCHS + 1)]
        assert sum(spans[:512]) < 4 * 512
        assert sum(spans[88:]) < 4 * 512

    def test_a_driver_does_not_read_what_it_has_written(self, tmp_path: Path) -> None:
        storage = CountingStorage.at(tmp_path)
        log = ManifestLog.open_or_create(storage, 128)
        before = storage.reads
        for epoch in range(1, 130):
            log.append(manifest(epoch, {"op": [run_ref(epoch)]}))
        assert storage.reads == before
