"""Checks the arguments of a tool before any file is opened.

Invariant: every function removes its argument, so that ``reject_unknown`` can name the rest. A failure says what the
argument accepts.
"""

from __future__ import annotations

import os
from typing import Any

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure

MAX_QUERY_CHARS = 8_000
MAX_LIST_ITEMS = 50
MAX_TRACE_CHARS = 20_000

Arguments = dict[str, Any]


def invalid_argument(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.INVALID_ARGS, message)


def pop_text(
    args: Arguments, name: str = "query", *, is_optional: bool = False, max_chars: int = MAX_QUERY_CHARS
) -> str:
    """Remove and return a text that is not blank; if ``is_optional``, a missing one is empty."""
    value = args.pop(name, "" if is_optional else None)
    if not isinstance(value, str) or not (value.strip() or is_optional):
        raise invalid_argument(f"{name} takes a text that is not empty")
    return value[:max_chars]


def pop_integer(args: Arguments, name: str, maximum: int, minimum: int = 1) -> int:
    """Remove and return an integer from ``minimum`` to ``maximum``, the default."""
    value = args.pop(name, maximum)
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        raise invalid_argument(f"{name} takes a whole number from {minimum} to {maximum}; found {value!r}")
    return value


def pop_texts(args: Arguments, name: str, max_chars: int = MAX_QUERY_CHARS) -> tuple[str, ...]:
    """Remove and return the texts of a list that are not blank."""
    values = args.pop(name, ())
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise invalid_argument(f"{name} takes a list of texts; found {values!r}")
    return tuple(value[:max_chars] for value in values if value.strip())[:MAX_LIST_ITEMS]


def pop_choice(args: Arguments, name: str, values: tuple[str, ...]) -> str:
    """Remove and return one of ``values``; the last is the default."""
    value = args.pop(name, values[-1])
    if value not in values:
        raise invalid_argument(f"{name} takes {', '.join(values)}; found {value!r}")
    return str(value)


def pop_paths(args: Arguments, name: str, root: str) -> tuple[str, ...]:
    """Remove and return paths, relative to ``root``."""
    return tuple(path_inside_root(root, path) for path in pop_texts(args, name))


def path_inside_root(root: str, path: str) -> str:
    """Return ``path`` relative to ``root``; raise ``ToolFailure`` if it is outside."""
    if "\0" in path:
        raise invalid_argument("files takes paths; one has a NUL character")
    try:
        real = os.path.realpath(os.path.join(root, path))
    except UnicodeEncodeError:
        raise invalid_argument("files takes paths; one has a lone surrogate") from None
    base = root.rstrip("/") + "/"
    if real != root and not real.startswith(base):
        raise invalid_argument(f"{path} lies outside of the repository")
    return os.path.relpath(os.path.normpath(os.path.join(root, path)), root)


def reject_unknown(args: Arguments) -> None:
    if args:
        raise invalid_argument(f"unknown arguments: {', '.join(sorted(map(str, args)))}")
