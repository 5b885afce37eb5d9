"""Reads the rules of hookify (``.claude/hookify.NAME.local.md``) as ours. Law: they match as they do there.

There an expression may match anywhere in the raw line, whatever the case of letters is, and a rule without a
condition matches nothing. What cannot be had here, such as a look into the whole conversation, is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..contract.event import ClientName
from ..layers import did_you_mean, shown
from ..turn.strip import strip
from .front_matter import read as read_front_matter
from .pattern import Pattern
from .rule import Action, Condition, Owner, Rule, Where
from .rule_file import MAX_ITEMS, MAX_TEXT, Reading, RuleFile, shown_text


@dataclass(frozen=True, slots=True)
class _Event:
    """One of its events in our words. ``plain`` is what a pattern without a field is held against."""

    event: str
    tools: frozenset[str]
    fields: Mapping[str, Where]
    plain: str
    actions: Mapping[str, Action]


_TEXT = dict.fromkeys(("new_text", "new_string", "content"), Where.CONTENT)
_OLD = dict.fromkeys(("old_text", "old_string"), Where.BEFORE)
_EVENTS: Mapping[str, _Event] = {
    "bash": _Event(
        "before-tool",
        frozenset({"shell"}),
        {"command": Where.LINE},
        "command",
        {"warn": Action.TELL, "ask": Action.ASK, "block": Action.DENY},
    ),
    "file": _Event(
        "before-tool",
        frozenset({"edit", "write"}),
        {"file_path": Where.PATH, **_TEXT, **_OLD},
        "new_text",
        {"warn": Action.TELL, "ask": Action.ASK, "block": Action.DENY},
    ),
    "prompt": _Event("prompt", frozenset(), {"user_prompt": Where.PROMPT}, "user_prompt", {"warn": Action.TELL}),
    "stop": _Event(
        "turn-end", frozenset(), {"reason": Where.OUTPUT}, "reason", {"warn": Action.TELL, "block": Action.DENY}
    ),
}
_KEYS = ("name", "enabled", "event", "pattern", "conditions", "action", "tool_matcher", "message")
_ACTIONS = ("warn", "ask", "block")
_OPERATORS = ("regex_match", "contains", "equals", "not_contains", "starts_with", "ends_with")
_ALL = "all"


def read(text: str, name: str, file: str, owner: Owner) -> RuleFile:
    """The rules in ``text``; of one for all events there is one for each that its condition can be had at."""
    front = read_front_matter(text, is_raw=True)
    reading = Reading(file, front)
    if not front.is_there:
        return RuleFile((), (f"{file}:1: begins with no front matter",))
    for key in front.values:
        if key not in _KEYS:
            reading.wrong(key, f"unknown key {shown(key)}{did_you_mean(key, _KEYS)}")
    event = _choice(reading, "event", (*_EVENTS, _ALL), _ALL)
    action = _choice(reading, "action", _ACTIONS, "warn")
    called = strip(reading.text("name") or name).replace("\n", " ")[:80]
    if not front.body:
        reading.wrong("name", "says nothing: its text stands below the second ---")
    if len(front.body) > MAX_TEXT:
        reading.wrong("name", f"its text is longer than {MAX_TEXT} characters")
    told = _conditions(reading, event)
    kinds = tuple(_EVENTS) if event == _ALL else (event,) if event else ()
    matcher = frozenset(reading.text("tool_matcher").replace("*", "").split("|")) - {""}
    rules = []
    for kind in kinds:
        one = _EVENTS[kind]
        held = tuple((one.fields.get(field or one.plain), operator, source) for field, operator, source in told)
        if not held or any(where is None for where, _, _ in held):
            continue
        rules.append(
            Rule(
                name=called,
                event=one.event,
                action=one.actions.get(action, Action.TELL),
                text=shown_text(front.body, owner),
                file=file,
                line=min(front.lines.values(), default=1),
                tools=matcher if matcher and one.tools else one.tools,
                conditions=tuple(_condition(where, operator, source) for where, operator, source in held if where),
                owner=owner,
                clients=frozenset({ClientName.CODEX_CLI}),
                is_borrowed=True,
                is_enabled=reading.flag("enabled", True),
            )
        )
    if told and not rules and not reading.problems:
        reading.wrong("conditions", f"no event has all of the fields: {', '.join(field for field, _, _ in told)}")
    problems = reading.sentences()
    return RuleFile(() if problems else tuple(rules), problems)


def _choice(reading: Reading, key: str, choices: tuple[str, ...], default: str) -> str:
    text = reading.text(key) or default
    if text in choices:
        return text
    reading.wrong(key, f"{key} takes {', '.join(choices)}; found {shown(text)}{did_you_mean(text, choices)}")
    return ""


def _conditions(reading: Reading, event: str) -> list[tuple[str, str, str]]:
    """(field, operator, source) of each condition; the field is empty for a pattern that names none."""
    raw = reading.front.values.get("conditions", "")
    found: list[tuple[str, str, str]] = []
    known = {field for name, one in _EVENTS.items() if event in (name, _ALL, "") for field in one.fields}
    for one in (raw if isinstance(raw, list) else [])[:MAX_ITEMS]:
        told = {key: value for key, value in one.items() if isinstance(value, str)} if isinstance(one, dict) else {}
        field, operator = told.get("field", ""), told.get("operator", _OPERATORS[0])
        if field not in known:
            reading.wrong("conditions", f"field {shown(field)} is not to be had at {event}{did_you_mean(field, known)}")
        elif operator not in _OPERATORS:
            reading.wrong("conditions", f"unknown operator {shown(operator)}{did_you_mean(operator, _OPERATORS)}")
        else:
            found.append((field, operator, told.get("pattern", "")))
    if not raw and (source := reading.text("pattern")):
        found.append(("", _OPERATORS[0], source))
    if not found and not reading.problems:
        reading.wrong("pattern", "has neither a pattern nor conditions, and matches nothing")
    for _field, operator, source in found:
        if operator == _OPERATORS[0]:
            reading.expression("conditions" if raw else "pattern", (source,))
    return found


def _condition(where: Where, operator: str, source: str) -> Condition:
    if operator == "regex_match":
        return Condition(where, Pattern(source, ignores_case=True))
    import re2

    text = re2.escape(source)
    begins = "\\A" if operator in ("starts_with", "equals") else ""
    ends = "\\z" if operator in ("ends_with", "equals") else ""
    return Condition(where, Pattern(f"{begins}{text}{ends}"), is_absent=operator == "not_contains")
