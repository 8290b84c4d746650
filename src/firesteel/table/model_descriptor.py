"""ModelDescriptor: a model that a program declares, without SQL."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.table.schema import Schema

__all__ = ["ModelDescriptor"]


@dataclass(frozen=True)
class ModelDescriptor:
    """A provider with its options, and the columns that a model takes and gives.

    >>> columns = Schema.new_builder().column("n", "INT").build()
    >>> twice = ModelDescriptor.for_provider("python").input_schema(columns).output_schema(columns)
    >>> twice.option("function", "models:Twice").build().get_options()
    {'provider': 'python', 'function': 'models:Twice'}
    """

    input: Schema | None
    output: Schema | None
    options: dict[str, str]
    comment: str | None = None

    class Builder:
        """Collects what makes a model."""

        def __init__(self, provider: str) -> None:
            self._input: Schema | None = None
            self._output: Schema | None = None
            self._options = {"provider": provider}
            self._comment: str | None = None

        def input_schema(self, input_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model takes."""
            self._input = input_schema
            return self

        def output_schema(self, output_schema: Schema) -> ModelDescriptor.Builder:
            """Set the columns that the model gives."""
            self._output = output_schema
            return self

        def option(self, key: str, value: str) -> ModelDescriptor.Builder:
            """Set an option."""
            self._options[str(getattr(key, "key", key))] = str(value)
            return self

        def comment(self, comment: str) -> ModelDescriptor.Builder:
            """Set the comment."""
            self._comment = comment
            return self

        def build(self) -> ModelDescriptor:
            """Return the descriptor."""
            return ModelDescriptor(self._input, self._output, dict(self._options), self._comment)

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptor.Builder:
        """Return a builder for a model of a provider."""
        return ModelDescriptor.Builder(provider)

    def get_options(self) -> dict[str, str]:
        """Return the options, 'provider' among them."""
        return dict(self.options)

    def get_input_schema(self) -> Schema | None:
        """Return the columns that the model takes, None if they have not been set."""
        return self.input

    def get_output_schema(self) -> Schema | None:
        """Return the columns that the model gives, None if they have not been set."""
        return self.output

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment
