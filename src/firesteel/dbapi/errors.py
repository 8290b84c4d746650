"""The errors of PEP 249.

::

    Warning
    Error
    ├── InterfaceError            the driver was used in a wrong way: a cursor that is closed, nothing to fetch
    └── DatabaseError
        ├── DataError             a value that cannot be read
        ├── OperationalError      the gateway cannot be reached
        ├── IntegrityError        never raised: there are no such constraints
        ├── InternalError         never raised
        ├── ProgrammingError      the gateway refuses a statement, or it fails; the text is the gateway's
        └── NotSupportedError     what a gateway cannot do: transactions, changes of rows in the place of rows
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from firesteel.common.errors import ConfigurationError, FiresteelError, StateError


class Warning(Exception):  # noqa: A001, N818 - the name that PEP 249 gives it
    """Never raised."""


class Error(Exception):
    """The base of all errors."""


class InterfaceError(Error):
    """The driver was used in a wrong way."""


class DatabaseError(Error):
    """The base of the errors that the gateway has to do with."""


class DataError(DatabaseError):
    """A value cannot be read."""


class OperationalError(DatabaseError):
    """The gateway cannot be reached."""


class IntegrityError(DatabaseError):
    """Never raised."""


class InternalError(DatabaseError):
    """Never raised."""


class ProgrammingError(DatabaseError):
    """A statement is refused, or fails."""


class NotSupportedError(DatabaseError):
    """What a gateway cannot do."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise the errors of PEP 249 in place of Firesteel's."""
    try:
        yield
    except ConfigurationError as error:
        raise InterfaceError(str(error)) from error
    except StateError as error:
        raise OperationalError(str(error)) from error
    except FiresteelError as error:
        raise ProgrammingError(str(error)) from error
