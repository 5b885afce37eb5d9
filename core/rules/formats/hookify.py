"""Parse the rules of hookify (``.claude/hookify.NAME.local.md``). Invariant: they match as they do in hookify.

An expression matches anywhere in the raw line, ignoring case, and a rule without a condition matches nothing. What is
not available here, such as the whole conversation, is reported as a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from upbeat.core.rules.formats.front_matter import parse_front_matter as read_front_matter
from upbeat.core.rules.formats.markdown import MAX_ITEMS, MAX_TEXT_CHARS, RuleFile, RuleFileParser, sanitize_rule_text
from upbeat.core.rules.pattern import Pattern
from upbeat.core.rules.rule import Action, Condition, MatchTarget, Owner, Rule
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.settings_layers import did_you_mean, format_value


@dataclass(frozen=True, slots=True)
class _Event:
    """A hookify event as a rule event. ``default_field`` is the target of a pattern without a field."""

    event: str
    tools: frozenset[str]
    fields: Mapping[str, MatchTarget]
    default_field: str
    actions: Mapping[str, Action]


_NEW_TEXT_FIELDS = dict.fromkeys(("new_text", "new_string", "content"), MatchTarget.CONTENT)
_OLD_TEXT_FIELDS = dict.fromkeys(("old_text", "old_string"), MatchTarget.OLD_CONTENT)
_EVENTS: Mapping[str, _Event] = {
    "bash": _Event(
        "before-tool",
        frozenset({"shell"}),
        {"command": MatchTarget.RAW_COMMAND},
        "command",
        {"warn": Action.TELL, "ask": Action.ASK, "block": Action.DENY},
    ),
    "file": _Event(
        "before-tool",
        frozenset({"edit", "write"}),
        {"file_path": MatchTarget.PATH, **_NEW_TEXT_FIELDS, **_OLD_TEXT_FIELDS},
        "new_text",
        {"warn": Action.TELL, "ask": Action.ASK, "block": Action.DENY},
    ),
    "prompt": _Event("prompt", frozenset(), {"user_prompt": MatchTarget.PROMPT}, "user_prompt", {"warn": Action.TELL}),
    "stop": _Event(
        "turn-end", frozenset(), {"reason": MatchTarget.OUTPUT}, "reason", {"warn": Action.TELL, "block": Action.DENY}
    ),
}
_KEYS = ("name", "enabled", "event", "pattern", "conditions", "action", "tool_matcher", "message")
_ACTIONS = ("warn", "ask", "block")
_OPERATORS = ("regex_match", "contains", "equals", "not_contains", "starts_with", "ends_with")
_ALL = "all"


def parse_hookify_file(text: str, name: str, file: str, owner: Owner) -> RuleFile:
    """Parse the rules in ``text``; a rule for all events becomes one for each event that has its fields."""
    front = read_front_matter(text, is_raw=True)
    reading = RuleFileParser(file, front)
    if not front.is_present:
        return RuleFile((), (f"{file}:1: has no front matter",))
    for key in front.values:
        if key not in _KEYS:
            reading.add_problem(key, f"unknown key {format_value(key)}{did_you_mean(key, _KEYS)}")
    event = _parse_choice(reading, "event", (*_EVENTS, _ALL), _ALL)
    action = _parse_choice(reading, "action", _ACTIONS, "warn")
    called = strip_controls(reading.get_text("name") or name).replace("\n", " ")[:80]
    if not front.body:
        reading.add_problem("name", "the rule has no text; write it below the second ---")
    if len(front.body) > MAX_TEXT_CHARS:
        reading.add_problem("name", f"the text is longer than {MAX_TEXT_CHARS} characters")
    told = _parse_conditions(reading, event)
    kinds = tuple(_EVENTS) if event == _ALL else (event,) if event else ()
    matcher = frozenset(reading.get_text("tool_matcher").replace("*", "").split("|")) - {""}
    rules = []
    for kind in kinds:
        one = _EVENTS[kind]
        held = tuple((one.fields.get(field or one.default_field), operator, source) for field, operator, source in told)
        if not held or any(where is None for where, _, _ in held):
            continue
        rules.append(
            Rule(
                name=called,
                event=one.event,
                action=one.actions.get(action, Action.TELL),
                text=sanitize_rule_text(front.body, owner),
                file=file,
                line=min(front.line_numbers.values(), default=1),
                tools=matcher if matcher and one.tools else one.tools,
                conditions=tuple(
                    _build_condition(where, operator, source) for where, operator, source in held if where
                ),
                owner=owner,
                is_foreign=True,
                is_enabled=reading.get_flag("enabled", True),
            )
        )
    if told and not rules and not reading.problems:
        reading.add_problem("conditions", f"no event has all of the fields: {', '.join(field for field, _, _ in told)}")
    problems = reading.format_problems()
    return RuleFile(() if problems else tuple(rules), problems)


def _parse_choice(parser: RuleFileParser, key: str, choices: tuple[str, ...], default: str) -> str:
    text = parser.get_text(key) or default
    if text in choices:
        return text
    parser.add_problem(
        key, f"{key} takes {', '.join(choices)}; found {format_value(text)}{did_you_mean(text, choices)}"
    )
    return ""


def _parse_conditions(parser: RuleFileParser, event: str) -> list[tuple[str, str, str]]:
    """Return (field, operator, source) for each condition; an empty field for a pattern without one."""
    raw = parser.front_matter.values.get("conditions", "")
    found: list[tuple[str, str, str]] = []
    known = {field for name, one in _EVENTS.items() if event in (name, _ALL, "") for field in one.fields}
    for one in (raw if isinstance(raw, list) else [])[:MAX_ITEMS]:
        told = {key: value for key, value in one.items() if isinstance(value, str)} if isinstance(one, dict) else {}
        field, operator = told.get("field", ""), told.get("operator", _OPERATORS[0])
        if field not in known:
            parser.add_problem(
                "conditions", f"field {format_value(field)} is not available at {event}{did_you_mean(field, known)}"
            )
        elif operator not in _OPERATORS:
            parser.add_problem(
                "conditions", f"unknown operator {format_value(operator)}{did_you_mean(operator, _OPERATORS)}"
            )
        else:
            found.append((field, operator, told.get("pattern", "")))
    if not raw and (source := parser.get_text("pattern")):
        found.append(("", _OPERATORS[0], source))
    if not found and not parser.problems:
        parser.add_problem("pattern", "the rule has neither a pattern nor conditions, so it would match nothing")
    for _field, operator, source in found:
        if operator == _OPERATORS[0]:
            parser.join_patterns("conditions" if raw else "pattern", (source,))
    return found


def _build_condition(target: MatchTarget, operator: str, source: str) -> Condition:
    if operator == "regex_match":
        return Condition(target, Pattern(source, ignores_case=True))
    import re2

    text = re2.escape(source)
    begins = "\\A" if operator in ("starts_with", "equals") else ""
    ends = "\\z" if operator in ("ends_with", "equals") else ""
    return Condition(target, Pattern(f"{begins}{text}{ends}"), is_negated=operator == "not_contains")
