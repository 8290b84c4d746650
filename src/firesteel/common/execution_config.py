"""The settings for the execution of a program (Flink: org.apache.flink.api.common.ExecutionConfig)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from firesteel.common.errors import ConfigurationError

__all__ = ["ExecutionConfig"]

_MAX_PARALLELISM: Final = 32_768


class ExecutionConfig:
    """Parallelism, watermark interval, and the switches of Flink's runtime; setters return the config.

    Parallelism, maximum parallelism, watermark interval and job parameters have an effect. The switches for copying,
    cleaning and serialising Java objects are stored and returned, but have no effect, because there are no Java
    objects. Times are milliseconds. Setters raise ConfigurationError for values that Flink refuses.

    >>> config = ExecutionConfig().set_parallelism(2).enable_object_reuse()
    >>> config.get_parallelism(), config.is_object_reuse_enabled(), config.get_auto_watermark_interval()
    (2, True, 200)
    """

    PARALLELISM_DEFAULT: ClassVar[int] = -1
    PARALLELISM_UNKNOWN: ClassVar[int] = -2

    def __init__(self) -> None:
        self._parallelism = self.PARALLELISM_DEFAULT
        self._max_parallelism = -1
        self._auto_watermark_interval = 200
        self._latency_tracking_interval = 0
        self._task_cancellation_interval = 30_000
        self._task_cancellation_timeout = 180_000
        self._closure_cleaner = True
        self._force_kryo = False
        self._force_avro = False
        self._generic_types = True
        self._auto_generated_uids = True
        self._object_reuse = False
        self._snapshot_compression = False
        self._global_job_parameters: dict[str, str] = {}

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Set the closure cleaner's switch; no effect."""
        self._closure_cleaner = True
        return self

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Clear the closure cleaner's switch; no effect."""
        self._closure_cleaner = False
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        """Return the closure cleaner's switch."""
        return self._closure_cleaner

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set how often watermarks are emitted within an epoch, in milliseconds; 0 for only at its end."""
        self._auto_watermark_interval = _at_least(interval, 0, "set_auto_watermark_interval")
        return self

    def get_auto_watermark_interval(self) -> int:
        """Return how often watermarks are emitted, in milliseconds."""
        return self._auto_watermark_interval

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Set the latency markers' interval in milliseconds; 0: sources send none."""
        self._latency_tracking_interval = _whole(interval, "set_latency_tracking_interval")
        return self

    def get_latency_tracking_interval(self) -> int:
        """Return the latency markers' interval in milliseconds."""
        return self._latency_tracking_interval

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none; PARALLELISM_DEFAULT means the environment's."""
        return self._parallelism

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set the parallelism of operators that set none; PARALLELISM_UNKNOWN does not change it."""
        parallelism = _whole(parallelism, "set_parallelism")
        if parallelism == self.PARALLELISM_UNKNOWN:
            return self
        if parallelism != self.PARALLELISM_DEFAULT:
            _at_least(parallelism, 1, "set_parallelism")
        self._parallelism = parallelism
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups; -1 means the default."""
        return self._max_parallelism

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of key groups, 1 to 32768; it limits the parallelism for the job's whole life."""
        max_parallelism = _at_least(max_parallelism, 1, "set_max_parallelism")
        if max_parallelism > _MAX_PARALLELISM:
            raise _refused("set_max_parallelism", f"at most {_MAX_PARALLELISM}", max_parallelism)
        self._max_parallelism = max_parallelism
        return self

    def get_task_cancellation_interval(self) -> int:
        """Return the milliseconds between two attempts to cancel a task."""
        return self._task_cancellation_interval

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the milliseconds between two attempts to cancel a task; no effect."""
        self._task_cancellation_interval = _whole(interval, "set_task_cancellation_interval")
        return self

    def get_task_cancellation_timeout(self) -> int:
        """Return the milliseconds after which cancelling a task counts as failed."""
        return self._task_cancellation_timeout

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set the milliseconds after which cancelling a task counts as failed; no effect."""
        self._task_cancellation_timeout = _at_least(timeout, 0, "set_task_cancellation_timeout")
        return self

    def enable_force_kryo(self) -> ExecutionConfig:
        """Set the switch for Kryo; no effect."""
        self._force_kryo = True
        return self

    def disable_force_kryo(self) -> ExecutionConfig:
        """Clear the switch for Kryo; no effect."""
        self._force_kryo = False
        return self

    def is_force_kryo_enabled(self) -> bool:
        """Return the switch for Kryo."""
        return self._force_kryo

    def enable_generic_types(self) -> ExecutionConfig:
        """Allow generic Java types; no effect."""
        self._generic_types = True
        return self

    def disable_generic_types(self) -> ExecutionConfig:
        """Forbid generic Java types; no effect."""
        self._generic_types = False
        return self

    def has_generic_types_disabled(self) -> bool:
        """Return whether generic Java types are forbidden."""
        return not self._generic_types

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Let operators without a uid get one from their place in the program."""
        self._auto_generated_uids = True
        return self

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Require a uid for every operator."""
        self._auto_generated_uids = False
        return self

    def has_auto_generated_uids_enabled(self) -> bool:
        """Return whether operators without a uid get one."""
        return self._auto_generated_uids

    def enable_force_avro(self) -> ExecutionConfig:
        """Set the switch for Avro; no effect."""
        self._force_avro = True
        return self

    def disable_force_avro(self) -> ExecutionConfig:
        """Clear the switch for Avro; no effect."""
        self._force_avro = False
        return self

    def is_force_avro_enabled(self) -> bool:
        """Return the switch for Avro."""
        return self._force_avro

    def enable_object_reuse(self) -> ExecutionConfig:
        """Set the switch for object reuse; no effect: only mutable values are copied."""
        self._object_reuse = True
        return self

    def disable_object_reuse(self) -> ExecutionConfig:
        """Clear the switch for object reuse; no effect."""
        self._object_reuse = False
        return self

    def is_object_reuse_enabled(self) -> bool:
        """Return the switch for object reuse."""
        return self._object_reuse

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters that functions can read from their RuntimeContext."""
        return dict(self._global_job_parameters)

    def set_global_job_parameters(self, global_job_parameters_dict: dict[str, Any]) -> ExecutionConfig:
        """Set the parameters that functions can read from their RuntimeContext; values are stored as text."""
        self._global_job_parameters = {
            key: value if isinstance(value, str) else str(value)
            for key, value in global_job_parameters_dict.items()
        }
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the Java classes registered with Kryo serialisers: always none."""
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        """Return the Java classes registered with Kryo: always none."""
        return []

    def get_registered_pojo_types(self) -> list[str]:
        """Return the Java classes registered as POJOs: always none."""
        return []

    def is_use_snapshot_compression(self) -> bool:
        """Return the switch for compressed snapshots."""
        return self._snapshot_compression

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Set the switch for compressed snapshots; no effect."""
        self._snapshot_compression = bool(use_snapshot_compression)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionConfig) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._parallelism, self._max_parallelism, self._auto_watermark_interval))


def _refused(method: str, requirement: str, value: Any) -> ConfigurationError:
    return ConfigurationError(
        f"requires {requirement}", who=f"ExecutionConfig.{method}", got=f"{type(value).__name__}: {value!r}"
    )


def _whole(value: int, method: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(method, "a whole number", value)
    return value


def _at_least(value: int, minimum: int, method: str) -> int:
    if _whole(value, method) < minimum:
        raise _refused(method, f"at least {minimum}", value)
    return value
