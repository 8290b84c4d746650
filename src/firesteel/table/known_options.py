"""The options of sessions that Flink 2.3 has, and the values that Firesteel can take of those that change answers.

Options of other names are kept, as in Flink. One that looks like a known one, and is none, is refused: it would change
nothing, and nobody would see it. Options that only change how fast Flink is, such as 'table.exec.mini-batch.enabled',
change nothing here.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.common.suggestions import did_you_mean
from firesteel.table.environment_settings import MODE

_EXEC: Final = """
    async-lookup.buffer-capacity async-lookup.key-ordered-enabled async-lookup.output-mode async-lookup.timeout
    async-ml-predict.max-concurrent-operations async-ml-predict.output-mode async-ml-predict.timeout
    async-scalar.buffer-capacity async-scalar.max-attempts async-scalar.max-concurrent-operations
    async-scalar.retry-delay async-scalar.retry-strategy async-scalar.timeout async-state.enabled
    async-table.max-concurrent-operations async-table.max-retries async-table.retry-delay async-table.retry-strategy
    async-table.timeout async-vector-search.max-concurrent-operations async-vector-search.output-mode
    async-vector-search.timeout deduplicate.insert-update-after-sensitive-enabled
    deduplicate.mini-batch.compact-changes-enabled delta-join.cache-enabled delta-join.left.cache-size
    delta-join.right.cache-size disabled-operators interval-join.min-cleanup-interval legacy-cast-behaviour
    local-hash-agg.adaptive.distinct-value-rate-threshold local-hash-agg.adaptive.enabled
    local-hash-agg.adaptive.sampling-threshold mini-batch.allow-latency mini-batch.enabled mini-batch.size
    operator-fusion-codegen.enabled rank.topn-cache-size resource.default-parallelism
    resource.external-buffer-memory resource.hash-agg.memory resource.hash-join.memory resource.sort.memory
    simplify-operator-name-enabled sink.keyed-shuffle sink.nested-constraint-enforcer sink.not-null-enforcer
    sink.require-on-conflict sink.rowtime-inserter sink.type-length-enforcer sink.upsert-materialize
    sink.upsert-materialize-strategy.adaptive.threshold.high sink.upsert-materialize-strategy.adaptive.threshold.low
    sink.upsert-materialize-strategy.type sort.async-merge-enabled sort.default-limit sort.max-num-file-handles
    source.cdc-events-duplicate source.idle-timeout spill-compression.block-size spill-compression.enabled state.ttl
    uid.format uid.generation unbounded-over.version window-agg.buffer-size-limit
"""
_OPTIMIZER: Final = """
    adaptive-broadcast-join.strategy agg-phase-strategy bushy-join-reorder-threshold delta-join.strategy
    distinct-agg.split.bucket-num distinct-agg.split.enabled dynamic-filtering.enabled incremental-agg-enabled
    join-reorder-enabled join.broadcast-threshold multi-join.enabled multiple-input-enabled
    non-deterministic-update.strategy plan-cache.enabled ptf.max-tables reuse-optimize-block-with-digest-enabled
    reuse-sink-enabled reuse-source-enabled reuse-sub-plan-enabled runtime-filter.enabled
    runtime-filter.max-build-data-size runtime-filter.min-filter-ratio runtime-filter.min-probe-data-size
    skewed-join-optimization.skewed-factor skewed-join-optimization.skewed-threshold
    skewed-join-optimization.strategy source.report-statistics-enabled sql2rel.project-merge.enabled
    union-all-as-breakpoint-enabled
"""
_TABLE: Final = """
    builtin-catalog-name builtin-database-name catalog-modification.listeners catalog-store.kind
    column-expansion-strategy default-freshness.continuous default-freshness.full default-start-mode
    display.max-column-width dml-sync dynamic-table-options.enabled generated-code.max-length
    generated-code.max-members legacy-nested-row-nullability local-time-zone plan.compile.catalog-objects
    plan.force-recompile plan.restore.catalog-objects refresh-mode.freshness-threshold resources.download-dir
    rtas-ctas.atomicity-enabled secret-store.kind sql-dialect
"""
_CLIENT: Final = """
    display.color-schema display.max-column-width display.print-time-cost display.show-line-numbers
    execution.max-table-result.rows execution.result-mode verbose
"""
KNOWN: Final = frozenset(
    f"{prefix}.{name}"
    for prefix, names in {
        "table.exec": _EXEC,
        "table.optimizer": _OPTIMIZER,
        "table": _TABLE,
        "sql-client": _CLIENT,
    }.items()
    for name in names.split()
)
"""The names of Flink's options for tables and for its shell."""

ONLY: Final = {
    "table.catalog-store.kind": "generic_in_memory",
    "table.column-expansion-strategy": "",
    "table.dynamic-table-options.enabled": "true",
    "table.exec.interval-join.min-cleanup-interval": "0 ms",
    "table.exec.legacy-cast-behaviour": "DISABLED",
    "table.exec.sink.rowtime-inserter": "ENABLED",
    "table.exec.sort.default-limit": "-1",
    "table.legacy-nested-row-nullability": "false",
    "table.optimizer.non-deterministic-update.strategy": "IGNORE",
    "table.rtas-ctas.atomicity-enabled": "false",
    "table.sql-dialect": "default",
}
"""Options of which Firesteel has one value, Flink's default: others give other answers in Flink."""

_SIMILAR: Final = 0.85


def check_option(key: str, value: str) -> None:
    """Refuse an option that is misspelt, and a value that would change answers in Flink and does not here.

    Raises ConfigurationError and UnsupportedError.

    >>> check_option("table.exec.state.tll", "1 h")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ConfigurationError: option 'table.exec.state.tll' is none that Flink or Firesteel has
      hint: did you mean table.exec.state.ttl?
    """
    if key == MODE and value.strip().lower() not in ("batch", "streaming"):
        raise ConfigurationError("takes batch or streaming", who=f"option {key!r}", got=repr(value))
    only = ONLY.get(key)
    if only is not None and value.strip().lower() != only.lower():
        raise UnsupportedError(
            f"with another value than {only or 'none'} is not supported yet",
            who=f"option {key!r}",
            got=repr(value),
        )
    if key not in KNOWN and key.startswith(("table.", "sql-client.")):
        hint = did_you_mean(key, KNOWN, _SIMILAR)
        if hint is not None:
            raise ConfigurationError("is none that Flink or Firesteel has", who=f"option {key!r}", hint=hint)
