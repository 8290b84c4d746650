"""Every error that Firesteel raises on purpose.

::

    FiresteelError
    ├── ProgramError                 the program is wrong before anything runs
    │   ├── UnsupportedError         a name or an option PyFlink has and Firesteel does not (yet)
    │   ├── SerializationError       a function or a value cannot be shipped to the workers
    │   ├── PatternTextError         a pattern that is written as a text is wrong, at a place in it; a PointedError, too
    │   ├── SqlError                 a statement of SQL is wrong, at a place in its text; a PointedError, too
    │   │   ├── SqlParseError        it is not SQL as Flink has it
    │   │   ├── SqlValidationError   its names or types are wrong
    │   │   ├── SqlConfigurationError  an option of a table is wrong; a ConfigurationError, too
    │   │   └── SqlUnsupportedError  Flink has it, and Firesteel does not (yet); an UnsupportedError, too
    │   └── ConfigurationError       an unknown option, or a value it cannot take
    ├── PointedError                 anything that is about a part of a text of SQL, or of a pattern
    ├── RecordError                  one record cannot be processed
    │   ├── UserFunctionError        the user's function raised
    │   ├── ExpressionError          an expression of a query has no value for it; a PointedError, too
    │   ├── KeyEncodingError         a key selector returned something that cannot be a key
    │   ├── TypeMismatchError        a value does not fit its declared type
    │   └── ConstraintError          a row breaks a constraint of the table that it is written to
    ├── ConnectorError               a source or a sink cannot reach what it was pointed at
    │   └── OutputClosedError        nobody reads standard output, or standard error, any more
    ├── StateError                   the state directory cannot be used
    │   ├── StateMismatchError       it belongs to another program
    │   ├── StateEvolutionRequired   a state in it has to be converted to its new type first
    │   ├── StateCorruptedError      a file in it is damaged or missing
    │   └── FencedError              another driver committed this epoch
    └── EngineError                  Spark itself failed (a lost worker, no memory, no Java)

The grammar of a message: *who* (operator, at which line of the user's program) requires *what*; *got* what instead; a
*hint*. `str(error)` is the whole message, one line for the sentence and one for the hint.
"""

from __future__ import annotations

from typing import Any, Final

_MOST_OF_A_LINE: Final = 4_000
_MOST_OF_DETAILS: Final = 100_000


