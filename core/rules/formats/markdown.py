"""Parse one rule file: front matter and a text become a rule, or a list of all problems.

Invariant: parsing never raises. A file with a problem has no valid rule; if its event and action are known, it stays as
a rule that cannot be evaluated, so that ``fail: closed`` still applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from upbeat.core.contract.event import ClientName, ToolKind
from upbeat.core.rules import globs, pattern
from upbeat.core.rules.formats.front_matter import FrontMatter, parse_front_matter
from upbeat.core.rules.globs import Globs
from upbeat.core.rules.pattern import Pattern
from upbeat.core.rules.rule import (
    CONFIGURABLE_TARGETS,
    RULE_EVENTS,
    Action,
    Condition,
    FailMode,
    MatchTarget,
    Owner,
    Rule,
)
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.redact import redact
from upbeat.core.settings_layers import MAX_PROBLEMS, did_you_mean, format_value

MAX_TEXT_CHARS = 5000
"""Maximum characters of a rule's text; longer texts do not fit into a turn."""
MAX_ITEMS = 100
"""Maximum entries of one key."""

TOOL_KINDS = tuple(kind.value for kind in ToolKind if kind is not ToolKind.OTHER)
CLIENTS = (ClientName.CLAUDE_CODE, ClientName.CODEX_CLI)


@dataclass(frozen=True, slots=True)
class RuleKey:
    """One key of a rule file, and a description of its values."""

    doc: str
    accepted_values: str
    default: str


