"""How long an epoch takes among epochs of its size, which decides about the size of the next ones."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from firesteel.control.admission import Admission
from firesteel.control.cost import Load
from firesteel.control.turn import Turn
from firesteel.control.views.metrics import EpochFigures
from firesteel.runtime.plan import SplitReport, SubtaskReport, TaskReport
from firesteel.state.live.durable import RunRef

PLAN: Any = None
TURN = Turn(PLAN, started=10.0, committed=10.5, waited=0.2)


def test_waiting_for_another_epoch_is_no_cost_of_this_one():
    assert TURN.among_its_like(published=10.6) == pytest.approx(0.3 + 0.1)
    assert TURN.among_its_like(published=11.5) == pytest.approx(0.3 + 1.0)


def test_an_epoch_that_is_published_beside_waits_for_one_of_its_size():
    beside = replace(TURN, beside=True)
    assert beside.among_its_like(published=10.6) == pytest.approx(0.3 + 0.1)
    assert beside.among_its_like(published=11.5) == pytest.approx(1.0 + 1.0)


def test_its_phases_follow_each_other_and_admission_says_what_it_has_learnt():
    facts: Any = SimpleNamespace(facts=SimpleNamespace(number=7))
    turn = Turn(facts, started=10.0, began=9.9, limit=1_000)
    run = RunRef("run", 3, 64, "", 7, "count", 0, 0, 127)
    reports = [SubtaskReport(0, 0, 0, run=run, arranged=[run])]
    for source, read in ((1, 200), (2, 150), (2, 150)):
        reports.append(SubtaskReport(source, 0, 0, splits=[SplitReport("split", read, False, None, read)]))
    turn.ran([TaskReport(0, reports)], 10.25)
    turn.waited, turn.committed, turn.records = 0.05, 10.5, 500
    learnt = (
        Admission(target_ms=1000, most=10**6, limit=1_000).after(Load(500, 600.0)).after(Load(1_000, 900.0))
    )
    assert turn.figures(10.6, 1_700_000_000_000, learnt) == EpochFigures(
        epoch=7,
        published_at=1_700_000_000_000,
        plan=100,
        run=250,
        wait=50,
        commit=200,
        publish=100,
        records=500,
        largest=300,
        stored=128,
        limit=1_000,
        floor=300,
        cost=0.6,
        certain=True,
        next_limit=learnt.limit,
    )
