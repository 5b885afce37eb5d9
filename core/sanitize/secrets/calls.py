"""Find secrets among the arguments of functions that a table names: passwords, keys of signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from upbeat.core.package_data import load_rows
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.values import is_strongly_secret

_RANK = len(SECRET_FORMATS) + 3
_MAX_ARGUMENTS = 6
_CALL = re.compile(r"(?<![\w-])((?:\w{2,20}\.)?[a-z_][\w-]{2,40})=?\((?=[^)\n])|(?<=[({,\s])(auth=\()")
_ARGUMENT = re.compile(
    r"""[ \t\n]{0,40}(?:[a-z]{0,2}'(?P<single>[^'\n]{0,512})'|[a-z@$]{0,2}"(?P<double>(?:[^"\\\n]|\\.){0,512})"
    |`(?P<back>[^`\n]{0,512})`|[^,()\n"'`]{0,120}(?:\([^()\n]{0,60}\))?[^,()\n"'`]{0,40})
    [ \t\n]{0,40}(?P<end>[,)]|[ \t])?""",
    re.VERBOSE,
)


def _load_positions() -> dict[str, tuple[int, ...]]:
    positions: dict[str, tuple[int, ...]] = {}
    for names, numbers in load_rows(__package__, "calls.tsv"):
        for name in names.split("|"):
            positions[name] = positions.get(name, ()) + tuple(map(int, numbers.split()))
    return positions


_POSITIONS = _load_positions()


def find_in_calls(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield the arguments that are secrets.

    Raises:
        TooManyMatchesError: There are too many candidates.
    """
    for match in scan.find_matches(_CALL, "call", scan.lowered):
        name = match[1] or "auth"
        positions = _POSITIONS.get(name) or _POSITIONS.get(name.rpartition(".")[2])
        if not positions:
            continue
        arguments = _read_arguments(scan.text, match.end())
        for position in positions:
            if 0 < position <= len(arguments) or (position < 0 and arguments):
                bounds = arguments[position - 1 if position > 0 else position]
                if bounds and is_strongly_secret(scan.text[slice(*bounds)], is_user_chosen=True, is_literal=True):
                    yield SecretSpan(*bounds, _RANK, "password")


def _read_arguments(text: str, position: int) -> list[tuple[int, int] | None]:
    """Return the bounds of the literals among the arguments from ``position`` on; None for another argument."""
    arguments: list[tuple[int, int] | None] = []
    while len(arguments) < _MAX_ARGUMENTS and (argument := _ARGUMENT.match(text, position)):
        group = argument.lastgroup if argument.lastgroup != "end" else None
        group = group or next((name for name in ("single", "double", "back") if argument[name] is not None), None)
        arguments.append(argument.span(group) if group else None)
        position = argument.end()
        if argument["end"] != ",":
            break
    return arguments
