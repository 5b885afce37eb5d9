"""The life of a feature in ``specs/features``: where it stands, where it may go, and what a new one holds.

::

    backlog ──start──▶ in-progress ──pause──▶ paused
       ▲                   ▲                    │
       └──────backlog──────┴───────resume───────┘        every one of them ──archive──▶ archive/YYYY-MM-DD_name

Law: the folder that a feature stands in is its status; what its front matter says of that only repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .registry import Registry, Workflow, stage_of


class Status(StrEnum):
    """Where a feature stands."""

    IN_PROGRESS = "in-progress"
    PAUSED = "paused"
    BACKLOG = "backlog"
    ARCHIVED = "archived"


FEATURES = "specs/features"
FOLDERS: Mapping[Status, str] = {
    Status.IN_PROGRESS: f"{FEATURES}/in-progress",
    Status.PAUSED: f"{FEATURES}/paused",
    Status.BACKLOG: f"{FEATURES}/backlog",
    Status.ARCHIVED: f"{FEATURES}/archive",
}
LIVE = (Status.IN_PROGRESS, Status.PAUSED, Status.BACKLOG)


@dataclass(frozen=True, slots=True)
class Move:
    """One way to go, from any of ``origins`` to ``to``."""

    origins: tuple[Status, ...]
    to: Status
    help: str


MOVES: Mapping[str, Move] = {
    "start": Move((Status.BACKLOG,), Status.IN_PROGRESS, "take a feature out of the backlog and work on it"),
    "pause": Move((Status.IN_PROGRESS,), Status.PAUSED, "lay a feature aside for now"),
    "resume": Move((Status.PAUSED,), Status.IN_PROGRESS, "go on with a paused feature"),
    "backlog": Move((Status.IN_PROGRESS, Status.PAUSED), Status.BACKLOG, "put a feature back into the backlog"),
    "archive": Move(LIVE, Status.ARCHIVED, "put a feature away, with the date"),
}

MAX_NAME = 60
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ARCHIVED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})_(.+)")
_NO_WORD = re.compile(r"[^a-z0-9]+")


def name_problem(name: str) -> str:
    """Why ``name`` cannot be the name of a feature, with one that can; empty when it can."""
    if len(name) <= MAX_NAME and _NAME.fullmatch(name):
        return ""
    better = _NO_WORD.sub("-", name[: 4 * MAX_NAME].lower()).strip("-")[:MAX_NAME].strip("-")
    hint = f"; how about '{better}'?" if better else ""
    return f"a feature is named in lower case letters and digits with hyphens, at most {MAX_NAME}{hint}"


def is_feature(name: str) -> bool:
    """Whether ``name`` can be the name of a feature."""
    return not name_problem(name)


def refusal(verb: str, name: str, status: Status) -> str:
    """Why ``verb`` does nothing to a feature of that status, and what would; empty when it is its way to go."""
    move = MOVES[verb]
    if status in move.origins:
        return ""
    if status is move.to:
        return f"{name} is {status} already"
    ways = ", ".join(other for other, one in MOVES.items() if status in one.origins)
    return f"cannot {verb} {name}, which is {status}; from there: {ways or 'nowhere'}"


def archive_name(name: str, day: str, taken: Container[str]) -> str:
    """The folder of ``name`` in the archive: ``2026-01-02_name``, with ``-2`` and so on when that is taken."""
    wanted = f"{day}_{name}"
    number = 1
    found = wanted
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    return found


def archived(folder: str) -> tuple[str, str] | None:
    """(day, name) of a folder in the archive; None for a folder that is none of ours."""
    found = _ARCHIVED.fullmatch(folder)
    return (found[1], found[2]) if found and is_feature(found[2]) else None


def tasks_text(feature: str, workflow: Workflow, registry: Registry, status: Status, day: str, language: str) -> str:
    """A new ``tasks.md``: the front matter, and one box for each stage of the workflow."""
    lines = ["---", f"feature: {feature}", f"status: {status}", f"workflow: {workflow.name}", f"created: {day}", "---"]
    lines += ["", f"# {feature}", ""]
    for group in workflow.groups:
        mark = " (parallel)" if len(group) > 1 else ""
        for key in group:
            text = registry.stages[stage_of(key)].text
            said = text.get(language) or text.get("en", "")
            lines.append(f"- [ ] {key}{' — ' if said else ''}{said}{mark}")
    return "\n".join(lines) + "\n"


def bdd_text(feature: str, language: str) -> str:
    """A new ``bdd.md``: how behaviour is written down, as an example to replace."""
    about, scenario, given, when, then = _BEHAVIOUR.get(language, _BEHAVIOUR["en"])
    return f"# {feature}\n\n<!-- {about} -->\n\n## {scenario}\n\nGIVEN {given}  \nWHEN {when}  \nTHEN {then}\n"


_BEHAVIOUR = {
    "en": (
        "One scenario for each behaviour, in words that its user would use. What is not written here is not wanted.",
        "Scenario: the short name of one behaviour",
        "what is so before",
        "what somebody does",
        "what can be seen afterwards",
    ),
    "zh": (
        "每个行为一个场景，用用户的话写；没写在这里的就是不要的。",
        "场景：一个行为的简短名称",
        "事前的状态",
        "有人做了什么",
        "之后看得到什么",
    ),
}
