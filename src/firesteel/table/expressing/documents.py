"""Functions of texts of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand, given
from firesteel.table.expressing.words import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)
from firesteel.table.types import DataType, DataTypes

if TYPE_CHECKING:
    from firesteel.table.expression import Expression

_TEXT = DataTypes.STRING()


class Documents(Operand):
    """Texts of JSON."""

    def is_json(self, json_type: JsonType | None = None) -> Expression[bool]:
        """Return whether the text is JSON, of a kind."""
        return self._call("IS_JSON", *given(json_type))

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression[bool]:
        """Return whether there is something at a path."""
        return self._call("JSON_EXISTS", path, *given(on_error))

    def json_quote(self) -> Expression[str]:
        """Return the text as a string of JSON."""
        return self._call("JSON_QUOTE")

    def json_unquote(self) -> Expression[str]:
        """Return the text that a string of JSON stands for."""
        return self._call("JSON_UNQUOTE")

    def json_value(
        self,
        path: str,
        returning_type: DataType = _TEXT,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression[Any]:
        """Return the single value at a path, as a type; and what there is instead of nothing and of an error."""
        arguments = (path, returning_type, on_empty, default_on_empty, on_error, default_on_error)
        return self._call("JSON_VALUE", *arguments)

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression[str]:
        """Return the JSON at a path as a text; and what there is instead of nothing and of an error."""
        return self._call("JSON_QUERY", path, _TEXT, wrapping_behavior, on_empty, on_error)
