"""State evolution: a state that was saved with one type continues with another (Flink: state schema evolution).

When a state is declared with other types than the manifest recorded, `required_evolution` determines whether the stored
values can be converted. If so, control rewrites the operator's state with a `Converter` and records `migrate_schemas`.
Only values change; the composite keys stay the same.

These changes can be converted:

- Fields of a ROW are added (they are None), removed or reordered. They are matched by name, or by position if one of
  the types has no names.
- Numbers become wider without loss.
- LIST and PRIMITIVE_ARRAY become arrays whose elements can be None.
- All of the above within rows, tuples with the same number of fields, lists and the values of maps.
- Any type becomes untyped, and untyped values get a type that each of them fits without loss.
- A time to live is added (entries count as written at the time of the conversion) or removed (expired entries are
  dropped).

These cannot: another kind of state, another type of a map's keys, a row without any remaining field, and every change
that would lose data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from firesteel.common.errors import (
    StateEvolutionRequired,
    StateMismatchError,
    TypeMismatchError,
)
from firesteel.common.typeinfo import from_schema
from firesteel.state.keys.composite import KEY_START, read_key_segment, state_prefix
from firesteel.state.keys.groups import state_key_of, user_key
from firesteel.state.values.chunks import join_elements, split_elements
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.conversion import Comparison, Convert, compare_types
from firesteel.state.values.expiry import StampedCodec, recorded_expiry
from firesteel.state.values.schemas import Schema, declared_part, schema_text, type_text

_MAPS: Final = ("map", "broadcast")
_NAMESPACE_SIZE: Final = 4
_HINT: Final = "declare it as it was saved, or give the new state another name"


def compare_schemas(old: Schema, new: Schema) -> Comparison:
    """Compare the recorded schema of a state with another; values change as for types.

    >>> old = {"kind": "list", "type": {"type": "INT"}}
    >>> compare_schemas(old, {"kind": "list", "type": {"type": "LONG"}, "ttl": True}).changes
    ['element: INT becomes LONG', 'it expires from now on']
    """
    if old["kind"] != new["kind"]:
        return Comparison(None, [], [f"a {old['kind']} state cannot become a {new['kind']} state"])
    part = "value" if old["kind"] in _MAPS else "type"
    convert, changes, refusals = compare_types(
        old.get(part), new.get(part), "element" if old["kind"] == "list" else "value"
    )
    if old.get("key") != new.get("key"):
        refusals.append(
            f"map keys keep their type, {type_text(old.get('key'))} cannot become {type_text(new.get('key'))}"
        )
    if bool(old.get("ttl")) != bool(new.get("ttl")):
        changes.append("it expires from now on" if new.get("ttl") else "it expires no more")
    return Comparison(convert, changes, refusals)


def required_evolution(
    path: str, recorded: Schema, declared: Schema
) -> StateEvolutionRequired | StateMismatchError:
    """Return the error for a state whose declared schema differs from the saved one."""
    changes, refusals = compare_schemas(recorded, declared)[1:]
    who = f"state '{recorded['name']}'"
    before, after = schema_text(recorded), schema_text(declared)
    if refusals:
        return StateMismatchError(
            f"was saved as {before}",
            who=who,
            got=f"a descriptor for {after}, which it cannot become: {'; '.join(refusals)}",
            hint=_HINT,
        )
    return StateEvolutionRequired(
        f"was saved as {before}",
        path=path,
        recorded=dict(recorded),
        declared=dict(declared),
        who=who,
        got=f"a descriptor for {after}",
        hint=f"it is converted before the job continues: {'; '.join(changes)}",
    )


def migrate_schemas(recorded: dict[str, Schema], path: str, new: Schema) -> dict[str, Schema]:
    """Return the schemas of an operator in which the state at `path` has the kind, types and TTL of `new`, and its id.

    >>> recorded = {"keyed:n": {"id": 7, "scope": "keyed", "name": "n", "kind": "value", "type": {"type": "INT"}}}
    >>> migrate_schemas(recorded, "keyed:n", {"kind": "value", "type": {"type": "LONG"}})["keyed:n"]["id"]
    7
    """
    known = recorded[path]
    place = {field: known[field] for field in ("id", "scope", "name")}
    return {**recorded, path: {**place, **declared_part(new)}}


def converter(old: Schema, new: Schema, now_ms: int) -> Converter:
    """Return the converter of the entries of a state from its recorded schema to another.

    `old` has an id, scope and name; `now_ms` (milliseconds) is the processing time of the last committed epoch: the
    stamp of entries that had no time to live, and the clock by which other entries expire. Raises
    StateMismatchError if the state cannot be converted.
    """
    return Converter(old, new, now_ms)


class Converter:
    """Converts the stored entries of one state; it can be pickled.

    It applies to the entries whose composite key starts with `prefix`, those of state `state_id`. Keys stay the same.
    If `keeps_bytes`, so do all values, and they need not be read.
    """

    def __init__(self, old: Schema, new: Schema, now_ms: int) -> None:
        comparison = compare_schemas(old, new)
        if comparison.refusals:
            raise required_evolution("", old, new)
        self._old, self._new, self._now = old, new, now_ms
        self.state_id: int = old["id"]
        self.prefix = state_prefix(self.state_id)
        self.keeps_bytes = comparison.convert is None and bool(old.get("ttl")) == bool(new.get("ttl"))
        self._rule = recorded_expiry(old) if not new.get("ttl") else None
        one = self._conversion(comparison.convert)
        self._convert = self._each(one) if old["kind"] == "list" else one

    def convert(self, key: bytes, value: bytes) -> bytes | None:
        """Return the new value of a composite key; None if it expired.

        Raises StateMismatchError, which names the state and the key, for a value that cannot be converted, and
        SerializationError if the class of a value is not found.
        """
        if self.keeps_bytes:
            return value
        try:
            if self._rule is not None:
                kept = self._rule.kept(value, self._now)
                return None if kept is None else self._convert(kept)
            return self._convert(value)
        except TypeMismatchError as error:
            raise StateMismatchError(
                f"was saved as {schema_text(self._old)}, and cannot become {schema_text(self._new)}",
                who=f"the value of state '{self._old['name']}'{_place(self._old, key)}",
                got=error.got if error.who is None else f"{error.got} ({error.who} {error.requirement})",
                hint=_HINT,
            ) from error

    def _conversion(self, change: Convert | None) -> Callable[[bytes], bytes | None]:
        """Return a function that converts the bytes of one value, element or map entry."""
        old, new, now, kind = self._old, self._new, self._now, self._old["kind"]
        decode, _ = _coding(old)
        _, encode = _coding(new)
        stamped, stamps = bool(old.get("ttl")), bool(new.get("ttl"))
        may_be_none = kind in _MAPS or kind == "list"

        def convert(data: bytes) -> bytes | None:
            value, stamp = decode(data) if stamped else (decode(data), now)
            if change is not None:
                value = change(value)
            if stamps:
                return encode((value, stamp))
            return None if value is None and not may_be_none else encode(value)

        return convert

    def _each(self, convert: Callable[[bytes], bytes | None]) -> Callable[[bytes], bytes | None]:
        def convert_chunk(chunk: bytes) -> bytes:
            converted = map(convert, split_elements(chunk))
            return join_elements([element for element in converted if element is not None])

        return convert_chunk

    def __reduce__(self) -> tuple[Any, ...]:
        return Converter, (self._old, self._new, self._now)


def _coding(schema: Schema) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    """Return the codec of one value of a state, stamped if the state expires."""
    in_map = schema["kind"] in _MAPS
    part = schema.get("value" if in_map else "type")
    codec = (StampedCodec if schema.get("ttl") else ValueCodec)(
        None if part is None else from_schema(part), f"state '{schema.get('name', '')}'"
    )
    return (codec.decode_nullable, codec.encode_nullable) if in_map else (codec.decode, codec.encode)


def _place(schema: Schema, key: bytes) -> str:
    """Return the place of an entry, in words."""
    rest, place = key[KEY_START:], ""
    if schema["scope"] != "broadcast":
        found, end = read_key_segment(key, KEY_START)
        rest, place = key[end:], f" at key {user_key(found)!r}"
    if schema["scope"] == "windowed":
        size = int.from_bytes(rest[:_NAMESPACE_SIZE], "big")
        rest = rest[_NAMESPACE_SIZE + size :]
    return f"{place}, map key {user_key(state_key_of(rest))!r}" if schema["kind"] in _MAPS else place
