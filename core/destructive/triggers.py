"""The words without which a line is harmless: it is not parsed then.

Invariant: they come from the tables and detectors themselves, so that no rule is left out.
"""

from __future__ import annotations

from functools import cache

from upbeat.core import lazy_re as re
from upbeat.core.destructive import calls, git, services
from upbeat.core.destructive.detectors import HAZARD_DETECTORS
from upbeat.core.destructive.hazard import word_set
from upbeat.core.package_data import load_toml

_TOKEN = re.compile(r"[a-z0-9_]+")
_LINES = load_toml(__package__, "destructive_lines.toml")
_OTHER_WORDS = word_set(_LINES["words"])
_MARKS = re.compile("".join(_LINES["marks"]))
_WINDOWS_WORDS, _WINDOWS_MARKS = word_set(_LINES["windows"]), re.compile(_LINES["windows_marks"])
_QUOTING = str.maketrans("", "", "'\"\\^`")


def has_trigger(line: str) -> bool:
    """Return whether ``line`` may contain something destructive."""
    triggers, plain = trigger_words(), line.lower()
    if not triggers.isdisjoint(_TOKEN.findall(plain)) or _MARKS.search(plain):
        return True
    unquoted = plain.translate(_QUOTING)
    return unquoted != plain and not triggers.isdisjoint(_TOKEN.findall(unquoted))


def may_be_windows(line: str) -> bool:
    """Return whether ``line`` may be one of PowerShell or cmd that destroys something."""
    plain = line.lower().translate(_QUOTING)
    return bool(_WINDOWS_MARKS.search(line.lower())) or not _WINDOWS_WORDS.isdisjoint(_TOKEN.findall(plain))


@cache
def trigger_words() -> frozenset[str]:
    """Return the lower-case words of letters and digits, one of which each destructive line contains."""
    programs: set[str] = {*HAZARD_DETECTORS, *calls.table_programs(), *services.INTERPRETERS, *git.SUBCOMMANDS}
    programs.discard("git")  # one of its subcommands is in the line, too
    names = {max(_TOKEN.findall(program.lower()), key=len) for program in programs}
    return frozenset(names | calls.STRONG_VERBS | calls.WEAK_VERBS | _OTHER_WORDS)
