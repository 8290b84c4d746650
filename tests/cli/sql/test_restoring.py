"""`firesteel sql --from`: what is started from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.control import EpochStats
from firesteel.control.commands import send
from firesteel.testing import executing
from tests.cli.conftest import Firesteel
from tests.cli.driving import arrive
from tests.cli.sql.counting import script, totals, words

pytestmark = pytest.mark.usefixtures("machine")


class Stopping:
    """A listener that asks the only job of a directory to stop with a savepoint, once it has read a file."""

    def __init__(self, states: Path, kept: Path) -> None:
        self._states, self._kept = states, kept

    def on_epoch(self, stats: EpochStats) -> None:
        if stats.records_in:
            [job] = self._states.iterdir()
            send(Storage.of(job), "stop", str(self._kept))


class Place:
    """A directory in which scripts run, each until it has read the files that are there."""

    def __init__(self, directory: Path, firesteel: Firesteel) -> None:
        self.directory = directory
        self._firesteel = firesteel
        (directory / "in").mkdir()
        arrive(directory, "1.csv")

    def run(self, file: str, states: str, *options: object, parallelism: int = 2) -> Path:
        """Run a script and return its savepoint; it ends well."""
        kept = self.directory / f"kept of {states}"
        stopping = Stopping(self.directory / states, kept)
        with executing(parallelism=parallelism, listener=stopping):
            done = self.start(file, states, *options)
        assert (done.exit_code, done.stdout) == (0, ""), done.output
        [savepoint] = kept.iterdir()
        return savepoint

    def refused(self, file: str, states: str, *options: object) -> str:
        """Run a script that fails, and return its error."""
        with executing(parallelism=2):
            done = self.start(file, states, *options)
        assert (done.exit_code, done.stdout) == (1, "")
        return done.stderr

    def start(self, file: str, states: str, *options: object):
        return self._firesteel("sql", "-f", file, "--state-dir", self.directory / states, *options)


@pytest.fixture
def place(tmp_path: Path, firesteel: Firesteel, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, firesteel)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_script_goes_on_from_a_savepoint_at_any_parallelism(place: Place, parallelism: int) -> None:
    savepoint = place.run(script(place.directory, "one"), "first")
    arrive(place.directory, "2.csv")
    place.run(script(place.directory, "two"), "second", "--from", savepoint, parallelism=parallelism)
    assert totals(place.directory, "one") == words(1)
    assert totals(place.directory, "two") == words(2)


def test_a_script_says_what_its_job_starts_from(place: Place) -> None:
    savepoint = place.run(script(place.directory, "one"), "first")
    arrive(place.directory, "2.csv")
    file = Path(script(place.directory, "two"))
    file.write_text(f"SET 'execution.state-recovery.path' = '{savepoint}';\n{file.read_text()}")
    place.run(str(file), "second")
    assert totals(place.directory, "two") == words(2)


def test_another_query_is_refused_unless_state_may_be_left_out(place: Place) -> None:
    savepoint = place.run(script(place.directory, "one"), "first")
    arrive(place.directory, "2.csv")
    file = Path(script(place.directory, "two"))
    file.write_text(file.read_text().replace("COUNT(*) FROM words", "SUM(CHAR_LENGTH(word)) FROM words"))
    error = place.refused(str(file), "second", "--from", savepoint)
    assert "belongs to another program" in error
    assert "--allow-non-restored-state" in error
    assert totals(place.directory, "two") == {}
    place.run(str(file), "third", "--from", savepoint, "--allow-non-restored-state")
    assert totals(place.directory, "two") == {word: 2 * count for word, count in words(1).items()}


def test_a_place_without_a_savepoint_is_named(place: Place) -> None:
    error = place.refused(script(place.directory, "one"), "first", "--from", place.directory / "in")
    assert "--from" in error
    assert "Traceback" not in error
