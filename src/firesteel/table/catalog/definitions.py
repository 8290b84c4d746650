"""What catalogs hold, as data: databases, tables and views, partitions, functions, procedures, and catalogs themselves.

Contract: definitions are values; nothing changes them. `copy` returns an equal one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from firesteel.common.configuration import Configuration
from firesteel.common.errors import UnsupportedError
from firesteel.functions.columns.connectors import TableDistribution
from firesteel.relational.tables import PhysicalColumn
from firesteel.sql.binding.maintenance import Maintenance
from firesteel.table.resolved_schema import ResolvedSchema
from firesteel.table.schema import Schema

if TYPE_CHECKING:
    from firesteel.table.catalog.functions import KnownFunction
    from firesteel.table.catalog.objects import CatalogObject

__all__ = [
    "CatalogBaseTable",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "Procedure",
]


@dataclass(frozen=True)
class CatalogDatabase:
    """A database: properties and a comment."""

    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogDatabase:
        """Return a database with these properties."""
        return CatalogDatabase(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self.properties)

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment

    def copy(self) -> CatalogDatabase:
        """Return an equal database."""
        return replace(self)

    def get_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment."""
        return self.comment


@dataclass(frozen=True, eq=False)
class CatalogBaseTable:
    """A table or a view; of a view, `original_query` is its query.

    Names in the query are looked up in the catalog and the database of `path`, or in those of the view if it is None.
    `asterisks` has the columns that each asterisk of the query stood for, by its offset. `maintenance` is how a
    materialised table is kept fresh, `distribution` how rows are in buckets. `found` is what the session has made of
    the definition already; a catalog that keeps definitions elsewhere does not keep it.

    >>> schema = Schema.new_builder().column("id", "BIGINT").build()
    >>> CatalogBaseTable.create_table(schema, [], {"connector": "print"}).get_options()
    {'connector': 'print'}
    """

    schema: Schema
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    original_query: str | None = None
    path: tuple[str, str] | None = None
    asterisks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    maintenance: Maintenance | None = None
    distribution: TableDistribution | None = None
    found: CatalogObject | None = field(default=None, repr=False)

    @staticmethod
    def create_table(
        schema: Schema | ResolvedSchema,
        partition_keys: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a table of these columns and options."""
        return CatalogBaseTable(
            _unresolved(schema), tuple(partition_keys), dict(properties or {}), comment=comment
        )

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: Schema | ResolvedSchema,
        properties: Mapping[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Return a view of these columns. `expanded_query`, with names in full, is what runs."""
        del original_query
        return CatalogBaseTable(
            _unresolved(schema), (), dict(properties), comment=comment, original_query=expanded_query
        )

    @property
    def is_view(self) -> bool:
        """Whether this is a view."""
        return self.original_query is not None

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)

    def get_unresolved_schema(self) -> Schema:
        """Return the columns as they are declared."""
        return self.schema

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment

    def copy(self) -> CatalogBaseTable:
        """Return an equal table or view."""
        return replace(self)

    def get_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment."""
        return self.comment


def require_text(view: CatalogBaseTable) -> str:
    """Return the query of a view. Raises UnsupportedError for one that has no text, since a program made it."""
    if not view.original_query:
        raise UnsupportedError(
            "cannot be kept between programs: a program made it of a Table",
            who="the view",
            hint="CREATE VIEW ... AS, or create_temporary_view",
        )
    return view.original_query


def _unresolved(schema: Schema | ResolvedSchema) -> Schema:
    if isinstance(schema, ResolvedSchema):
        return Schema.new_builder().from_resolved_schema(schema).build()
    return schema


@dataclass(frozen=True)
class CatalogPartition:
    """A partition of a table: properties and a comment."""

    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogPartition:
        """Return a partition with these properties."""
        return CatalogPartition(dict(properties), comment)

    def get_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self.properties)

    def copy(self) -> CatalogPartition:
        """Return an equal partition."""
        return replace(self)

    def get_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_detailed_description(self) -> str | None:
        """Return the comment."""
        return self.comment

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment


@dataclass(frozen=True, eq=False)
class CatalogFunction:
    """A function of a catalog: 'module.name' of what `udf` or `udtf` has made, in Python.

    `function` is what the session has made of it already.
    """

    class_name: str
    function_language: str = "PYTHON"
    options: Mapping[str, str] = field(default_factory=dict)
    function: KnownFunction | None = field(default=None, repr=False)

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """Return the function of a name that can be imported."""
        return CatalogFunction(class_name, function_language.upper())

    def get_class_name(self) -> str:
        """Return the name that is imported."""
        return self.class_name

    def copy(self) -> CatalogFunction:
        """Return an equal function."""
        return replace(self)

    def get_description(self) -> str | None:
        """Return what kind of function it is."""
        return "This is a user-defined function"

    def get_detailed_description(self) -> str | None:
        """Return what kind of function it is, and where it is found."""
        return f"This is a user-defined function in {self.function_language}: {self.class_name}"

    def get_function_language(self) -> str:
        """Return PYTHON."""
        return self.function_language

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)


@dataclass(frozen=True)
class CatalogModel:
    """A model: the columns that it takes and gives, options, of which 'provider' is one, and a comment."""

    inputs: tuple[PhysicalColumn, ...]
    outputs: tuple[PhysicalColumn, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @staticmethod
    def create_model(
        input_schema: Schema,
        output_schema: Schema,
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogModel:
        """Return a model with these columns.

        >>> columns = Schema.new_builder().column("n", "INT").build()
        >>> CatalogModel.create_model(columns, columns, {"provider": "python"}).get_options()
        {'provider': 'python'}
        """
        inputs, outputs = (
            tuple(PhysicalColumn(name, kind) for name, kind in schema.physical)
            for schema in (input_schema, output_schema)
        )
        return CatalogModel(inputs, outputs, dict(options or {}), comment)

    def copy(self) -> CatalogModel:
        """Return an equal model."""
        return replace(self)

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment

    def get_options(self) -> dict[str, str]:
        """Return the options."""
        return dict(self.options)


@dataclass(frozen=True)
class CatalogDescriptor:
    """How a catalog is made: its name, its options, of which 'type' is one, and a comment.

    >>> CatalogDescriptor.of("shop", Configuration.from_dict({"type": "generic_in_memory"})).options
    {'type': 'generic_in_memory'}
    """

    catalog_name: str
    options: Mapping[str, str]
    comment: str | None = None

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None) -> CatalogDescriptor:
        """Return the descriptor of these parts."""
        return CatalogDescriptor(catalog_name, dict(configuration.to_dict()), comment)


class Procedure(ABC):
    """What CALL executes: a subclass of yours, which `Catalog.get_procedure` returns.

    >>> class Twice(Procedure):
    ...     def call(self, environment, number):
    ...         return [2 * number]
    >>> Twice().call(None, 4)
    [8]
    """

    @abstractmethod
    def call(self, environment: Any, *arguments: Any) -> Iterable[Any]:
        """Do the work and return the rows of the answer: values, or tuples of the columns of `result_type`.

        `environment` is a StreamExecutionEnvironment with the session's options. Errors are those of the statement.
        """

    def result_type(self) -> Any:
        """Return the DataType of the values, or of rows of several columns; None: texts."""
        return None
