"""Our automaton finds what Flink's finds, in the same order: `flink/ask_patterns.py` has asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ProgramError
from firesteel.runtime.patterns.compiling import compiled
from tests.runtime.patterns.calls import found_by, pattern_of

ANSWERS = Path(__file__).parent / "flink" / "patterns.jsonl.gz"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in gzip.decompress(ANSWERS.read_bytes()).splitlines()
]
SUBJECTS = sorted({case["subject"] for case in CASES})


def failed(answers: list[Any]) -> list[Any]:
    """Leave out how Flink says that a match cannot be skipped to."""
    return ["failed" if isinstance(answer, str) else answer for answer in answers]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_same_matches_as_flink(subject):
    differing = []
    asked = [case for case in CASES if case["subject"] == subject and "answers" in case]
    for place, case in enumerate(asked):
        for run, answer in zip(case["runs"], case["answers"], strict=True):
            found = found_by(case["calls"], run, settling=bool(place % 2))
            if found != failed(answer):
                differing.append((case["calls"], run, answer, found))
    assert len(asked) > 50
    assert not differing, f"{len(differing)} of {len(asked)}, the first: {differing[0]}"


def test_what_flink_refuses_is_refused():
    accepted = []
    for case in CASES:
        try:
            compiled(pattern_of(case["calls"]).definition())
        except ProgramError:
            refused = True
        else:
            refused = False
        if refused != ("refused" in case):
            accepted.append((refused, case["calls"], case.get("refused")))
    assert not accepted, f"{len(accepted)}, the first: {accepted[0]}"
