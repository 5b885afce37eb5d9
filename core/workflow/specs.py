"""The lifecycle of a feature in ``specs/features``: its status, its transitions, and its initial files.

::

    backlog ──start──▶ in-progress ──pause──▶ paused
       ▲                   ▲                    │
       └──────backlog──────┴───────resume───────┘        all ──archive──▶ archive/YYYY-MM-DD_name

Invariant: the folder of a feature determines its status; the front matter only repeats it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Mapping
from enum import StrEnum
from itertools import chain, count

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.workflow.registry import Registry, Workflow, localized_text, stage_of_step_key


class FeatureStatus(StrEnum):
    """The status of a feature."""

    IN_PROGRESS = "in-progress"
    PAUSED = "paused"
    BACKLOG = "backlog"
    ARCHIVED = "archived"


FEATURES_FOLDER = "specs/features"
STATUS_FOLDERS: Mapping[FeatureStatus, str] = {
    FeatureStatus.IN_PROGRESS: f"{FEATURES_FOLDER}/in-progress",
    FeatureStatus.PAUSED: f"{FEATURES_FOLDER}/paused",
    FeatureStatus.BACKLOG: f"{FEATURES_FOLDER}/backlog",
    FeatureStatus.ARCHIVED: f"{FEATURES_FOLDER}/archive",
}
LIVE_STATUSES = (FeatureStatus.IN_PROGRESS, FeatureStatus.PAUSED, FeatureStatus.BACKLOG)


@dataclass(frozen=True, slots=True)
class StatusTransition:
    """A transition from any of ``from_statuses`` to ``to_status``."""

    from_statuses: tuple[FeatureStatus, ...]
    to_status: FeatureStatus
    help: str


STATUS_TRANSITIONS: Mapping[str, StatusTransition] = {
    "start": StatusTransition(
        (FeatureStatus.BACKLOG,), FeatureStatus.IN_PROGRESS, "start work on a feature in the backlog"
    ),
    "pause": StatusTransition((FeatureStatus.IN_PROGRESS,), FeatureStatus.PAUSED, "pause a feature"),
    "resume": StatusTransition((FeatureStatus.PAUSED,), FeatureStatus.IN_PROGRESS, "resume a paused feature"),
    "backlog": StatusTransition(
        (FeatureStatus.IN_PROGRESS, FeatureStatus.PAUSED), FeatureStatus.BACKLOG, "move a feature back to the backlog"
    ),
    "archive": StatusTransition(LIVE_STATUSES, FeatureStatus.ARCHIVED, "archive a feature with the date"),
}

MAX_FEATURE_NAME_CHARS = 60
_WORD = r"(?:[a-z0-9]|[^\W\d_a-zA-Z])+"
"""Letters without a case, such as those of Chinese, are letters; other upper case ones are refused below."""
_NAME = re.compile(rf"{_WORD}(?:-{_WORD})*")
_ARCHIVED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})_(.+)")
_NON_NAME_CHARS = re.compile(r"(?:[^\w]|[_]|(?![0-9])\d)+")


def feature_name_problem(name: str) -> str:
    """Return why ``name`` is not a valid feature name, with a suggestion; empty if it is valid."""
    is_plain = name == name.lower() == unicodedata.normalize("NFC", name)
    if len(name) <= MAX_FEATURE_NAME_CHARS and is_plain and _NAME.fullmatch(name):
        return ""
    plain = unicodedata.normalize("NFC", name[: 4 * MAX_FEATURE_NAME_CHARS].lower())
    slug = _NON_NAME_CHARS.sub("-", plain).strip("-")
    slug = slug[:MAX_FEATURE_NAME_CHARS].strip("-")
    hint = f"; try '{slug}'" if slug else ""
    rule = f"at most {MAX_FEATURE_NAME_CHARS} lower case letters, digits and hyphens"
    return f"a feature name has {rule}{hint}"


def is_feature_name(name: str) -> bool:
    """Return whether ``name`` is a valid feature name."""
    return not feature_name_problem(name)


def transition_problem(transition: str, name: str, status: FeatureStatus) -> str:
    """Return why a feature of that status does not have the ``transition``; empty if it does."""
    move = STATUS_TRANSITIONS[transition]
    if status in move.from_statuses:
        return ""
    if status is move.to_status:
        return f"{name} is already {status}"
    possible = ", ".join(verb for verb, other in STATUS_TRANSITIONS.items() if status in other.from_statuses)
    return f"cannot {transition} {name}: its status is {status}; possible: {possible or 'nothing'}"


def archive_folder_name(name: str, day: str, existing: Container[str]) -> str:
    """Return the archive folder of ``name``: ``2026-01-02_name``, with ``-2`` and so on if that exists."""
    folder = f"{day}_{name}"
    numbered = (f"{folder}-{number}" for number in count(2))
    return next(candidate for candidate in chain([folder], numbered) if candidate not in existing)


def parse_archive_folder_name(folder: str) -> tuple[str, str] | None:
    """Return (day, name) of an archive folder; None for any other folder."""
    match = _ARCHIVED.fullmatch(folder)
    return (match[1], match[2]) if match and is_feature_name(match[2]) else None


def render_new_tasks(
    feature: str, workflow: Workflow, registry: Registry, status: FeatureStatus, day: str, language: str
) -> str:
    """Return a new ``tasks.md``: the front matter, and one checkbox per stage of the workflow."""
    lines = ["---", f"feature: {feature}", f"status: {status}", f"workflow: {workflow.name}", f"created: {day}", "---"]
    lines += ["", f"# {feature}", ""]
    for group in workflow.groups:
        mark = " (parallel)" if len(group) > 1 else ""
        for key in group:
            sentence = localized_text(registry.stages[stage_of_step_key(key)].text, language)
            lines.append(f"- [ ] {key}{' — ' if sentence else ''}{sentence}{mark}")
    return "\n".join(lines) + "\n"


def render_new_bdd(feature: str, language: str) -> str:
    """Return a new ``bdd.md`` with an example scenario to replace."""
    example = load_messages("workflow", language).group("new_bdd")
    steps = f"GIVEN {example['given']}  \nWHEN {example['when']}  \nTHEN {example['then']}\n"
    return f"# {feature}\n\n<!-- {example['about']} -->\n\n## {example['scenario']}\n\n{steps}"