RULE_KEYS: Mapping[str, RuleKey] = {
    "event": RuleKey(
        "The event at which the rule is evaluated.", ", ".join(f"`{name}`" for name in RULE_EVENTS), "required"
    ),
    "action": RuleKey("What the rule does if it matches.", ", ".join(f"`{action}`" for action in Action), "required"),
    "tool": RuleKey(
        "The kind of the called tool, whatever the client calls it, or the name of a client's own tool. A name that "
        "ends in `*` is a prefix (`mcp__github__*`). A list matches any of its entries.",
        ", ".join(f"`{kind}`" for kind in TOOL_KINDS) + ", a tool name",
        "every tool",
    ),
    "paths": RuleKey(
        "The files that the call reads or changes, as globs of a `.gitignore`: `*.ts` matches at any depth, `src/*.ts` "
        "in that folder, `docs` everything in it, `{a,b}` either of the two; `!` excludes files. Globs are relative to "
        "the repository; a file outside it is matched by its absolute path.",
        "globs, separated by commas or as a list",
        "every call, even without files",
    ),
    "pattern": RuleKey(
        "A regular expression (RE2), in single quotes or without quotes. A list matches if any of its entries does.",
        "a regular expression",
        "any text",
    ),
    "where": RuleKey(
        "The text that the pattern is matched against.",
        ", ".join(f"`{where}`" for where in CONFIGURABLE_TARGETS),
        "`command` for `tool: shell`, `content` for `edit` and `write`, `path` for `read`, `prompt` for `delegate`; at "
        "an event with only one value, that value",
    ),
    "fail": RuleKey(
        "What happens if the rule cannot be evaluated: nothing (`open`), or the same as if it matched (`closed`).",
        "`open`, `closed`",
        "`open`",
    ),
    "once": RuleKey(
        "For `tell` and `inject`: show the text once per session, and again after a compaction.",
        "`true`, `false`",
        "`false`",
    ),
    "clients": RuleKey("The clients in which the rule applies.", ", ".join(f"`{client}`" for client in CLIENTS), "all"),
    "enabled": RuleKey("Whether the rule is active.", "`true`, `false`", "`true`"),
    "description": RuleKey("What the rule is for; `upbeat rules list` shows it.", "text", "none"),
}
"""The keys of rule files; checks and documentation are generated from them."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of a file (usually one), and its problems: a sentence with line and key for each."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class RuleFileParser:
    """Parses one file and collects its problems. ``file`` is the name in messages."""

    file: str
    front_matter: FrontMatter
    problems: list[tuple[int, str]] = field(default_factory=list)

    def add_problem(self, key: str, message: str) -> None:
        """Add a problem of ``key``."""
        self.problems.append((self.front_matter.line_numbers.get(key, 1), message))

    def format_problems(self) -> tuple[str, ...]:
        """Return the problems, line by line."""
        problems = sorted({*self.front_matter.problems, *self.problems})[:MAX_PROBLEMS]
        return tuple(f"{self.file}:{line}: {sentence}" for line, sentence in problems)

    def get_text(self, key: str) -> str:
        """Return the text of ``key``; empty if it is missing."""
        value = self.front_matter.values.get(key, "")
        if not isinstance(value, str):
            self.add_problem(key, f"{key} takes a text; found {format_value(value)}")
            return ""
        return value.strip()

    def get_texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of ``key``, a single text or a list."""
        value = self.front_matter.values.get(key, "")
        items = value if isinstance(value, list) else [value]
        texts = tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
        if not all(isinstance(item, str) for item in items):
            self.add_problem(key, f"{key} takes texts; found {format_value(value)}")
        if len(texts) > MAX_ITEMS:
            self.add_problem(key, f"{key} has more than {MAX_ITEMS} entries")
        return texts[:MAX_ITEMS]

    def get_flag(self, key: str, default: bool) -> bool:
        """Return whether ``key`` is true."""
        text = self.get_text(key).lower()
        if text in ("true", "yes", "on"):
            return True
        if text not in ("", "false", "no", "off"):
            self.add_problem(key, f"{key} takes true or false; found {format_value(text)}")
        return default if not text else False

    def get_choice(self, key: str, choices: Iterable[str], default: str = "") -> str:
        """Return the value of ``key``, or ``default`` if it is missing; empty if it is none of ``choices``."""
        text = self.get_text(key)
        if not text and not default and isinstance(self.front_matter.values.get(key, ""), str):
            self.add_problem(key, f"{key} is required; use one of {', '.join(choices)}")
        return self.check_choice(key, text, choices) if text else default

    def check_choice(self, key: str, text: str, choices: Iterable[str]) -> str:
        """Return ``text``; empty if it is none of ``choices``."""
        if text in choices:
            return text
        hint = did_you_mean(text, choices)
        self.add_problem(key, f"{key} takes {', '.join(choices)}; found {format_value(text)}{hint}")
        return ""

    def check_keys(self, keys: Iterable[str]) -> None:
        """Add a problem for each key that is none of ``keys``."""
        for key in self.front_matter.values:
            if key not in keys:
                self.add_problem(key, f"unknown key {format_value(key)}{did_you_mean(key, keys)}")

    def check_body(self, key: str) -> None:
        """Add a problem of ``key`` if the text of the rule is missing or too long."""
        if not self.front_matter.body:
            self.add_problem(key, "the rule has no text; write it below the second ---")
        if len(self.front_matter.body) > MAX_TEXT_CHARS:
            self.add_problem(key, f"the text is longer than {MAX_TEXT_CHARS} characters")

    def join_patterns(self, key: str, sources: tuple[str, ...]) -> str:
        """Join ``sources`` into one alternative pattern."""
        wrong = [(source, problem) for source in sources if (problem := pattern.find_pattern_problem(source))]
        for source, problem in wrong:
            self.add_problem(key, f"{key} {format_value(source)} {problem}")
        whole = sources[0] if len(sources) == 1 else "|".join(f"(?:{source})" for source in sources)
        if not wrong and (problem := pattern.find_pattern_problem(whole)):
            self.add_problem(key, f"{key}: the joined expression {problem}")
        return whole


def parse_rule_file(text: str, name: str, file: str, owner: Owner) -> RuleFile:
    """Parse ``text`` into the rule ``name``; ``file`` is the name of the file in messages."""
    front = parse_front_matter(text)
    parser = RuleFileParser(file, front)
    if not front.is_present:
        return RuleFile((), (f"{file}:1: has no front matter: write a line ---, the keys, a line ---, then the text",))
    parser.check_keys(RULE_KEYS)
    rule = _build_rule(parser, name, owner)
    problems = parser.format_problems()
    if rule is not None and problems:
        rule = replace(rule, problem=problems[0], paths=None, conditions=())
    return RuleFile((rule,) if rule else (), problems)


