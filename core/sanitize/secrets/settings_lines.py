"""Recognize lines of settings files, where a value without quotes is a literal and no variable.

The neighbors show it: every line is a name with a value, a section or a comment, and one of them cannot be code.
"""

from __future__ import annotations

from collections.abc import Iterable

from upbeat.core import lazy_re as re

_NAME = re.compile(r"[ \t]*(?:-[ \t]+)?[\w.-]*\Z")
_SETTING = re.compile(
    r"""[ \t]*(?:(?:-[ \t]+)?[\w./-]+[ \t]*(?P<operator>[:=])(?P<value>[^"'`(){}\[\],;<>]*)
    | (?P<section>\[[\w. :-]+\]) | [\#;].* | ---)\r?""",
    re.VERBOSE,
)
_NO_CODE = {
    "=": re.compile(r"[ \t]*(?:/\S+|\d+(?:\.\d+){2,}\S*|[\w-]+://\S+)[ \t]*"),
    ":": re.compile(r"[ \t]*(?:[~/*\d]\S*|[\w-]+(?:[./-][\w-]+)+(?::\d+)?|true|false|yes|no|on|off)?[ \t]*"),
}
"""Values that are no code behind an operator; a colon without a value begins a level."""
_MAX_LENGTH = 400
"""Characters before and behind a line that are read."""
_BEFORE, _BEHIND = 6, 3
"""Lines before and behind that are read."""


def is_settings_line(text: str, name_start: int, end: int, link: str) -> bool:
    """Return whether the assignment from the line of ``name_start`` to ``end`` is one of a settings file.

    ``link`` stands between the name and the value.
    """
    if text[end : end + 1] not in ("", "\n", "\r"):
        return False
    start = text.rfind("\n", max(name_start - _MAX_LENGTH, 0), name_start) + 1
    if name_start - start > _MAX_LENGTH or not _NAME.match(text, start, name_start):
        return False
    behind = text[end : end + _MAX_LENGTH].split("\n")[1 : _BEHIND + 1]
    if link == "=":
        return not (behind and behind[0].lstrip()[:1] in (")", "]", "}"))
    before = text[max(start - _MAX_LENGTH, 0) : start].split("\n")[-_BEFORE - 1 : -1]
    return _has_proof(reversed(before)) or _has_proof(behind)


def _has_proof(lines: Iterable[str]) -> bool:
    """Return whether one of ``lines``, all of settings up to a blank one, cannot be code."""
    for line in lines:
        if not line.strip():
            return False
        setting = _SETTING.fullmatch(line)
        if setting is None:
            return False
        if setting["section"] or (setting["operator"] and _NO_CODE[setting["operator"]].fullmatch(setting["value"])):
            return True
    return False
