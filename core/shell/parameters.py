"""Expand ``${NAME…}`` with what the line says about its variables.

Invariant: a variable that the line does not set stays as written, except that a default takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import translate

from upbeat.core import lazy_re as re

_EXPANSION = re.compile(r"\$(?:\{([!#]?)(\w+|[@*])(?:\[([@*])\])?(.*)\}|(\w+|[@*]))", re.DOTALL)
_ENVIRONMENT = frozenset({"HOME", "PWD", "USER", "OLDPWD", "TMPDIR", "PATH", "SHELL"})
"""Variables that are always set: their default is not used."""


def expand_parameter(source: str, variables: Mapping[str, str]) -> str | None:
    """Return what the expansion ``source`` becomes; None if the line does not say."""
    found = _EXPANSION.fullmatch(source)
    if found is None or found[1]:
        return None
    name, operation = found[2] or found[5], found[4] or ""
    value = variables.get(name)
    if name in _ENVIRONMENT and value is None:
        value = f"${name}" if operation else None
    if value is None or (not value and operation.startswith(":")):
        default = re.match(r":?[-=](.*)", operation, re.DOTALL)
        return default[1].strip("\"'") if default and default[1].strip("\"'") else value
    return _apply(value, operation)


def _apply(value: str, operation: str) -> str | None:
    if not operation or re.match(r":?[-=?]", operation):
        return value
    if trimmed := re.match(r"(%%?|##?)(.*)", operation, re.DOTALL):
        return _trim(value, trimmed[1], trimmed[2].strip("\"'"))
    if replaced := re.fullmatch(r"(//?)([^/]*)/?(.*)", operation, re.DOTALL):
        return value.replace(replaced[2], replaced[3], -1 if replaced[1] == "//" else 1) if replaced[2] else value
    if part := re.fullmatch(r":(\d+)(?::(\d+))?", operation):
        start = int(part[1])
        return value[start : start + int(part[2]) if part[2] else None]
    return None


def _trim(value: str, operator: str, pattern: str) -> str:
    """Return ``value`` without the shortest (``%``, ``#``) or longest part at its end or start that matches."""
    if operator.startswith("%") and value.startswith("$"):  # the environment's: at least its last folder is cut
        return f"{value}/.."
    matches = re.compile(translate(pattern)).fullmatch
    if operator.startswith("%"):
        cuts = range(len(value) + 1) if operator == "%%" else range(len(value), -1, -1)
        return next((value[:at] for at in cuts if matches(value[at:])), value)
    cuts = range(len(value), -1, -1) if operator == "##" else range(len(value) + 1)
    return next((value[at:] for at in cuts if matches(value[:at])), value)
