"""Read the data files that are part of the package: phrases, messages, secret formats.

Invariant: this is the only module of ``core`` that reads a file, and it reads only files of this package. Like an
import, it gives the same result on every machine; everything else that ``core`` needs comes in through a port.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import Any

import tomli


def load_bytes(package: str, name: str) -> bytes:
    """Return the content of the file ``name`` that lies beside the modules of ``package``.

    Raises:
        FileNotFoundError: The package has no such file.
    """
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{package} has no data file {name}")
    return data


@cache
def load_text(package: str, name: str) -> str:
    """Return the text of the file ``name`` that lies beside the modules of ``package``.

    Raises:
        FileNotFoundError: The package has no such file.
    """
    return load_bytes(package, name).decode("utf-8")


@cache
def load_toml(package: str, name: str) -> dict[str, Any]:
    """Return the TOML file ``name`` that lies beside the modules of ``package``. Treat the result as read-only."""
    return tomli.loads(load_text(package, name))


def load_rows(package: str, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a tab-separated file; blank lines and lines that begin with ``#`` are comments."""
    lines = load_text(package, name).splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line.strip() and not line.startswith("#"))


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML document; empty if it is invalid."""
    try:
        return tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError):
        return {}
