"""The owner of the code of a traceback's frame: Firesteel, the standard library, an installed package, or the user.

File names are compared as Python wrote them into the code: relative or absolute. A module imported from a zip archive
may have a relative name. Firesteel itself has one on the workers of a cluster, whose working directory may change
later.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from typing import Final

_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - a Path drops the leading "./"
_ENGINE: Final = (_PACKAGE, os.path.join(os.path.abspath(_PACKAGE), ""))  # noqa: PTH100, PTH118
_STANDARD: Final = sysconfig.get_path("stdlib") + os.sep
_INSTALLED: Final = ("site-packages", "dist-packages")


def is_engine(file: str) -> bool:
    """Return whether code of this file is Firesteel's.

    >>> is_engine(__file__), is_engine("job.py")
    (True, False)
    """
    return file.startswith(_ENGINE)


def is_standard(file: str) -> bool:
    """Return whether code of this file is the standard library's.

    >>> import json
    >>> is_standard(json.__file__), is_standard("<frozen importlib._bootstrap>"), is_standard("job.py")
    (True, True, False)
    """
    if file.startswith("<frozen "):
        return True
    return file.startswith(_STANDARD) and not any(part in file for part in _INSTALLED)


def is_installed(file: str, packages: Iterable[str]) -> bool:
    """Return whether code of this file belongs to an installed copy of one of these packages.

    >>> is_installed("/usr/lib/python3/dist-packages/py4j/protocol.py", ("py4j", "pyspark"))
    True
    """
    return any(
        f"{os.sep}{place}{os.sep}{package}{os.sep}" in file for place in _INSTALLED for package in packages
    )
