"""Reads one rule file: front matter and a text become a rule, or all that is wrong with them at once.

Law: reading never raises. A file with a mistake is no rule; but where it can be told what it is about and what it
would do, it stays as one that cannot be evaluated, so that ``fail: closed`` holds even then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from ..contract.event import Act, ClientName
from ..layers import MAX_PROBLEMS, did_you_mean, shown
from ..turn.redact import redact
from ..turn.strip import strip
from . import globs, pattern
from .front_matter import FrontMatter
from .front_matter import read as read_front_matter
from .globs import Globs
from .pattern import Pattern
from .rule import EVENTS, OFFERED, Action, Condition, Fail, Owner, Rule, Where

MAX_TEXT = 5000
"""Characters of a rule's text: what is longer would have no room in a turn."""
MAX_ITEMS = 100
"""Entries in one key."""

ACTS = tuple(act.value for act in Act if act is not Act.OTHER)
CLIENTS = (ClientName.CLAUDE_CODE, ClientName.CODEX_CLI)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a rule file: what it is for, and what it takes, in words."""

    doc: str
    takes: str
    default: str = ""


KEYS: Mapping[str, Key] = {
    "event": Key("When the rule is asked.", ", ".join(f"`{name}`" for name in EVENTS), "needed"),
    "action": Key("What it does where it matches.", ", ".join(f"`{action}`" for action in Action), "needed"),
    "tool": Key(
        "What the call does, whatever the client calls the tool; or a client's own tool, `*` at its end for all that "
        "begin so (`mcp__github__*`). A list is any of them.",
        ", ".join(f"`{act}`" for act in ACTS) + ", a tool's name",
        "every tool",
    ),
    "paths": Key(
        "Files that the call is about, as in a `.gitignore`: `*.ts` at any depth, `src/*.ts` in that folder, `docs` "
        "with all in it; `{a,b}` is either, `!` takes out. Relative to the repository; outside of it from `/` on.",
        "globs, as a list or with commas",
        "every file, and none",
    ),
    "pattern": Key(
        "A regular expression of RE2. Put it into single quotes, or none. A list is any of them.",
        "an expression",
        "everything",
    ),
    "where": Key(
        "What the pattern is held against.",
        ", ".join(f"`{where}`" for where in OFFERED),
        "`command` for `tool: shell`, `content` for `edit` and `write`, `path` for `read`, `prompt` and `output` where "
        "there is nothing else",
    ),
    "fail": Key("What follows where it cannot be said whether it matches.", "`open`, `closed`", "`open`"),
    "once": Key(
        "For `tell` and `inject`: once in a session, and again after a compaction.", "`true`, `false`", "`false`"
    ),
    "clients": Key("The clients that it is for.", ", ".join(f"`{client}`" for client in CLIENTS), "all"),
    "enabled": Key("Whether it counts.", "`true`, `false`", "`true`"),
    "description": Key("What it is for, in `upbeat rules list`.", "a text"),
}
"""The table of keys: of it the checks and the documentation are made."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What a file holds: its rules (usually one), and a sentence with line and key for everything that is wrong."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class Reading:
    """A file on its way to a rule, with what is wrong so far. ``file`` is how messages name it."""

    file: str
    front: FrontMatter
    problems: list[tuple[int, str]] = field(default_factory=list)

    def wrong(self, key: str, sentence: str) -> None:
        """``key`` is wrong in this way."""
        self.problems.append((self.front.lines.get(key, 1), sentence))

    def sentences(self) -> tuple[str, ...]:
        """What is wrong, line by line."""
        found = sorted({*self.front.problems, *self.problems})
        return tuple(f"{self.file}:{line}: {sentence}" for line, sentence in islice(found, MAX_PROBLEMS))

    def text(self, key: str) -> str:
        """The text at ``key``; empty where there is none."""
        value = self.front.values.get(key, "")
        if not isinstance(value, str):
            self.wrong(key, f"{key} takes a text; found {shown(value)}")
            return ""
        return value.strip()

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts at ``key``, one or a list of them."""
        value = self.front.values.get(key, "")
        found = value if isinstance(value, list) else [value]
        texts = tuple(one.strip() for one in found if isinstance(one, str) and one.strip())
        if not all(isinstance(one, str) for one in found):
            self.wrong(key, f"{key} takes texts; found {shown(value)}")
        if len(texts) > MAX_ITEMS:
            self.wrong(key, f"{key} has more than {MAX_ITEMS} entries")
        return texts[:MAX_ITEMS]

    def flag(self, key: str, default: bool) -> bool:
        """Whether ``key`` says yes."""
        text = self.text(key).lower()
        if text in ("true", "yes", "on"):
            return True
        if text not in ("", "false", "no", "off"):
            self.wrong(key, f"{key} takes true or false; found {shown(text)}")
        return default if not text else False

    def expression(self, key: str, sources: tuple[str, ...]) -> str:
        """One expression for any of ``sources``."""
        wrong = [(source, problem) for source in sources if (problem := pattern.problem_of(source))]
        for source, problem in wrong:
            self.wrong(key, f"{key} {shown(source)} {problem}")
        whole = sources[0] if len(sources) == 1 else "|".join(f"(?:{source})" for source in sources)
        if not wrong and (problem := pattern.problem_of(whole)):
            self.wrong(key, f"{key}: all together {problem}")
        return whole


def read(text: str, name: str, file: str, owner: Owner) -> RuleFile:
    """The rule in ``text``, called ``name``, of the file that messages call ``file``."""
    front = read_front_matter(text)
    reading = Reading(file, front)
    if not front.is_there:
        return RuleFile((), (f"{file}:1: begins with no front matter: a line ---, keys, a line ---, then the text",))
    for key in front.values:
        if key not in KEYS:
            reading.wrong(key, f"unknown key {shown(key)}{did_you_mean(key, KEYS)}")
    rule = _rule(reading, name, owner)
    problems = reading.sentences()
    if rule is not None and problems:
        rule = replace(rule, problem=problems[0], paths=None, conditions=())
    return RuleFile((rule,) if rule else (), problems)


def _rule(reading: Reading, name: str, owner: Owner) -> Rule | None:
    """The rule, as far as it can be read; None where it cannot be told what it is about or what it would do."""
    front = reading.front
    event = _choice(reading, "event", tuple(EVENTS))
    action = _choice(reading, "action", tuple(Action))
    tools = _tools(reading, event)
    fail = _choice(reading, "fail", tuple(Fail), Fail.OPEN)
    rule_paths, conditions = _paths(reading, event), _conditions(reading, event, tools)
    enabled, once = reading.flag("enabled", True), reading.flag("once", False)
    clients = frozenset(
        client for text in reading.texts("clients") if (client := _one(reading, "clients", text, CLIENTS))
    )
    if not front.body:
        reading.wrong("action", "says nothing: its text stands below the second ---")
    if len(front.body) > MAX_TEXT:
        reading.wrong("action", f"its text is longer than {MAX_TEXT} characters")
    if not event or not action:
        return None
    does = Action(action)
    if does not in EVENTS[event].actions:
        can = ", ".join(EVENTS[event].actions)
        reading.wrong("action", f"action {does} cannot be had at {event}: {can}")
    if fail == Fail.CLOSED and does not in (Action.DENY, Action.ASK):
        reading.wrong("fail", "fail: closed is for action: deny and action: ask")
    if once and does not in (Action.TELL, Action.INJECT):
        reading.wrong("once", "once is for action: tell and action: inject")
    return Rule(
        name=name,
        event=event,
        action=does,
        text=shown_text(front.body, owner),
        file=reading.file,
        line=min(front.lines.values(), default=1),
        tools=frozenset(tools),
        paths=rule_paths,
        conditions=conditions,
        fail=Fail(fail or Fail.OPEN),
        clients=frozenset(map(ClientName, clients)),
        owner=owner,
        is_enabled=enabled,
        once=once,
        description=reading.text("description"),
    )


def shown_text(body: str, owner: Owner) -> str:
    """A rule's text as it may be shown and sent: no controls, no secrets; nothing of what nobody has trusted."""
    return "" if owner is Owner.STRANGER else redact(strip(body[:MAX_TEXT])).text


