"""The options of `configure` and the command line, by key, and their effects.

Keys are Flink's. Keys of other systems (`taskmanager.*`, `python.*`, ...) are stored and have no effect, `spark.*` is
passed to Spark, and an unknown `firesteel.*` key raises ConfigurationError, because it can only be a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, TypeVar

from firesteel.common.configuration import Configuration
from firesteel.common.errors import ConfigurationError
from firesteel.common.log_context import LogForm
from firesteel.common.log_formats import LOG_FORMAT, log_form
from firesteel.common.quantities import duration_ms
from firesteel.control.machine import RestartPolicy
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.control.reporting.reporters import BUILT_IN, ReporterSettings
from firesteel.datastream.checkpointing_mode import CheckpointingMode
from firesteel.datastream.execution_mode import RuntimeExecutionMode

if TYPE_CHECKING:
    from firesteel.datastream.environment_settings import EnvironmentSettings

MASTER: Final = "firesteel.master"
STATE_DIR: Final = "firesteel.state-dir"
EPOCH_DURATION: Final = "firesteel.epoch.duration"
EPOCH_MIN_INTERVAL: Final = "firesteel.epoch.min-interval"
EPOCH_MAX_RECORDS: Final = "firesteel.epoch.max-records"
EPOCH_MAX_BYTES: Final = "firesteel.epoch.max-bytes"
STATE_MEMORY: Final = "firesteel.state.memory"
COMPACTION_EPOCHS: Final = "firesteel.compaction.epochs"
STATE_DIR_KEYS: Final = (STATE_DIR, "execution.checkpointing.dir", "state.checkpoints.dir")
RESTORE_KEYS: Final = ("execution.state-recovery.path", "execution.savepoint.path")
UNCLAIMED_KEYS: Final = (
    "execution.state-recovery.ignore-unclaimed-state",
    "execution.savepoint.ignore-unclaimed-state",
)
RETAINED_KEYS: Final = ("execution.checkpointing.num-retained", "state.checkpoints.num-retained")
JOB_NAME: Final = "pipeline.name"

_FIRESTEEL_KEYS: Final = frozenset(
    {
        *(MASTER, STATE_DIR, STATE_MEMORY, COMPACTION_EPOCHS, LOG_FORMAT),
        *(EPOCH_DURATION, EPOCH_MIN_INTERVAL, EPOCH_MAX_RECORDS, EPOCH_MAX_BYTES),
    }
)
_ENDLESS: Final = 2**31 - 1

E = TypeVar("E", RuntimeExecutionMode, CheckpointingMode)
Setter = Callable[["EnvironmentSettings", str], object]

SETTERS: Final[dict[str, Setter]] = {
    "parallelism.default": lambda env, text: env.set_parallelism(_number("parallelism.default", text)),
    "pipeline.max-parallelism": lambda env, text: env.set_max_parallelism(
        _number("pipeline.max-parallelism", text)
    ),
    "pipeline.auto-watermark-interval": lambda env, text: env.get_config().set_auto_watermark_interval(
        duration_ms("pipeline.auto-watermark-interval", text)
    ),
    "metrics.latency.interval": lambda env, text: env.get_config().set_latency_tracking_interval(
        duration_ms("metrics.latency.interval", text)
    ),
    "pipeline.global-job-parameters": lambda env, text: env.get_config().set_global_job_parameters(
        _mapping("pipeline.global-job-parameters", text)
    ),
    "pipeline.object-reuse": lambda env, text: _set_object_reuse(env, text),
    "pipeline.operator-chaining": lambda env, text: _set_chaining(env, text),
    "pipeline.operator-chaining.enabled": lambda env, text: _set_chaining(env, text),
    "execution.runtime-mode": lambda env, text: env.set_runtime_mode(
        _choice("execution.runtime-mode", text, RuntimeExecutionMode)
    ),
    "execution.checkpointing.interval": lambda env, text: env.enable_checkpointing(
        duration_ms("execution.checkpointing.interval", text)
    ),
    "execution.checkpointing.mode": lambda env, text: env.get_checkpoint_config().set_checkpointing_mode(
        _choice("execution.checkpointing.mode", text, CheckpointingMode)
    ),
    "execution.checkpointing.timeout": lambda env, text: env.get_checkpoint_config().set_checkpoint_timeout(
        duration_ms("execution.checkpointing.timeout", text)
    ),
    "execution.checkpointing.savepoint-dir": lambda env, text: env.set_default_savepoint_directory(text),
    "state.savepoints.dir": lambda env, text: env.set_default_savepoint_directory(text),
    "execution.buffer-timeout": lambda env, text: env.set_buffer_timeout(
        duration_ms("execution.buffer-timeout", text)
    ),
    "execution.buffer-timeout.interval": lambda env, text: env.set_buffer_timeout(
        duration_ms("execution.buffer-timeout.interval", text)
    ),
    "python.files": lambda env, text: _each(text, env.add_python_file),
    "python.requirements": lambda env, text: env.set_python_requirements(*_parts(text)),
    "python.archives": lambda env, text: _each(text, lambda part: env.add_python_archive(*_parts(part))),
    "python.executable": lambda env, text: env.set_python_executable(text),
}
"""Option -> the setting of an environment."""


def apply_options(env: EnvironmentSettings, options: Mapping[str, str]) -> None:
    """Apply the options. Raises ConfigurationError for an unknown `firesteel.*` key or an invalid value."""
    for key, text in options.items():
        if key.startswith("firesteel.") and key not in _FIRESTEEL_KEYS:
            close = get_close_matches(key, _FIRESTEEL_KEYS, 1) or sorted(_FIRESTEEL_KEYS)
            raise ConfigurationError(
                "requires an option that exists",
                who="configure",
                got=key,
                hint=f"did you mean {', '.join(close)}?",
            )
        if key in SETTERS:
            SETTERS[key](env, text)


def restart_policy(options: Mapping[str, str]) -> RestartPolicy:
    """Return the policy of Flink's `restart-strategy.*` options; without them no failed epoch is retried.

    >>> restart_policy({"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3"})
    RestartPolicy(attempts=3, delay_ms=1000, ...)
    """
    strategy = options.get("restart-strategy.type", options.get("restart-strategy", "none")).lower()
    prefix = "restart-strategy."
    if strategy in ("none", "off", "disable", "disabled"):
        return RestartPolicy()
    if strategy in ("fixed-delay", "fixeddelay"):
        attempts = _number(f"{prefix}fixed-delay.attempts", options.get(f"{prefix}fixed-delay.attempts", "1"))
        delay = f"{prefix}fixed-delay.delay"
    elif strategy in ("failure-rate", "failurerate"):
        most = f"{prefix}failure-rate.max-failures-per-interval"
        attempts, delay = _number(most, options.get(most, "1")), f"{prefix}failure-rate.delay"
    elif strategy in ("exponential-delay", "exponentialdelay"):
        most = f"{prefix}exponential-delay.attempts-before-reset-backoff"
        text = options.get(most, "infinite")
        attempts = _ENDLESS if text == "infinite" else _number(most, text)
        delay = f"{prefix}exponential-delay.initial-backoff"
    else:
        raise ConfigurationError(
            "requires none, fixed-delay, failure-rate or exponential-delay",
            who="restart-strategy.type",
            got=repr(strategy),
        )
    return RestartPolicy(attempts=attempts, delay_ms=duration_ms(delay, options.get(delay, "1 s")))


def maintenance_policy(options: Mapping[str, str]) -> MaintenancePolicy:
    """Return after how many epochs state is compacted, and files that no kept epoch needs are removed.

    >>> maintenance_policy({"firesteel.compaction.epochs": "20"})
    MaintenancePolicy(compact_every=20, collect_every=20, inline=False)
    """
    epochs = positive_number(options, (COMPACTION_EPOCHS,), MaintenancePolicy().compact_every)
    return MaintenancePolicy(compact_every=epochs, collect_every=epochs)


def asked_log_form(options: Mapping[str, str]) -> LogForm | None:
    """Return the format of the log; None if the options do not say it. Raises ConfigurationError.

    >>> asked_log_form({"firesteel.logging.format": "json"})
    'json'
    """
    return log_form(options[LOG_FORMAT]) if LOG_FORMAT in options else None


def metric_reporters(options: Mapping[str, str]) -> tuple[ReporterSettings, ...]:
    """Return the reporters of Flink's `metrics.reporters`, each with its options. Raises ConfigurationError.

    >>> options = {"metrics.reporters": "s", "metrics.reporter.s.factory.class": "statsd"}
    >>> metric_reporters(options)
    (ReporterSettings(name='s', factory='statsd', interval_ms=10000, options={}),)
    """
    names = [*filter(None, map(str.strip, options.get("metrics.reporters", "").split(",")))]
    return tuple(_reporter(name, options) for name in names)


def _reporter(name: str, options: Mapping[str, str]) -> ReporterSettings:
    prefix = f"metrics.reporter.{name}."
    own = {key.removeprefix(prefix): text for key, text in options.items() if key.startswith(prefix)}
    factory, interval = own.pop("factory.class", None), own.pop("interval", "10 s")
    if factory is None:
        raise ConfigurationError(
            "requires the class of the reporter",
            who=f"the metric reporter {name!r}",
            got=f"no option {prefix}factory.class",
            hint=f"set it to {', '.join(BUILT_IN)}, or MODULE.CLASS",
        )
    return ReporterSettings(name, factory, duration_ms(f"{prefix}interval", interval), own)


def first_present(options: Mapping[str, str], keys: Sequence[str]) -> str | None:
    """Return the value of the first of several keys that has one: a key, then its older names.

    >>> first_present({"state.checkpoints.dir": "old", "firesteel.state-dir": ""}, STATE_DIR_KEYS)
    'old'
    """
    return next((options[key] for key in keys if options.get(key)), None)


def positive_number(options: Mapping[str, str], keys: Sequence[str], default: int) -> int:
    """Return a number of at least 1, under the first existing one of several keys; raises ConfigurationError."""
    key = next((key for key in keys if key in options), None)
    if key is None:
        return default
    number = _number(key, options[key])
    if number < 1:
        raise ConfigurationError("requires at least 1", who=f"option {key!r}", got=str(number))
    return number


def truth(options: Mapping[str, str], keys: Sequence[str]) -> bool:
    """Return True or False, under the first existing one of several keys, else False; raises ConfigurationError."""
    key = next((key for key in keys if key in options), None)
    return key is not None and Configuration.from_dict({key: options[key]}).get_boolean(key, False)


def _number(key: str, text: str) -> int:
    return Configuration.from_dict({key: text}).get_integer(key, 0)


def _set_object_reuse(env: EnvironmentSettings, text: str) -> None:
    if truth({"pipeline.object-reuse": text}, ("pipeline.object-reuse",)):
        env.get_config().enable_object_reuse()
    else:
        env.get_config().disable_object_reuse()


def _set_chaining(env: EnvironmentSettings, text: str) -> None:
    if not Configuration.from_dict({"pipeline.operator-chaining.enabled": text}).get_boolean(
        "pipeline.operator-chaining.enabled", True
    ):
        env.disable_operator_chaining()


def _each(text: str, add: Callable[[str], object]) -> None:
    for part in filter(None, map(str.strip, text.split(","))):
        add(part)


def _parts(text: str) -> tuple[str, str | None]:
    """Split PATH#MORE, the form of `python.archives` and `python.requirements`."""
    path, _, more = text.partition("#")
    return path, more or None


def _choice(key: str, text: str, kind: type[E]) -> E:
    try:
        return kind[text.strip().upper().replace("-", "_")]
    except KeyError:
        names = ", ".join(member.name for member in kind)
        raise ConfigurationError(f"requires one of {names}", who=f"option {key!r}", got=repr(text)) from None


def _mapping(key: str, text: str) -> dict[str, str]:
    pairs = [part.partition(":") for part in text.split(",") if part.strip()]
    if not all(colon for _, colon, _ in pairs):
        raise ConfigurationError("requires KEY:VALUE,KEY:VALUE", who=f"option {key!r}", got=repr(text))
    return {name.strip(): value.strip() for name, _, value in pairs}
