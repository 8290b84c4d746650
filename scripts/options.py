"""Writes the tables of options into the pages of docs/, from where the options are declared.

Usage: python scripts/options.py. A table stands between two comments: one that says of what, as `the connector X` or
`the format X` (of messages; those of files are `the file format X`), with the name in quotes, and one that ends it.
What programs call has tables, too: the methods of a builder, `the builder of X`, and the parameters of a class.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from firesteel.connectors.kafka.settings import Property
from firesteel.connectors.kafka.sink.serialization import KafkaRecordSerializationSchemaBuilder
from firesteel.connectors.kafka.sink.settings import SINK_PROPERTIES
from firesteel.connectors.kafka.sink.sink import KafkaSinkBuilder
from firesteel.connectors.kafka.source.settings import SOURCE_PROPERTIES
from firesteel.connectors.sql import SqlSink
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.tables import lookup_options
from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.messages.confluent import RegistryOptions
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS
from firesteel.connectors.tables.options import DefaultOption, NeededOption
from firesteel.connectors.tables.registry import BUILT_IN
from firesteel.datastream.connectors.file_sinks import FileSink
from firesteel.datastream.connectors.file_sources import FileSourceBuilder
from firesteel.datastream.connectors.file_writing import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    OutputFileConfig,
    RollingPolicy,
)
from firesteel.datastream.connectors.kafka_sources import KafkaSourceBuilder
from firesteel.functions.columns.connectors import KnownOption
from firesteel.spark.hive.connector import HiveConnector
from firesteel.spark.table_connector import SparkConnector
from firesteel.table.materialized import MaterializedConnector

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
    "the file format 'raw'": "the format 'raw'",
}
"""What has the options of another format, and of a registry, and few or none of its own."""

_LEFT_OUT: Final = ("build", "builder", "fixed")
"""Methods that say nothing of what is built, or that the engine calls."""


class Call(NamedTuple):
    """What a program calls: a method as it is called, or a parameter with its default."""

    key: str
    about: str
    what: str = ""
    default: str = ""


def methods(*kinds: type, named: bool = False) -> tuple[Call, ...]:
    """Return the public methods of builders, `named` with their class, and the first paragraph of what they say.

    >>> methods(FileSourceBuilder)[1]
    Call(key='process_static_file_set()', about='Read the files ... starts (the default).', what='', default='')
    """
    return tuple(
        Call(
            f"{f'{kind.__qualname__}.' if named else ''}{name}({_taken(method)})",
            " ".join((inspect.getdoc(method) or "").partition("\n\n")[0].split()),
        )
        for kind in kinds
        for name, method in _public(kind)
    )


def _public(kind: type) -> Iterator[tuple[str, Any]]:
    for name in dict.fromkeys(name for owner in kind.__mro__[::-1] for name in vars(owner)):
        method = getattr(kind, name)
        if not name.startswith(("_", "get_")) and name not in _LEFT_OUT and inspect.isfunction(method):
            yield name, method


def _taken(method: Any) -> str:
    found = inspect.signature(method)
    plain = [each.replace(annotation=each.empty) for each in found.parameters.values() if each.name != "self"]
    return str(found.replace(parameters=plain, return_annotation=found.empty))[1:-1]


def parameters(kind: type, settings: type, **others: str) -> tuple[Call, ...]:
    """Return the parameters of a class, as the fields of its settings describe them; `others` have another name there.

    >>> parameters(SqlSink, SqlSettings, url="address")[1]
    Call(key='table', about='The table, which must exist.', what='', default='(required)')
    """
    about = dict(_fields(settings))
    given = list(inspect.signature(kind).parameters.values())
    return tuple(
        Call(
            one.name,
            about[others.get(one.name, one.name)],
            "",
            "(required)" if one.default is one.empty else f"`{one.default!r}`",
        )
        for one in given
    )


def _fields(settings: type) -> Iterator[tuple[str, str]]:
    """Yield the names of fields, and the texts that stand behind them."""
    [found] = ast.parse(inspect.getsource(settings)).body
    assert isinstance(found, ast.ClassDef)
    for field, text in zip(found.body, found.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            yield field.target.id, inspect.cleandoc(ast.literal_eval(text.value))


def calls() -> dict[str, tuple[Call, ...]]:
    """Return what programs call, by what pages name it."""
    return {
        "SqlSink": parameters(SqlSink, SqlSettings, url="address"),
        "the builder of KafkaSource": methods(KafkaSourceBuilder),
        "the builder of KafkaSink": methods(KafkaSinkBuilder),
        "the builder of KafkaRecordSerializationSchema": methods(KafkaRecordSerializationSchemaBuilder),
        "the builder of FileSource": methods(FileSourceBuilder),
        "the builder of FileSink": methods(FileSink.RowFormatBuilder),
        "what a FileSink is told": methods(
            *(BucketAssigner, RollingPolicy, OutputFileConfig.OutputFileConfigBuilder),
            *(FileCompactStrategy.Builder, FileCompactor),
            named=True,
        ),
    }


def tables() -> dict[str, tuple[KnownOption, ...]]:
    """Return the options of everything that has some of its own, by what pages call it."""
    found: dict[str, tuple[KnownOption, ...]] = {
        **{f"the connector '{name}'": _without_lookups(kind.options) for name, kind in BUILT_IN.items()},
        "the connector 'spark'": SparkConnector.options,
        "the connector 'hive'": HiveConnector.options,
        "the connector 'materialized'": MaterializedConnector.options,
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
    return {**{name: options for name, options in found.items() if options}, **calls()}


def _without_lookups(options: Iterable[KnownOption]) -> tuple[KnownOption, ...]:
    return tuple(option for option in options if option not in lookup_options.OPTIONS)


def _short(option: KnownOption) -> str:
    """Return a key without the name of its format."""
    return option.key.partition(".")[2]


def table(options: Iterable[KnownOption]) -> Iterator[str]:
    """Yield the lines of a table."""
    rows = [
        (f"`{option.key.removeprefix(f'{_FORM}.')}`", option.what, _default(option), option.about)
        for option in options
    ]
    titles = ("call" if "(" in rows[0][0] else "option", "value", "default", "meaning")
    # What is called says itself what it takes, and has no default.
    shown = [*zip(*(column for column in zip(titles, *rows, strict=True) if any(column[1:])), strict=True)]
    yield f"| {' | '.join(shown[0])} |"
    yield "|---" * len(shown[0]) + "|"
    for row in shown[1:]:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _default(option: KnownOption) -> str:
    if isinstance(option, Call):
        return option.default
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
