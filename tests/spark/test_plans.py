"""Plans leave a state directory with the drivers that wrote them."""

from __future__ import annotations

import os

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.runtime.plan import Plan
from firesteel.spark.plans import StoredPlans
from firesteel.testing import executing

PLAN = Plan("job", 128, (), ())


@pytest.fixture
def storage(tmp_path):
    return Storage.of(tmp_path / "state")


def test_a_plan_takes_the_place_of_the_one_before_and_goes_with_its_driver(storage):
    plans = StoredPlans(storage)
    first = plans.store(PLAN)
    second = plans.store(PLAN)
    assert first != second
    assert storage.list("plans") == [second]
    plans.close()
    plans.close()
    assert storage.list("plans") == []


def test_what_a_killed_driver_left_goes_when_its_successor_has_committed(storage, tmp_path):
    left = StoredPlans(storage).store(PLAN)
    os.utime(tmp_path / "state" / left, (1, 1))
    plans = StoredPlans(storage)
    mine = plans.store(PLAN)
    for _ in range(2):
        plans.sweep(7)
        assert set(storage.list("plans")) == {left, mine}
    plans.sweep(8)
    assert storage.list("plans") == [mine]


def test_a_driver_that_is_behind_leaves_its_successors_plan_alone(storage, tmp_path):
    behind = StoredPlans(storage)
    os.utime(tmp_path / "state" / behind.store(PLAN), (1, 1))
    behind.sweep(7)
    successor = StoredPlans(storage).store(PLAN)
    behind.sweep(8)
    assert successor in storage.list("plans")
    behind.close()
    assert storage.list("plans") == [successor]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_job_leaves_no_plan_behind(storage):
    for _ in range(2):
        with executing("spark", parallelism=1, epoch_records=2, state_dir=storage.url):
            env = StreamExecutionEnvironment.get_execution_environment()
            env.from_collection([1, 2, 3, 4, 5]).map(lambda value: value).print()
            env.execute("numbers")
        assert storage.list("plans") == []
