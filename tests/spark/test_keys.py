"""Keys of a program's own classes: the workers find them, and equal ones are one key, also after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunPython

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PROGRAM = Path(__file__).parent / "programs" / "own_keys.py"
KEYS = (
    "Place(town='Ulm', number=1)",
    "Place(town='Ulm', number=2)",
    "Colour.RED",
    "Colour.BLUE",
    "Pair(left=1, right='a')",
    "Pair(left=2, right='a')",
)


@pytest.mark.thorough
def test_objects_of_classes_in_the_program_itself_are_keys(tmp_path: Path, run_python: RunPython) -> None:
    done = run_python(PROGRAM, tmp_path / "state")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == sorted(f"{key} {count}" for key in KEYS for count in (1, 2, 3, 4))