def shortened(text: str, most: int) -> str:
    """Return a text of at most about `most` characters; the middle of a longer text is left out.

    >>> shortened("the beginning of a text and its end", 12)
    'the be... (23 characters left out) ...ts end'
    """
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[len(text) - most // 2 :]
    return f"{head}... ({len(text) - len(head) - len(tail)} characters left out) ...{tail}"


class FiresteelError(Exception):
    """A failure, with a message for the author of the program.

    `requirement` is a sentence without its subject if you give `who` ("requires a callable"), else a whole sentence.
    `got` is what was found instead, `hint` how to solve it, `details` longer text that is shown on demand (a
    traceback). Texts that a user's exception made too long to read lose their middle. Instances survive pickling, so an
    error from a worker reaches the driver unchanged.

    >>> who = "map 'parse' (job.py:12)"
    >>> print(ProgramError("requires a callable", who=who, got="an int: 5", hint="pass a function"))
    map 'parse' (job.py:12) requires a callable; got an int: 5
      hint: pass a function
    """

    def __init__(
        self,
        requirement: str,
        *,
        who: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        details: str | None = None,
    ) -> None:
        requirement = shortened(requirement, _MOST_OF_A_LINE)
        super().__init__(requirement)
        self.requirement = requirement
        self.who = who
        self.got = None if got is None else shortened(got, _MOST_OF_A_LINE)
        self.hint = hint
        self.details = None if details is None else shortened(details, _MOST_OF_DETAILS)

    def __str__(self) -> str:
        sentence = f"{self.who} {self.requirement}" if self.who else self.requirement
        if self.got is not None:
            sentence += f"; got {self.got}"
        return sentence if self.hint is None else f"{sentence}\n  hint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[FiresteelError], fields: dict[str, Any]) -> FiresteelError:
    error = kind.__new__(kind)
    Exception.__init__(error, fields["requirement"])
    error.__dict__.update(fields)
    return error


class PointedError(FiresteelError):
    """An error about a part of a text: a statement of SQL, or a pattern.

    `line` and `column` are where the first wrong character is, counted from 1; `pointed` is that line, with a caret
    below the wrong part.
    """

    def __init__(
        self,
        requirement: str,
        *,
        line: int,
        column: int,
        pointed: str,
        who: str | None = None,
        got: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(requirement, who=who, got=got, hint=hint)
        self.line = line
        self.column = column
        self.pointed = shortened(pointed, _MOST_OF_A_LINE)

    def __str__(self) -> str:
        place = "\n".join(f"    {line}" for line in self.pointed.split("\n"))
        sentence, *rest = super().__str__().split("\n  hint: ")
        return "\n".join([sentence, place, *(f"  hint: {hint}" for hint in rest)])


class ProgramError(FiresteelError):
    """The program is wrong; found before anything runs."""


class ConfigurationError(ProgramError):
    """An unknown option, or a value an option cannot take."""


class UnsupportedError(ProgramError):
    """A name or an option that PyFlink has and Firesteel does not have."""


class SerializationError(ProgramError):
    """A function or a value cannot be shipped to the workers."""


class PatternTextError(PointedError, ProgramError):
    """The text of a pattern is wrong: it does not follow the grammar, or a part of it means nothing."""


class SqlError(PointedError, ProgramError):
    """A statement of SQL is wrong."""


class SqlParseError(SqlError):
    """A text is not SQL as Flink has it, or is SQL that Firesteel cannot parse."""


class SqlValidationError(SqlError):
    """A statement is well-formed, and means nothing: an unknown name, types that do not fit, a misplaced call."""


class SqlConfigurationError(SqlError, ConfigurationError):
    """A table that a statement reads or writes has an option that is wrong."""


class SqlUnsupportedError(SqlError, UnsupportedError):
    """A statement has a meaning in Flink, and Firesteel does not support it."""


class RecordError(FiresteelError):
    """One record cannot be processed; the epoch it is in is not committed."""


class UserFunctionError(RecordError):
    """The user's function raised; `details` is the traceback within the user's code."""


class ExpressionError(PointedError, RecordError):
    """An expression of a query has no value for a row: a text that is no number, a division by zero."""


class KeyEncodingError(RecordError):
    """A key selector returned something that cannot be a key."""


class TypeMismatchError(RecordError):
    """A value does not fit its declared type."""


class ConstraintError(RecordError):
    """A row breaks a constraint of the table that it is written to: NOT NULL, a length, a primary key."""


class ConnectorError(FiresteelError):
    """A source or a sink cannot reach what it was pointed at."""


class OutputClosedError(ConnectorError):
    """Nobody reads the output any more (``| head``); the program then ends silently, as other programs do."""


class StateError(FiresteelError):
    """The state directory cannot be used."""


class StateMismatchError(StateError):
    """The state directory belongs to another program."""


class StateEvolutionRequired(StateError):  # noqa: N818 - it asks for something; the job continues
    """A state was saved with other types than it is declared with now, and can be converted to those.

    `path` is the state's path in the catalog ("keyed:count"), `recorded` the schema that it was saved with, `declared`
    the schema of its descriptor (see `firesteel.state.values.schemas`), `operator_id` and `operator` its operator and
    where the program makes it, which the task fills in.
    """

    def __init__(
        self, requirement: str, *, path: str, recorded: dict[str, Any], declared: dict[str, Any], **texts: str
    ) -> None:
        super().__init__(requirement, **texts)
        self.path = path
        self.operator_id = self.operator = ""
        self.recorded = recorded
        self.declared = declared


class StateCorruptedError(StateError):
    """A file of the state directory is damaged or missing."""


class FencedError(StateError):
    """Another driver committed the epoch this one was about to commit."""


class EngineError(FiresteelError):
    """Spark itself failed: a lost worker, no memory, no Java."""
