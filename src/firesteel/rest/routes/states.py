"""Queryable state: the states of a job's operators after its last committed epoch, or any that it keeps."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from firesteel.common.decoders import msgpack_decoder
from firesteel.common.errors import StateError
from firesteel.queryable.access import about, contents_of, operators_of
from firesteel.queryable.arranged import ArrangedContents
from firesteel.queryable.changes import changes
from firesteel.queryable.contents import ABSENT, Bounds, Page, StateContents, Windowed, keys_within
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.forms import JsonForm, from_json, key_to_json, state_key_of_json
from firesteel.queryable.keys import json_meanings, meanings
from firesteel.rest.calls import Call, Refusal, Route, unreadable
from firesteel.rest.routes.asked_states import MOST_DIGITS, at_hand, epoch_of, reader_of, reasons, snapshot_of
from firesteel.state.keys.groups import StateKey

T = TypeVar("T")

MOST_KEYS: Final = 10_000
"""The keys of one request."""

MOST_LIMIT: Final = 10_000
_LIMIT: Final = 100
_AT_ONCE: Final = 1_000
"""Up to so many keys are read where the request arrives, if nothing has to be waited for."""

_MOST_COUNTED: Final = 1_000_000
"""The entries that are counted of all key groups together."""

_FORM: Final = JsonForm()


class Keys(msgspec.Struct, frozen=True):
    """Keys to look up, and the epoch (None: the last). With `entries`, these entries of the maps at the keys."""

    keys: list[Any]
    epoch: int | None = None
    entries: list[Any] | None = None


def operators(call: Call) -> dict[str, Any]:
    """The operators of a job with their states and types."""
    with reasons():
        saved = reader_of(call).saved(epoch_of(call))
    manifest = saved.manifest
    return {
        "job": manifest.job_id,
        "name": manifest.job_name,
        "epoch": manifest.epoch,
        "time": manifest.created_at,
        "directory": saved.storage.url,
        "operators": operators_of(saved),
    }


def at_key(call: Call) -> dict[str, Any]:
    """What a state has at a key."""
    with reasons():
        return _at_key(call, snapshot_of(call, epoch_of(call)))


def at_key_soon(call: Call) -> dict[str, Any] | None:
    """Return what `at_key` does, None if something has to be waited for."""
    snapshot = at_hand(call)
    if snapshot is None or call.query:
        return None
    with reasons():
        return _at_key(call, snapshot)


def at_keys(call: Call) -> dict[str, Any]:
    """What a state has at several keys, all after the same epoch."""
    body = _keys(call)
    with reasons():
        return _at_keys(call, body, snapshot_of(call, body.epoch))


def at_keys_soon(call: Call) -> dict[str, Any] | None:
    """Return what `at_keys` does, None if something has to be waited for."""
    snapshot = at_hand(call)
    if snapshot is None:
        return None
    body = _keys(call)
    if body.epoch is not None or len(body.keys) > _AT_ONCE:
        return None
    with reasons():
        return _at_keys(call, body, snapshot)


def keys(call: Call) -> dict[str, Any]:
    """The keys of a state in order, with what they have, page by page."""
    with reasons():
        place = _place(call)
        snapshot = place.snapshot
        found = contents_of(snapshot, call.path["state"], _FORM)
        if isinstance(found, ArrangedContents):
            _refuse_bounds(call, found)
            return _paged(call, snapshot, found.page(place.after, _limit(call)), "rows")
        page = found.page(_bounds(call, found, snapshot), place.after, _limit(call))
        return _paged(call, snapshot, page, "entries")


def changed(call: Call) -> dict[str, Any]:
    """The keys at which a state has something else after the epoch `to` than after the epoch `from`, page by page.

    An entry has the value `before` and `after`; the one that is missing was not there. A page may be short, or empty,
    though there is a `next` one: so many keys that did not change were passed over.
    """
    with reasons():
        first, last = (_contents_after(call, name) for name in ("from", "to"))
        start = b"" if "after" not in call.query else _decoded(call.query["after"], bytes)
        page = changes(first, last, start, _limit(call))
    entries = [{"key": key, **_there(before=old, after=new)} for key, (old, new) in page.items]
    return {"entries": entries, "next": None if page.next is None else _encoded(page.next)}


def _there(**contents: Any) -> dict[str, Any]:
    return {name: _shown(content) for name, content in contents.items() if content is not ABSENT}


def _contents_after(call: Call, name: str) -> StateContents:
    """Return a state after the epoch that a parameter names. Raises Refusal (400) without one, and for tables."""
    epoch = call.query_number(name, MOST_DIGITS)
    if epoch is None:
        raise Refusal(400, "requires the two epochs as from and to")
    return _of_keys(call, snapshot_of(call, epoch))


def _of_keys(call: Call, snapshot: Snapshot) -> StateContents:
    found = contents_of(snapshot, call.path["state"], _FORM)
    if isinstance(found, ArrangedContents):
        raise Refusal(400, f"{found.who} has rows, and no order of keys")
    return found


def groups(call: Call) -> dict[str, Any]:
    """How many entries of a state are in each key group, their bytes, and whether that are all of the group."""
    with reasons():
        snapshot = snapshot_of(call, epoch_of(call))
        found = _of_keys(call, snapshot)
        if not _is_keyed(call, snapshot):
            raise Refusal(400, f"{found.who} is not spread over key groups")
        sizes = list(found.group_sizes(max(1, _MOST_COUNTED // snapshot.operator.max_parallelism)))
    return {
        **_about(call, snapshot),
        "parallelism": snapshot.operator.snapshot.parallelism,
        "entries": [entries for entries, _, _ in sizes],
        "bytes": [size for _, size, _ in sizes],
        "complete": all(whole for _, _, whole in sizes),
    }


def _at_key(call: Call, snapshot: Snapshot) -> dict[str, Any]:
    found, text = contents_of(snapshot, call.path["state"], _FORM), call.path["key"]
    if isinstance(found, ArrangedContents):
        (rows,) = found.of([_columns(found, text)])
        return _one(call, snapshot, text, rows)
    candidates = meanings(text, snapshot.operator.snapshot.key_kinds if _is_keyed(call, snapshot) else None)
    if "entry" in call.query:
        return _entry(call, snapshot, found, candidates)
    if "limit" in call.query:
        return _entries(call, found, candidates)
    for key, content in zip(candidates, found.of(candidates), strict=True):
        if content is not ABSENT:
            return _one(call, snapshot, key_to_json(key), content)
    return _one(call, snapshot, text, ABSENT)


def _entry(
    call: Call, snapshot: Snapshot, found: StateContents, candidates: list[StateKey]
) -> dict[str, Any]:
    places = meanings(call.query["entry"], None)
    for key in candidates:
        for content in found.entries_of(key, places):
            if content is not ABSENT:
                return _one(call, snapshot, key_to_json(key), content)
    return _one(call, snapshot, f"{call.path['key']}, entry {call.query['entry']}", ABSENT)


def _entries(call: Call, found: StateContents, candidates: list[StateKey]) -> dict[str, Any]:
    place = _place(call)
    page = Page([], None)
    for key in candidates:
        page = page if page.items else found.entries_page(key, place.after, _limit(call))
    return _paged(call, place.snapshot, page, "entries")


def _at_keys(call: Call, body: Keys, snapshot: Snapshot) -> dict[str, Any]:
    found = contents_of(snapshot, call.path["state"], _FORM)
    if isinstance(found, ArrangedContents):
        contents = found.of([_columns(found, key) for key in body.keys])
    else:
        kinds = snapshot.operator.snapshot.key_kinds if _is_keyed(call, snapshot) else None
        candidates = [json_meanings(key, kinds) for key in body.keys]
        contents = _first(candidates, found.of if body.entries is None else _entries_of(found, body.entries))
    values = [
        {"key": key} if content is ABSENT else {"key": key, "value": _shown(content)}
        for key, content in zip(body.keys, contents, strict=True)
    ]
    return {**_about(call, snapshot), "values": values}


def _entries_of(found: StateContents, asked: list[Any]) -> Callable[[list[StateKey]], list[Any]]:
    """Return a function from keys to those of the asked entries that their maps have."""
    places = [state_key_of_json(place) for place in asked]

    def of(keys: list[StateKey]) -> list[Any]:
        read = (zip(asked, found.entries_of(key, places), strict=True) for key in keys)
        there = ([pair for pair in pairs if pair[1] is not ABSENT] for pairs in read)
        return [_FORM.mapping(pairs) if pairs else ABSENT for pairs in there]

    return of


def _first(candidates: list[list[StateKey]], of: Callable[[list[StateKey]], list[Any]]) -> list[Any]:
    """Return for each list of keys what is at the first one that has something."""
    read = iter(of([key for each in candidates for key in each]))
    contents = []
    for each in candidates:
        mine = [next(read) for _ in each]
        contents.append(next((content for content in mine if content is not ABSENT), ABSENT))
    return contents


def _one(call: Call, snapshot: Snapshot, key: Any, content: Any) -> dict[str, Any]:
    if content is ABSENT:
        raise Refusal(
            404, f"State {call.path['state']} has nothing at the key {key} after epoch {snapshot.epoch}."
        )
    return {**_about(call, snapshot), "key": key, "value": _shown(content)}


def _about(call: Call, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "operator": snapshot.operator.id,
        "state": call.path["state"],
        **about(snapshot, call.path["state"]),
        "epoch": snapshot.epoch,
        "time": snapshot.time,
    }


def _shown(content: Any) -> Any:
    if type(content) is list and content and type(content[0]) is Windowed:
        return [{"window": window, "value": _shown(inner)} for window, inner in content]
    return content


def _paged(call: Call, snapshot: Snapshot, page: Page, name: str) -> dict[str, Any]:
    entries = [
        _shown(content) if key is None else {"key": key, "value": _shown(content)}
        for key, content in page.items
    ]
    following = None
    if page.next is not None:
        scan = _scan_of(call) or call.cluster.readers.hold(snapshot)
        following = _encoded((scan, page.next))
    return {**_about(call, snapshot), name: entries, "next": following}


class _Place(NamedTuple):
    """Where a page starts."""

    snapshot: Snapshot
    after: bytes = b""


def _place(call: Call) -> _Place:
    if "after" not in call.query:
        return _Place(snapshot_of(call, epoch_of(call)))
    scan, after = _token(call)
    snapshot = call.cluster.readers.held(scan)
    if snapshot is None:
        raise Refusal(410, "This scan is over: its next page was not asked for within a minute. Begin again.")
    return _Place(snapshot, after)


def _scan_of(call: Call) -> str | None:
    return _token(call)[0] if "after" in call.query else None


def _token(call: Call) -> tuple[str, bytes]:
    return _decoded(call.query["after"], tuple[str, bytes])


def _encoded(place: object) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode(place)).decode()


def _decoded(text: str, kind: type[T]) -> T:
    """Return what `_encoded` made a text of. Raises Refusal (400) for another one."""
    try:
        return msgpack_decoder(kind).decode(urlsafe_b64decode(text.encode()))
    except ValueError:
        raise Refusal(400, "after requires what the page before named as next") from None


def _bounds(call: Call, found: StateContents, snapshot: Snapshot) -> Bounds:
    kinds = snapshot.operator.snapshot.key_kinds
    first, last = (
        meanings(call.query[name], kinds)[0] if name in call.query else None for name in ("from", "to")
    )
    try:
        return keys_within(call.query.get("prefix"), first, last, found.who)
    except StateError as error:
        raise Refusal(400, str(error)) from None


def _refuse_bounds(call: Call, found: ArrangedContents) -> None:
    if not {"prefix", "from", "to"}.isdisjoint(call.query):
        raise Refusal(400, f"{found.who} has no order of keys: ask for columns with their values")


def _columns(found: ArrangedContents, key: Any) -> Mapping[str, Any]:
    """Return the key of an arrangement, from a text in an address or from JSON."""
    if isinstance(key, str) and key.startswith("{"):
        try:
            key = msgspec.json.decode(key)
        except msgspec.DecodeError:
            raise unreadable("key", str(key)) from None
    if isinstance(key, dict):
        return {name: from_json(value, key=True) for name, value in key.items()}
    return found.of_text(key)


def _is_keyed(call: Call, snapshot: Snapshot) -> bool:
    """Return whether the keys are those of the stream, whose kinds are recorded, and not those of a map."""
    scope: str = snapshot.operator.state(call.path["state"])["scope"]
    return scope != "broadcast"


def _keys(call: Call) -> Keys:
    body = call.body(Keys)
    if len(body.keys) > MOST_KEYS:
        raise Refusal(400, f"at most {MOST_KEYS} keys can be asked for at once")
    return body


def _limit(call: Call) -> int:
    return min(max(call.query_number("limit", MOST_DIGITS) or _LIMIT, 1), MOST_LIMIT)


_STATE: Final = "/jobs/:job/operators/:operator/states/:state"
_SCAN: Final = ("epoch", "limit", "after")
_ONE: Final = (*_SCAN, "entry")

ROUTES: Final = (
    Route("GET", "/jobs/:job/operators", operators, query=("epoch",)),
    Route("GET", _STATE, keys, query=(*_SCAN, "prefix", "from", "to")),
    Route("GET", f"{_STATE}/changes", changed, query=("from", "to", "limit", "after")),
    Route("GET", f"{_STATE}/groups", groups, query=("epoch",)),
    Route("POST", f"{_STATE}/keys", at_keys, body=Keys, soon=at_keys_soon),
    Route("GET", f"{_STATE}/keys/:key*", at_key, query=_ONE, soon=at_key_soon),
)

SHORT_ROUTES: Final = (Route("GET", "/:job/:operator/:state/:key*", at_key, query=_ONE, soon=at_key_soon),)
"""As the talks write it; it fits many paths, so it comes last."""
