"""Writes the tables of options into the pages of docs/, from where the options are declared.

Usage: python scripts/options.py. A table stands between two comments: one that says of what, as `the connector X` or
`the format X` (of messages; those of files are `the file format X`), with the name in quotes, and one that ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from firesteel.connectors.kafka.settings import Property
from firesteel.connectors.kafka.sink.settings import SINK_PROPERTIES
from firesteel.connectors.kafka.source.settings import SOURCE_PROPERTIES
from firesteel.connectors.tables import lookup_options
from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.messages.confluent import RegistryOptions
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS
from firesteel.connectors.tables.options import DefaultOption, NeededOption
from firesteel.connectors.tables.registry import BUILT_IN
from firesteel.functions.columns.connectors import KnownOption

DOCS: Final = Path(__file__).parents[1] / "docs"
END: Final = "<!-- end of the options -->"

_TABLE: Final = re.compile(
    r"<!-- options of (.+?), written by `scripts/options\.py` -->\n.*?" + END, re.DOTALL
)
_FORM: Final = "the format"
_REGISTRY: Final = tuple(RegistryOptions(_FORM).all)


_LIKE: Final = {
    "the format 'avro-confluent'": "the format 'avro'",
    "the format 'debezium-avro-confluent'": "the format 'avro'",
    "the format 'json-confluent'": "the format 'json'",
    "the format 'protobuf-confluent'": "the format 'protobuf'",
    "the file format 'debezium-json'": "the format 'debezium-json'",
    "the file format 'canal-json'": "the format 'canal-json'",
    "the file format 'maxwell-json'": "the format 'maxwell-json'",
}
"""What has the options of another format, and of a registry, and few or none of its own."""


def tables() -> dict[str, tuple[KnownOption, ...]]:
    """Return the options of everything that has some of its own, by what pages call it."""
    found: dict[str, tuple[KnownOption, ...]] = {
        **{f"the connector '{name}'": _without_lookups(kind.options) for name, kind in BUILT_IN.items()},
        "lookups": lookup_options.OPTIONS,
        **{f"the format '{name}'": tuple(form.options) for name, form in MESSAGE_FORMATS.items()},
        **{f"the file format '{name}'": tuple(form.options) for name, form in FORMATS.items()},
        "schema registries": _REGISTRY,
        "KafkaSource": SOURCE_PROPERTIES,
        "KafkaSink": SINK_PROPERTIES,
    }
    for name, other in _LIKE.items():
        known = {_short(option) for option in (*found[other], *_REGISTRY)}
        found[name] = tuple(option for option in found[name] if _short(option) not in known)
    return {name: options for name, options in found.items() if options}


def _without_lookups(options: Iterable[KnownOption]) -> tuple[KnownOption, ...]:
    return tuple(option for option in options if option not in lookup_options.OPTIONS)


def _short(option: KnownOption) -> str:
    """Return a key without the name of its format."""
    return option.key.partition(".")[2]


def table(options: Iterable[KnownOption]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| option | value | default | meaning |"
    yield "|---|---|---|---|"
    for option in options:
        cells = (f"`{option.key.removeprefix(f'{_FORM}.')}`", option.what, _default(option), option.about)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(option: KnownOption) -> str:
    if isinstance(option, NeededOption):
        return "(required)"
    return f"`{option.default}`" if isinstance(option, DefaultOption | Property) and option.default else ""


def written(page: str) -> str:
    """Return a page with its tables as they must be. Raises KeyError for a table of something unknown.

    >>> written("No tables.")
    'No tables.'
    """
    known = tables()

    def rewrite(match: re.Match[str]) -> str:
        begin, _, _ = match[0].partition("\n")
        return "\n".join([begin, "", *table(known[match[1]]), "", END])

    return _TABLE.sub(rewrite, page)


def shown(page: str) -> set[str]:
    """Return what a page has tables of."""
    return {match[1] for match in _TABLE.finditer(page)}


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        path.write_text(written(path.read_text("utf-8")), "utf-8")
