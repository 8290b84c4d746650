from __future__ import annotations

from typing import Any

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.time import Duration, Time
from firesteel.common.typeinfo import Types
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.ttl import StateTtlConfig


class Sum:
    def reduce(self, one: int, two: int) -> int:
        return one + two


def test_descriptors_have_a_name_and_a_type() -> None:
    assert ValueStateDescriptor("v", Types.LONG()).type_info == Types.LONG()
    assert ListStateDescriptor("l", Types.LONG()).type_info == Types.LIST(Types.LONG())
    found = MapStateDescriptor("m", Types.STRING(), Types.LONG())
    assert (found.get_name(), found.type_info) == ("m", Types.MAP(Types.STRING(), Types.LONG()))
    assert ReducingStateDescriptor("r", Sum(), Types.LONG()).type_info == Types.LONG()
    assert MapStateDescriptor("m").type_info is None


def test_a_reduce_function_is_an_object_or_a_callable() -> None:
    function = Sum()
    assert ReducingStateDescriptor("r", function).reducer(1, 2) == 3
    assert ReducingStateDescriptor("r", function).get_reduce_function() is function
    assert ReducingStateDescriptor("r", max).reducer(1, 2) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ValueStateDescriptor(""), "ValueStateDescriptor requires a name"),
        (lambda: ValueStateDescriptor(5), "requires a name that is a string; got 5"),  # type: ignore[arg-type]
        (lambda: ReducingStateDescriptor("r", 5), "state 'r' requires a ReduceFunction or a callable"),
        (lambda: AggregatingStateDescriptor("a", max), "state 'a' requires an AggregateFunction"),
    ],
)
def test_what_a_descriptor_cannot_take_is_named(make: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        make()


def test_a_descriptor_has_the_time_to_live_it_was_given() -> None:
    descriptor = ValueStateDescriptor("v")
    assert descriptor.ttl_config is None
    builder = StateTtlConfig.new_builder(Time.hours(1))
    config = builder.build()
    descriptor.enable_time_to_live(config)
    assert descriptor.ttl_config is config
    descriptor.enable_time_to_live(builder.set_update_type(StateTtlConfig.UpdateType.Disabled).build())
    assert descriptor.ttl_config is None
    with pytest.raises(ProgramError, match="state 'v' requires a StateTtlConfig; got 5"):
        descriptor.enable_time_to_live(5)  # type: ignore[arg-type]


def test_a_ttl_config_has_flinks_defaults() -> None:
    config = StateTtlConfig.new_builder(Time.seconds(1)).build()
    assert config.is_enabled()
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    cleanup = config.get_cleanup_strategies()
    assert cleanup.is_cleanup_in_background()
    assert not cleanup.in_full_snapshot()
    incremental = cleanup.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    compaction = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction is not None
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time() == Duration.of_days(30)


def test_a_ttl_config_is_what_was_built() -> None:
    config = (
        StateTtlConfig.new_builder(Time.seconds(1))
        .set_ttl(Time.minutes(1))
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(7, True)
        .disable_cleanup_in_background()
        .build()
    )
    assert config.get_ttl() == Time.minutes(1)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
    cleanup = config.get_cleanup_strategies()
    assert cleanup.in_full_snapshot()
    incremental = cleanup.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert incremental.get_cleanup_size() == 7
    assert cleanup.get_rocksdb_compact_filter_cleanup_strategy() is None
    disabled = StateTtlConfig.new_builder(Time.seconds(1)).set_update_type(StateTtlConfig.UpdateType.Disabled)
    assert not disabled.build().is_enabled()
    assert (
        not disabled.disable_cleanup_in_background()
        .build()
        .get_cleanup_strategies()
        .is_cleanup_in_background()
    )


def test_a_ttl_is_a_time() -> None:
    with pytest.raises(ProgramError, match="requires a Time; got 5"):
        StateTtlConfig.new_builder(5)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="requires a Time of at least a millisecond; got 0 ms"):
        StateTtlConfig.new_builder(Time.seconds(0))