def _choice(reading: Reading, key: str, choices: tuple[str, ...], default: str = "") -> str:
    """One of ``choices``, or ``default``; empty where it is none of them."""
    text = reading.text(key)
    if text:
        return _one(reading, key, text, choices)
    if not default and isinstance(reading.front.values.get(key, ""), str):
        reading.wrong(key, f"{key} is needed: {', '.join(choices)}")
    return default


def _one(reading: Reading, key: str, text: str, choices: tuple[str, ...]) -> str:
    if text in choices:
        return text
    reading.wrong(key, f"{key} takes {', '.join(choices)}; found {shown(text)}{did_you_mean(text, choices)}")
    return ""


def _tools(reading: Reading, event: str) -> tuple[str, ...]:
    tools = tuple(name for text in reading.texts("tool") for name in globs.split(text))
    if tools and event and not EVENTS[event].has_tool:
        reading.wrong("tool", f"tool is for before-tool and after-tool, not for {event}")
    for tool in tools:
        if tool.isalpha() and tool.islower() and tool not in ACTS and (hint := did_you_mean(tool, ACTS)):
            reading.wrong("tool", f"unknown tool {shown(tool)}{hint}")
    return tools


def _paths(reading: Reading, event: str) -> Globs | None:
    sources = tuple(glob for text in reading.texts("paths") for glob in globs.split(text))
    if not sources:
        return None
    if event and not EVENTS[event].has_tool:
        reading.wrong("paths", f"paths is for before-tool and after-tool, not for {event}")
    if problem := globs.problem_of(sources):
        reading.wrong("paths", f"paths {problem}")
        return None
    return Globs(sources)


def _conditions(reading: Reading, event: str, tools: tuple[str, ...]) -> tuple[Condition, ...]:
    sources = reading.texts("pattern")
    where = _one(reading, "where", text, OFFERED) if (text := reading.text("where")) else ""
    if not sources:
        if where:
            reading.wrong("where", "where says what a pattern is held against, and there is no pattern")
        return ()
    expression = reading.expression("pattern", sources)
    offered = EVENTS[event].where if event else OFFERED
    if where and where not in offered:
        can = ", ".join(offered) or "nothing"
        reading.wrong("where", f"where: {where} cannot be had at {event}: {can}")
    place = where or _meant(tools, offered)
    if event and not place:
        reading.wrong("pattern", f"where is needed to say what the pattern is held against: {', '.join(offered)}")
    if not place:
        return ()
    return (Condition(Where(place), Pattern(expression, is_anchored=place == Where.COMMAND)),)


_MEANT: tuple[tuple[frozenset[str], Where], ...] = (
    (frozenset({"shell", "Bash"}), Where.COMMAND),
    (frozenset({"edit", "write"}), Where.CONTENT),
    (frozenset({"read"}), Where.PATH),
    (frozenset({"delegate"}), Where.PROMPT),
)
"""What a pattern is held against when a rule does not say so, by the tools that it is about."""


def _meant(tools: tuple[str, ...], offered: tuple[str, ...]) -> str:
    if len(offered) == 1:
        return offered[0]
    found = (where for acts, where in _MEANT if tools and acts.issuperset(tools) and where in offered)
    return next(found, "")
