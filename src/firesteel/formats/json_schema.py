"""JSON Schema: whether JSON values are as a schema says; other schemas that it refers to are given, never loaded."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from firesteel.common.errors import ConfigurationError, ProgramError

_DECODER: Final = msgspec.json.Decoder()


def require_json_schema(who: str) -> None:
    """Raise ConfigurationError, with the command to run, if jsonschema-rs is not installed."""
    if importlib.util.find_spec("jsonschema_rs") is None:
        raise ConfigurationError(
            "requires jsonschema-rs, which is not installed",
            who=who,
            hint='pip install "firesteel[json-schema]"',
        )


class JsonSchema:
    """A schema of any draft from 4 to 2020-12; `references` are schemas that it refers to, by its names for them.

    What a `format` says is a remark, as it is by default in the newest draft, and not checked. Raises ProgramError for
    what is no schema. Not picklable.

    >>> schema = JsonSchema('{"type": "object", "properties": {"n": {"minimum": 1}}}')
    >>> schema.misfit(b'{"n": 2}'), schema.misfit(b'{"n": 0}')
    (None, '/n: 0 is less than the minimum of 1')
    """

    def __init__(self, text: str, references: Iterable[tuple[str, str]] = ()) -> None:
        import jsonschema_rs

        given = dict(references)

        def retrieve(uri: str) -> Any:
            for name, other in given.items():
                if uri == name or uri.endswith(f"/{name}"):
                    return json.loads(other)
            raise LookupError(f"there is no schema {uri!r} among its references")

        try:
            self._validator = jsonschema_rs.validator_for(
                json.loads(text), retriever=retrieve, validate_formats=False
            )
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise ProgramError("requires a JSON Schema", got=f"{text[:500]} ({error})") from error

    def misfit(self, message: bytes) -> str | None:
        """Return what is wrong with a JSON text, and where; None if nothing is.

        It is the first thing that is found, with the path of the value.
        """
        try:
            value = _DECODER.decode(message)
        except msgspec.DecodeError as error:
            return f"it is no JSON: {error}"
        if self._validator.is_valid(value):
            return None
        first = next(self._validator.iter_errors(value))
        return f"/{'/'.join(map(str, first.instance_path))}: {first.message}"
