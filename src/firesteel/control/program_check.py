"""The check that a state belongs to a program: operators are matched by their ids."""

from __future__ import annotations

from collections.abc import Iterator

from firesteel.checkpoint.manifest import Manifest, OperatorSnapshot
from firesteel.common.errors import StateMismatchError
from firesteel.runtime.plan import OperatorSpec, Plan
from firesteel.state.arrangements.names import arrangement_of
from firesteel.state.values.key_types import finds_state, key_text


def check_program(
    manifest: Manifest, plan: Plan, who: str, *, unpublished: bool, allow_non_restored_state: bool
) -> None:
    """Check that a program has all operators whose state a manifest holds, with the same key groups and keys.

    With `allow_non_restored_state` state without an operator is left out instead (Flink: the option of the same name).
    This is refused while the manifest's output is still `unpublished`: nobody else could make it visible. Raises
    StateMismatchError, which lists the operators and their states, and for queries the difference of the plans; `who`
    names the place that holds them.
    """
    known = {spec.id: spec for spec in plan.operators}
    missing = []
    for operator_id, snapshot in manifest.operators.items():
        if operator_id in known:
            _check_key_groups(known[operator_id], snapshot)
            _check_keys(known[operator_id], snapshot)
        else:
            missing.append((operator_id, snapshot))
    waiting = [snapshot.name for operator_id, snapshot in missing if manifest.committables.get(operator_id)]
    if unpublished and waiting:
        raise StateMismatchError(
            "has output that is committed and not yet visible, of operators this program does not have",
            who=who,
            got=", ".join(sorted(waiting)),
            hint="start the program that wrote it again, and stop it once it runs",
        )
    left = [_described(*found, manifest) for found in missing if _has_state(*found, manifest)]
    if left and not allow_non_restored_state:
        raise StateMismatchError(
            "belongs to another program",
            who=who,
            got=f"state of operators this program does not have: {'; '.join(sorted(left))}"
            + "".join(f"\n    {line}" for line in _difference(manifest, plan)),
            hint="give the operators the uid() they had, use another state directory, or start with "
            "--allow-non-restored-state to drop that state",
        )


def _difference(manifest: Manifest, plan: Plan) -> Iterator[str]:
    """Yield the parts of queries that are in one version only, except those that keep nothing."""
    known = {spec.id for spec in plan.operators}
    before = {number: snapshot.identity for number, snapshot in manifest.operators.items()}
    now = {spec.id: spec.identity for spec in plan.operators}
    for sign, parts, others in (("-", before, known), ("+", now, before.keys())):
        for number, identity in parts.items():
            if number not in others and identity is not None and identity.text:
                yield f"{sign} {identity.text}"


def _has_state(operator_id: str, snapshot: OperatorSnapshot, manifest: Manifest) -> bool:
    return _has_key_groups(snapshot) or any(snapshot.operator_state) or operator_id in manifest.sources


def _has_key_groups(snapshot: OperatorSnapshot) -> bool:
    return bool(snapshot.states or snapshot.arrangements)


def _described(operator_id: str, snapshot: OperatorSnapshot, manifest: Manifest) -> str:
    held = sorted(
        [
            *(schema["name"] for schema in snapshot.states.values()),
            *map(arrangement_of, snapshot.arrangements),
        ]
    )
    if any(snapshot.operator_state):
        held.append("operator state")
    if operator_id in manifest.sources:
        held.append("source positions")
    return f"{snapshot.name} (id {operator_id[:12]}: {', '.join(held)})"


def _check_key_groups(spec: OperatorSpec, snapshot: OperatorSnapshot) -> None:
    if _has_key_groups(snapshot) and snapshot.max_parallelism not in (0, spec.max_parallelism):
        raise StateMismatchError(
            f"requires the max parallelism its state was written with, {snapshot.max_parallelism}",
            who=spec.who,
            got=str(spec.max_parallelism),
            hint=f"call set_max_parallelism({snapshot.max_parallelism}) on it, or use another state directory",
        )


def _check_keys(spec: OperatorSpec, snapshot: OperatorSnapshot) -> None:
    saved, kinds = snapshot.key_types, snapshot.key_kinds
    for declared in spec.key_types if saved else ():
        if not any(finds_state(one, kinds, declared) for one in saved):
            before = " or ".join(key_text(one, kinds) for one in saved)
            raise StateMismatchError(
                f"requires keys of the type its state was saved by, {before}",
                who=spec.who,
                got=f"keys of {key_text(declared)}",
                hint="give key_by() the key_type it had, or the operator another uid() if it is to begin without "
                "that state",
            )