def _build_rule(parser: RuleFileParser, name: str, owner: Owner) -> Rule | None:
    """Build the rule as far as it is valid; None if its event or action is unknown."""
    front = parser.front_matter
    event = parser.get_choice("event", RULE_EVENTS)
    action = parser.get_choice("action", tuple(Action))
    tools = _parse_tools(parser, event)
    fail = parser.get_choice("fail", tuple(FailMode), FailMode.OPEN)
    rule_paths, conditions = _parse_paths(parser, event), _parse_conditions(parser, event, tools)
    enabled, once = parser.get_flag("enabled", True), parser.get_flag("once", False)
    clients = frozenset(
        client for text in parser.get_texts("clients") if (client := parser.check_choice("clients", text, CLIENTS))
    )
    parser.check_body("action")
    if not event or not action:
        return None
    does = Action(action)
    if does not in RULE_EVENTS[event].actions:
        can = ", ".join(RULE_EVENTS[event].actions)
        parser.add_problem("action", f"action {does} is not available at {event}; use {can}")
    if fail == FailMode.CLOSED and does not in (Action.DENY, Action.ASK):
        parser.add_problem("fail", "fail: closed is for action: deny and action: ask")
    if once and does not in (Action.TELL, Action.INJECT):
        parser.add_problem("once", "once is for action: tell and action: inject")
    return Rule(
        name=name,
        event=event,
        action=does,
        text=sanitize_rule_text(front.body, owner),
        file=parser.file,
        line=min(front.line_numbers.values(), default=1),
        tools=frozenset(tools),
        paths=rule_paths,
        conditions=conditions,
        fail_mode=FailMode(fail or FailMode.OPEN),
        clients=frozenset(map(ClientName, clients)),
        owner=owner,
        is_enabled=enabled,
        is_shown_once=once,
        description=parser.get_text("description"),
    )


def sanitize_rule_text(body: str, owner: Owner) -> str:
    """Return the redacted text of a rule without control characters; empty for an untrusted one."""
    return "" if owner is Owner.UNTRUSTED else redact(strip_controls(body[:MAX_TEXT_CHARS])).text


def _parse_tools(parser: RuleFileParser, event: str) -> tuple[str, ...]:
    tools = tuple(name for text in parser.get_texts("tool") for name in globs.split_globs(text))
    if tools and event and not RULE_EVENTS[event].is_tool_event:
        parser.add_problem("tool", f"tool is for before-tool and after-tool, not for {event}")
    for tool in tools:
        if tool.isalpha() and tool.islower() and tool not in TOOL_KINDS and (hint := did_you_mean(tool, TOOL_KINDS)):
            parser.add_problem("tool", f"unknown tool {format_value(tool)}{hint}")
    return tools


def _parse_paths(parser: RuleFileParser, event: str) -> Globs | None:
    sources = tuple(glob for text in parser.get_texts("paths") for glob in globs.split_globs(text))
    if not sources:
        return None
    if event and not RULE_EVENTS[event].is_tool_event:
        parser.add_problem("paths", f"paths is for before-tool and after-tool, not for {event}")
    if problem := globs.find_glob_problem(sources):
        parser.add_problem("paths", f"paths {problem}")
        return None
    return Globs(sources)


def _parse_conditions(parser: RuleFileParser, event: str, tools: tuple[str, ...]) -> tuple[Condition, ...]:
    sources = parser.get_texts("pattern")
    where = parser.check_choice("where", text, CONFIGURABLE_TARGETS) if (text := parser.get_text("where")) else ""
    if not sources:
        if where:
            parser.add_problem("where", "where is given without a pattern")
        return ()
    expression = parser.join_patterns("pattern", sources)
    offered = RULE_EVENTS[event].targets if event else CONFIGURABLE_TARGETS
    if where and where not in offered:
        can = ", ".join(offered) or "nothing"
        parser.add_problem("where", f"where: {where} is not available at {event}; use {can}")
    defaults = (target for kinds, target in _DEFAULT_TARGETS if tools and kinds.issuperset(tools) and target in offered)
    place = where or (offered[0] if len(offered) == 1 else next(defaults, ""))
    if event and not place:
        hint = f"where is required here; use one of {', '.join(offered)}"
        parser.add_problem("pattern", hint if offered else f"pattern is not available at {event}")
    if not place:
        return ()
    return (Condition(MatchTarget(place), Pattern(expression, is_anchored=place == MatchTarget.COMMAND)),)


_DEFAULT_TARGETS: tuple[tuple[frozenset[str], MatchTarget], ...] = (
    (frozenset({"shell", "Bash"}), MatchTarget.COMMAND),
    (frozenset({"edit", "write"}), MatchTarget.CONTENT),
    (frozenset({"read"}), MatchTarget.PATH),
    (frozenset({"delegate"}), MatchTarget.PROMPT),
)
"""The default target of a pattern, by the kinds of tools that the rule is about."""
