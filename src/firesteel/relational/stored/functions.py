"""Functions of one's own and models in compiled plans: where they are imported from, and the types that they had.

A plan has a list of them, and where it calls one it has the function's place in the list, from 1, under ``$function``.
Reading the plan imports them again. Functions that only a program has cannot be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.functions.columns.python_functions import AsyncCalls, PythonFunction, UserFunction
from firesteel.functions.predicting import Model, Predictions
from firesteel.relational.stored.values import Json, Reader, Writer

CALLED: Final = "$function"
_MODEL: Final = "model"
_NOT_TYPES: Final = ("name", "body", "imported")

Import = Callable[[str, str], UserFunction]
"""Imports the function of a 'module.name', and gives it a name; or of what else `imported` of a function says.

Raises ConfigurationError if there is none.
"""


class FunctionWriter:
    """The functions that plans call, as JSON; `write` makes that of their types."""

    def __init__(self, write: Writer) -> None:
        self._write = write
        self._places: dict[UserFunction, int] = {}
        self.listed: list[Json] = []

    def __call__(self, function: UserFunction) -> Json:
        """Return what stands for a function in a plan. Raises ProgramError for one that cannot be imported."""
        if function not in self._places:
            self.listed.append(self._definition(function))
            self._places[function] = len(self.listed)
        return {CALLED: self._places[function]}

    def _definition(self, function: UserFunction) -> Json:
        if isinstance(function, PythonFunction) and isinstance(function.body, Predictions):
            return {_MODEL: self._write(function.body.model), "calls": self._write(function.body.calls)}
        if not function.imported:
            raise ProgramError(
                "requires functions that statements have named",
                who="COMPILE PLAN",
                got=f"{function.name}, which only its program has",
                hint="CREATE FUNCTION ... AS 'module.name' LANGUAGE PYTHON, or LOAD MODULE",
            )
        return {"name": function.name, "imported": function.imported, "types": _types(function, self._write)}


@dataclass(frozen=True)
class FunctionReader:
    """Makes functions of JSON; errors begin with `who`."""

    imported: Import
    who: str

    def __call__(self, definition: Mapping[str, Json], read: Reader) -> UserFunction:
        """Return the function of an entry of the list.

        Raises ConfigurationError if it cannot be imported, ProgramError if it has other types now.
        """
        if _MODEL in definition:
            model, calls = read(definition[_MODEL]), read(definition["calls"])
            if not isinstance(model, Model) or not isinstance(calls, AsyncCalls):
                raise ValueError(f"no model: {definition}")
            return model.function(calls, awaited=None)
        name = str(definition["name"])
        try:
            found = self.imported(str(definition["imported"]), name)
        except ConfigurationError as error:
            error.who = f"function {name} of {self.who}"
            raise
        if _types(found, Writer(lambda _: None)) != definition["types"]:
            raise ProgramError(
                f"requires function {name} with the types that it had when the plan was compiled",
                who=self.who,
                got=f"another one as '{found.imported}'",
                hint="compile the statement again, or give the function its former types",
            )
        return found


def _types(function: UserFunction, write: Writer) -> Json:
    """Return all that a plan knows of a function."""
    named = (field.name for field in fields(function) if field.name not in _NOT_TYPES)
    return {name: write(getattr(function, name)) for name in named}
