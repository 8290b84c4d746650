"""What a manifest holds of splits that were read to their end does not grow with their number."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.checkpoint import splits
from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Manifest, SourceProgress, SplitPosition, encode_manifest
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage
from firesteel.checkpoint.savepoint import open_savepoint, write_savepoint
from firesteel.checkpoint.splits import finished_splits, progressed
from firesteel.common.errors import StateCorruptedError

PLACE = {"operator": "files", "epoch": 1}


@pytest.fixture
def storage(tmp_path):
    return Storage.of(tmp_path / "state")


def manifest(epoch: int, progress: SourceProgress, **more: object) -> Manifest:
    return Manifest("job", epoch, 128, {}, {"files": progress}, {}, 0, False, 0, "1", **more)


def epochs_of(storage: Storage, ended_per_epoch: list[dict[str, int]]) -> list[SourceProgress]:
    found, last = [], SourceProgress()
    for epoch, ended in enumerate(ended_per_epoch, 1):
        last = progressed(storage, last, {}, ended, operator="files", epoch=epoch)
        found.append(last)
    return found


@given(st.lists(st.integers(0, 40), max_size=30))
def test_all_splits_that_ended_are_found_again_after_each_epoch(tmp_path_factory, sizes):
    storage = Storage.of(tmp_path_factory.mktemp("state"))
    given_ids = iter(range(10_000))
    epochs = [{f"split ä{next(given_ids)}": size for _ in range(size)} for size in sizes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "MOST_RECENT", 16)
        expected: dict[str, int] = {}
        for progress, ended in zip(epochs_of(storage, epochs), epochs, strict=True):
            expected |= ended
            assert finished_splits(storage, progress) == expected


def test_a_manifest_does_not_grow_with_the_files_that_were_read(storage):
    names = [f"/data/incoming/2026/part-{number:08d}.json@0" for number in range(20_000)]
    epochs = epochs_of(
        storage, [dict.fromkeys(names[start : start + 50], 1000) for start in range(0, 20_000, 50)]
    )
    sizes = [len(encode_manifest(manifest(epoch, found))) for epoch, found in enumerate(epochs, 1)]
    early, late = sizes[:40], sizes[-40:]
    assert max(late) < 1.2 * max(early)
    assert max(sizes) < 20_000
    assert sum(run.entries for run in epochs[-1].finished) + len(epochs[-1].recent) == 20_000
    rewritten = sum(entry.size for entry in storage.entries("runs"))
    assert rewritten < 20 * sum(run.size for run in epochs[-1].finished)


def test_what_is_unfinished_is_as_it_was_given(storage):
    position = {"a": SplitPosition(b"split", 3, b"state", 0)}
    assert progressed(storage, SourceProgress(), position, {}, **PLACE) == SourceProgress(position)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(splits, "MOST_RECENT", 3)


def committed(storage: Storage, epochs: int, **more: object) -> ManifestLog:
    log = ManifestLog.open_or_create(storage, 128)
    ended = [{f"{epoch} {number}": epoch for number in range(2)} for epoch in range(epochs)]
    for epoch, found in enumerate(epochs_of(storage, ended), 1):
        log.append(manifest(epoch, found, **more))
    return log


def test_retention_keeps_what_kept_epochs_name_and_removes_what_they_do_not(storage, few):
    log = committed(storage, 20)
    before = len(storage.list("runs"))
    log.append(manifest(21, log.read(20).sources["files"], oldest=20))
    collect_garbage(storage, 21)
    assert len(storage.list("runs")) < before
    assert log.epochs()[-2:] == [20, 21]
    for epoch in (20, 21):
        assert len(finished_splits(storage, log.read(epoch).sources["files"])) == 40


def test_a_run_of_an_epoch_that_is_not_committed_yet_is_left_alone(storage, few):
    log = committed(storage, 5)
    last = log.read(5).sources["files"]
    ahead = progressed(
        storage, last, {}, {f"ahead {number}": 1 for number in range(9)}, operator="files", epoch=6
    )
    collect_garbage(storage, 5)
    assert len(finished_splits(storage, ahead)) == 19


def test_a_savepoint_takes_them_along(tmp_path, storage, few):
    committed(storage, 10)
    target = Storage.of(tmp_path / "savepoint")
    write_savepoint(storage, 10, target)
    for path in storage.list("runs"):
        storage.delete(path)
    assert open_savepoint(target).runs == len(target.list("runs")) > 0
    assert len(finished_splits(target, ManifestReader(target).read(10).sources["files"])) == 20


def test_a_run_that_is_gone_is_damage_of_the_epochs_that_need_it(storage, few):
    log = committed(storage, 10)
    progress = log.read(10).sources["files"]
    assert damage_of(storage, 10) is None
    storage.delete(progress.finished[0].path)
    assert progress.finished[0].path in str(damage_of(storage, 10))
    with pytest.raises(StateCorruptedError, match="no such file"):
        finished_splits(storage, progress)


def test_a_directory_of_an_older_format_says_what_to_do(storage):
    log = ManifestLog.open_or_create(storage, 128)
    older = msgspec.structs.replace(log.job, format=2).signed()
    storage.put("job.json", msgspec.json.encode(older))
    with pytest.raises(
        Exception, match=r"knows format 2 of state directories; got one that knows format \d"
    ) as error:
        ManifestLog.open(storage)
    assert "use another directory" in str(error.value)
