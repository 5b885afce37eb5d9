"""Parse the rules of hookify (``.claude/hookify.NAME.local.md``). Invariant: they match as they do in hookify.

An expression matches anywhere in the raw line, ignoring case, and a rule without a condition matches nothing. What is
not available here, such as the whole conversation, is reported as a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from upbeat.core.rules.formats.front_matter import parse_front_matter
from upbeat.core.rules.formats.markdown import MAX_ITEMS, RuleFile, RuleFileParser, sanitize_rule_text
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
    front = parse_front_matter(text, is_raw=True)
    parser = RuleFileParser(file, front)
    if not front.is_present:
        return RuleFile((), (f"{file}:1: has no front matter",))
    parser.check_keys(_KEYS)
    event = parser.get_choice("event", (*_EVENTS, _ALL), _ALL)
    action = parser.get_choice("action", _ACTIONS, "warn")
    parser.check_body("name")
    conditions = _parse_conditions(parser, event)
    events = tuple(_EVENTS) if event == _ALL else (event,) if event else ()
    matcher = frozenset(parser.get_text("tool_matcher").replace("*", "").split("|")) - {""}
    rules = []
    for kind in map(_EVENTS.__getitem__, events):
        targets = [kind.fields.get(field or kind.default_field) for field, _, _ in conditions]
        if not targets or None in targets:
            continue
        rules.append(
            Rule(
                name=strip_controls(parser.get_text("name") or name).replace("\n", " ")[:80],
                event=kind.event,
                action=kind.actions.get(action, Action.TELL),
                text=sanitize_rule_text(front.body, owner),
                file=file,
                line=min(front.line_numbers.values(), default=1),
                tools=matcher if matcher and kind.tools else kind.tools,
                conditions=tuple(
                    _build_condition(target, operator, source)
                    for target, (_, operator, source) in zip(targets, conditions, strict=True)
                    if target
                ),
                owner=owner,
                is_foreign=True,
                is_enabled=parser.get_flag("enabled", True),
            )
        )
    if conditions and not rules and not parser.problems:
        fields = ", ".join(field for field, _, _ in conditions)
        parser.add_problem("conditions", f"no event has all of the fields: {fields}")
    problems = parser.format_problems()
    return RuleFile(() if problems else tuple(rules), problems)


def _parse_conditions(parser: RuleFileParser, event: str) -> list[tuple[str, str, str]]:
    """Return (field, operator, source) for each condition; an empty field for a pattern without one."""
    raw = parser.front_matter.values.get("conditions", "")
    conditions: list[tuple[str, str, str]] = []
    known = {field for name, kind in _EVENTS.items() if event in (name, _ALL, "") for field in kind.fields}
    for item in (raw if isinstance(raw, list) else [])[:MAX_ITEMS]:
        texts = {key: value for key, value in item.items() if isinstance(value, str)} if isinstance(item, dict) else {}
        field, operator = texts.get("field", ""), texts.get("operator", _OPERATORS[0])
        if field not in known:
            parser.add_problem(
                "conditions", f"field {format_value(field)} is not available at {event}{did_you_mean(field, known)}"
            )
        elif operator not in _OPERATORS:
            parser.add_problem(
                "conditions", f"unknown operator {format_value(operator)}{did_you_mean(operator, _OPERATORS)}"
            )
        else:
            conditions.append((field, operator, texts.get("pattern", "")))
    if not raw and (source := parser.get_text("pattern")):
        conditions.append(("", _OPERATORS[0], source))
    if not conditions and not parser.problems:
        parser.add_problem("pattern", "the rule has neither a pattern nor conditions, so it would match nothing")
    for _field, operator, source in conditions:
        if operator == _OPERATORS[0]:
            parser.join_patterns("conditions" if raw else "pattern", (source,))
    return conditions


def _build_condition(target: MatchTarget, operator: str, source: str) -> Condition:
    if operator == "regex_match":
        return Condition(target, Pattern(source, ignores_case=True))
    import re2

    text = re2.escape(source)
    begins = "\\A" if operator in ("starts_with", "equals") else ""
    ends = "\\z" if operator in ("ends_with", "equals") else ""
    return Condition(target, Pattern(f"{begins}{text}{ends}"), is_negated=operator == "not_contains")
