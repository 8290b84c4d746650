"""StateTtlConfig: when state shall expire, with PyFlink's signatures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from firesteel.common.errors import ProgramError
from firesteel.common.time import Duration, Time


class TtlCleanupStrategies:
    """Which strategies are active to remove expired state that is not read again; see StateTtlConfig."""

    class Strategies(Enum):
        """The ways in which expired state is removed."""

        FULL_STATE_SCAN_SNAPSHOT = 0
        INCREMENTAL_CLEANUP = 1
        ROCKSDB_COMPACTION_FILTER = 2

    class CleanupStrategy:
        """How expired state is removed."""

    class EmptyCleanupStrategy(CleanupStrategy):
        """A strategy without settings."""

    class IncrementalCleanupStrategy(CleanupStrategy):
        """Look at some entries on each access, or for each record."""

        def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
            self._cleanup_size = cleanup_size
            self._run_cleanup_for_every_record = run_cleanup_for_every_record

        def get_cleanup_size(self) -> int:
            """Return how many entries are looked at."""
            return self._cleanup_size

        def run_cleanup_for_every_record(self) -> bool:
            """Tell whether entries are looked at for each record."""
            return self._run_cleanup_for_every_record

    class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
        """Remove expired entries when files are compacted."""

        def __init__(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
        ) -> None:
            self._query_time_after_num_entries = query_time_after_num_entries
            self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(30)

        def get_query_time_after_num_entries(self) -> int:
            """Return after how many entries the clock is asked again."""
            return self._query_time_after_num_entries

        def get_periodic_compaction_time(self) -> Duration:
            """Return the age at which a file is compacted again."""
            return self._periodic_compaction_time

    EMPTY_STRATEGY = EmptyCleanupStrategy()

    def __init__(
        self, strategies: Mapping[Strategies, CleanupStrategy], is_cleanup_in_background: bool
    ) -> None:
        self._strategies = dict(strategies)
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        """Tell whether expired state is removed even where no strategy is chosen."""
        return self._is_cleanup_in_background

    def in_full_snapshot(self) -> bool:
        """Tell whether snapshots leave expired state out."""
        return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

    def get_incremental_cleanup_strategy(self) -> IncrementalCleanupStrategy | None:
        """Return the incremental strategy: the chosen one, else 5 entries if in the background."""
        chosen = self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP)
        if isinstance(chosen, self.IncrementalCleanupStrategy):
            return chosen
        return self.IncrementalCleanupStrategy(5, False) if self._is_cleanup_in_background else None

    def get_rocksdb_compact_filter_cleanup_strategy(self) -> RocksdbCompactFilterCleanupStrategy | None:
        """Return the compaction strategy: the chosen one, else 1000 if in the background."""
        chosen = self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER)
        if isinstance(chosen, self.RocksdbCompactFilterCleanupStrategy):
            return chosen
        return self.RocksdbCompactFilterCleanupStrategy(1000) if self._is_cleanup_in_background else None


class TtlBuilder:
    """Builds a StateTtlConfig; made by `StateTtlConfig.new_builder`."""

    def __init__(self, ttl: Time) -> None:
        self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
        self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
        self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
        self._is_cleanup_in_background = True
        self._strategies: dict[TtlCleanupStrategies.Strategies, TtlCleanupStrategies.CleanupStrategy] = {}
        self.set_ttl(ttl)

    def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> TtlBuilder:
        """Set what prolongs the life of state."""
        self._update_type = update_type
        return self

    def update_ttl_on_create_and_write(self) -> TtlBuilder:
        """Prolong on writing."""
        return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

    def update_ttl_on_read_and_write(self) -> TtlBuilder:
        """Prolong on reading and writing."""
        return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

    def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> TtlBuilder:
        """Set whether expired state may be read."""
        self._state_visibility = state_visibility
        return self

    def return_expired_if_not_cleaned_up(self) -> TtlBuilder:
        """Let expired state be read while it is still there."""
        return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

    def never_return_expired(self) -> TtlBuilder:
        """Let expired state never be read."""
        return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

    def set_ttl_time_characteristic(
        self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
    ) -> TtlBuilder:
        """Set the clock that state expires by."""
        self._ttl_time_characteristic = ttl_time_characteristic
        return self

    def use_processing_time(self) -> TtlBuilder:
        """Expire by processing time."""
        return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

    def cleanup_full_snapshot(self) -> TtlBuilder:
        """Leave expired state out of what compaction makes."""
        self._strategies[TtlCleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT] = (
            TtlCleanupStrategies.EMPTY_STRATEGY
        )
        return self

    def cleanup_incrementally(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> TtlBuilder:
        """Remove expired state little by little; here by compaction, whatever the arguments."""
        self._strategies[TtlCleanupStrategies.Strategies.INCREMENTAL_CLEANUP] = (
            TtlCleanupStrategies.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record)
        )
        return self

    def cleanup_in_rocksdb_compact_filter(
        self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
    ) -> TtlBuilder:
        """Remove expired state by compaction, whatever the arguments."""
        self._strategies[TtlCleanupStrategies.Strategies.ROCKSDB_COMPACTION_FILTER] = (
            TtlCleanupStrategies.RocksdbCompactFilterCleanupStrategy(
                query_time_after_num_entries, periodic_compaction_time
            )
        )
        return self

    def disable_cleanup_in_background(self) -> TtlBuilder:
        """Remove expired state only by the strategies chosen."""
        self._is_cleanup_in_background = False
        return self

    def set_ttl(self, ttl: Time) -> TtlBuilder:
        """Set the time to live; raises ProgramError unless it is a Time of at least a millisecond."""
        if not isinstance(ttl, Time):
            raise ProgramError("requires a Time", who="StateTtlConfig", got=repr(ttl), hint="Time.hours(1)")
        if ttl.to_milliseconds() <= 0:
            raise ProgramError(
                "requires a Time of at least a millisecond", who="StateTtlConfig", got=str(ttl)
            )
        self._ttl = ttl
        return self

    def build(self) -> StateTtlConfig:
        """Return the configuration."""
        return StateTtlConfig(
            self._update_type,
            self._state_visibility,
            self._ttl_time_characteristic,
            self._ttl,
            TtlCleanupStrategies(self._strategies, self._is_cleanup_in_background),
        )


class StateTtlConfig:
    """When state expires and how expired state is removed.

    State expires by processing time, which stands still within an epoch. The read that meets an expired value, map
    entry or list removes it; with `return_expired_if_not_cleaned_up` that read still returns it. Elements of a list and
    entries of a map expire one by one, a reduced or aggregated value as a whole. With `never_return_expired` it makes
    no difference to a program whether something expired has been removed yet.

    What is not read again is removed by compaction, beside the epochs: as layers of state are merged, what had expired
    by the last epoch merged is left out. All ways to choose a clean-up come to that, as there is one form of state:

    - nothing chosen: clean-up in the background, by compaction;
    - `cleanup_full_snapshot()`: by compaction, which makes the whole snapshots here; a savepoint holds what has not
      been merged yet with its stamps, and it is expired when it is restored;
    - `cleanup_incrementally(size, every_record)`: by compaction, which is incremental; no access looks at other
      entries, so both arguments are kept and have no effect;
    - `cleanup_in_rocksdb_compact_filter(entries, period)`: by compaction; time is that of the last epoch merged, and
      layers are merged by their size, so both arguments are kept and have no effect;
    - `disable_cleanup_in_background()`: with one of the three, as above; alone, only reads remove what is expired.

    How long the time to live is may change with the program, and holds for what was saved before; of what was removed
    nothing comes back. Switching it on or off converts the state (`firesteel.state.values.evolution`).

    >>> config = StateTtlConfig.new_builder(Time.hours(1)).never_return_expired().build()
    >>> config.get_ttl().to_milliseconds(), config.is_enabled()
    (3600000, True)
    """

    class UpdateType(Enum):
        """What prolongs the life of state."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """Whether expired state that is still there may be read."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """The clock that state expires by."""

        ProcessingTime = 0

    CleanupStrategies = TtlCleanupStrategies
    Builder = TtlBuilder

    def __init__(
        self,
        update_type: UpdateType,
        state_visibility: StateVisibility,
        ttl_time_characteristic: TtlTimeCharacteristic,
        ttl: Time,
        cleanup_strategies: TtlCleanupStrategies,
    ) -> None:
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time) -> TtlBuilder:
        """Return a builder with Flink's defaults: prolonged on writing, never read when expired."""
        return TtlBuilder(ttl)

    def get_update_type(self) -> UpdateType:
        """Return what prolongs the life of state."""
        return self._update_type

    def get_state_visibility(self) -> StateVisibility:
        """Return whether expired state may be read."""
        return self._state_visibility

    def get_ttl(self) -> Time:
        """Return the time to live."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> TtlTimeCharacteristic:
        """Return the clock that state expires by."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Tell whether state expires at all."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> TtlCleanupStrategies:
        """Return how expired state is removed."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, state_visibility={self._state_visibility}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic}, ttl={self._ttl}>"
        )
