"""What a tool was asked for: arguments checked before anything is opened.

Law: every reader takes its argument out, so that ``nothing_else`` can name what is left. A failure says what the
argument takes.
"""

from __future__ import annotations

import os
from typing import Any

from ...core.contract.codes import ErrorCode
from ...core.errors import ToolFailure

MAX_QUERY = 8_000
MAX_NAMED = 50
MAX_TRACE = 20_000

Arguments = dict[str, Any]


def invalid(message: str) -> ToolFailure:
    return ToolFailure(ErrorCode.INVALID_ARGS, message)


def text(args: Arguments, name: str = "query", *, may_lack: bool = False, most: int = MAX_QUERY) -> str:
    """A text that is not blank; with ``may_lack`` empty when it is missing."""
    value = args.pop(name, "" if may_lack else None)
    if not isinstance(value, str) or not (value.strip() or may_lack):
        raise invalid(f"{name} takes a text that is not empty")
    return value[:most]


def number(args: Arguments, name: str, most: int, least: int = 1) -> int:
    """A whole number from ``least`` to ``most``; ``most`` when it is missing."""
    value = args.pop(name, most)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise invalid(f"{name} takes a whole number from {least} to {most}; found {value!r}")
    return value


def texts(args: Arguments, name: str, longest: int = MAX_QUERY) -> tuple[str, ...]:
    """The texts of a list that are not blank."""
    values = args.pop(name, ())
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise invalid(f"{name} takes a list of texts; found {values!r}")
    return tuple(value[:longest] for value in values if value.strip())[:MAX_NAMED]


def choice(args: Arguments, name: str, values: tuple[str, ...]) -> str:
    """One of ``values``; the last one when it is missing."""
    value = args.pop(name, values[-1])
    if value not in values:
        raise invalid(f"{name} takes {', '.join(values)}; found {value!r}")
    return str(value)


def paths(args: Arguments, name: str, root: str) -> tuple[str, ...]:
    """Paths relative to ``root``."""
    return tuple(inside(root, path) for path in texts(args, name))


def inside(root: str, path: str) -> str:
    """``path`` relative to ``root``; a failure when it leads out of it."""
    if "\0" in path:
        raise invalid("files takes paths; one has a NUL character")
    try:
        real = os.path.realpath(os.path.join(root, path))
    except UnicodeEncodeError:
        raise invalid("files takes paths; one has half of a character") from None
    base = root.rstrip("/") + "/"
    if real != root and not real.startswith(base):
        raise invalid(f"{path} lies outside of the repository")
    return os.path.relpath(os.path.normpath(os.path.join(root, path)), root)


def nothing_else(args: Arguments) -> None:
    if args:
        raise invalid(f"unknown arguments: {', '.join(sorted(map(str, args)))}")
