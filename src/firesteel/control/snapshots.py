"""What a manifest says about one operator, from the reports of its subtasks."""

from __future__ import annotations

import logging

from firesteel.checkpoint.manifest import OperatorSnapshot
from firesteel.common import pickles
from firesteel.runtime.plan import OperatorSpec, SubtaskReport
from firesteel.state.arrangements.names import arrangement_of
from firesteel.state.live.durable import RunRef
from firesteel.state.live.operator_lists import OperatorLists
from firesteel.state.values.catalog import merge_schemas

_log = logging.getLogger("firesteel.control")


def operator_snapshot(
    spec: OperatorSpec,
    reports: list[SubtaskReport],
    previous: OperatorSnapshot | None,
    *,
    resuming: bool,
) -> OperatorSnapshot:
    """Return an operator's snapshot from its subtasks' reports, in their order, and the snapshot before.

    `resuming` means that this is the first epoch of a run.
    """
    before = {} if previous is None else previous.states
    states = merge_schemas([before, *(report.schemas for report in reports if report.schemas)], spec.who)
    return OperatorSnapshot(
        name=spec.name,
        parallelism=spec.parallelism,
        max_parallelism=spec.max_parallelism,
        watermarks=[report.watermark for report in reports],
        operator_state=[
            None if report.operator_state is None else pickles.dumps(report.operator_state)
            for report in reports
        ],
        holds_lists=any(isinstance(report.operator_state, OperatorLists) for report in reports),
        states=states,
        runs=[run for report in reports for run in report.runs],
        arrangements=_layouts(reports, {} if previous is None else previous.arrangements),
        key_types=list(spec.key_types),
        key_kinds=_key_kinds(spec, reports, previous, resuming),
        identity=spec.identity,
    )


def arranged_runs(snapshot: OperatorSnapshot) -> dict[int, dict[str, RunRef]]:
    """Return the runs of arrangements in a snapshot by subtask and name."""
    runs: dict[int, dict[str, RunRef]] = {}
    for run in snapshot.runs:
        if name := arrangement_of(run.operator):
            runs.setdefault(run.subtask, {})[name] = run
    return runs


def _layouts(reports: list[SubtaskReport], before: dict[str, bytes]) -> dict[str, bytes]:
    return before | {state: layout for report in reports for state, layout in report.arrangements.items()}


def _key_kinds(
    spec: OperatorSpec, reports: list[SubtaskReport], previous: OperatorSnapshot | None, resuming: bool
) -> list[str] | None:
    """Return the kinds of all keys an operator ever had state for; None if an earlier manifest does not have them.

    Keys without a declared type may be of any kind at any time. But if no key of the first epoch of a run is of a
    kind in the saved state, the key selector has probably changed, and the log reports it.
    """
    kinds = {kind for report in reports for kind in report.key_kinds or ()}
    known = [] if previous is None else previous.key_kinds
    if known is None:
        return None
    if resuming and kinds and known and kinds.isdisjoint(known):
        _log.warning(
            "%s: no key of this epoch is of a kind its state was saved by, so none finds any state; keys now: %s, "
            "keys saved: %s. Declare the key type (key_by(..., key_type=...)) to have such a change refused.",
            spec.who,
            ", ".join(sorted(kinds)),
            ", ".join(known),
        )
    return sorted(kinds.union(known))
