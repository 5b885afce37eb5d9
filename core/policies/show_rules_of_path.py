"""Show the rules for a file that other programs keep in the repository (rules-injector of oh-my-opencode).

They are shown as what they are, rules of the project that its user has trusted as they stand; so they are cleaned and
without secrets, but in no frame of untrusted data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ..contract.effect import Inject
from ..contract.event import ClientName, Event, ToolFinished
from ..rules.guidance import Guidance
from ..turn.truncate import Cap, fit
from ..workflow.state import SessionState
from .look import Look, RulesAbout
from .policy import SILENT, WORKS, Carries, Policy, Standing, View, Word, Words
from .touched import touched

MAX_TEXT = 3000
"""Characters of one rule that are shown; the file has the rest."""
MAX_RULES = 5
"""Rules that are shown at one event; the others come with the next."""
_READ_FURTHER = Words("\n… ({path} has the rest)", "\n…（其余见 {path}）")
_HEADING = Words(
    "Rules of this project for {files}, from {path}. The person you work for has trusted them; follow them here.",
    "本项目针对 {files} 的规则，来自 {path}，已获用户信任；请在此遵守。",
)
_USERS_HEADING = Words(
    "Rules of the person you work for, for {files}, from {path}. Follow them here.",
    "你的用户针对 {files} 的规则，来自 {path}；请在此遵守。",
)
_END = Words("(End of {path})", "（{path} 结束）")


def _looks(event: Event, _state: SessionState) -> tuple[Look, ...]:
    paths = touched(event) if isinstance(event, ToolFinished) and not event.failed else ()
    return (RulesAbout(paths),) if paths else ()


def _finished(event: ToolFinished, view: View) -> Word:
    if event.failed:
        return SILENT
    paths = touched(event)
    found: tuple[Guidance, ...] = view.found.get(RulesAbout(paths), ()) if paths else ()
    if not found:
        return SILENT
    known = set(view.notes)
    new: list[Guidance] = []
    for one in found:
        marks = _marks(one, event)
        if event.source.client not in one.native and known.isdisjoint(marks) and len(new) < MAX_RULES:
            new.append(one)
            known.update(marks)
    if not new:
        return SILENT
    notes = (*view.notes, *(mark for one in new for mark in _marks(one, event)))
    names = tuple(one.path for one in new)
    effects = tuple(Inject(_text(one, paths, view)) for one in new)
    return Word(effects, f"first touch of {_files(new[0], paths, view)}", notes, names)


def _text(rule: Guidance, paths: Iterable[str], view: View) -> str:
    language = view.language
    rest = _READ_FURTHER.of(language).format(path=rule.path)
    body, _cut = fit(rule.text, Cap(MAX_TEXT), rest)
    words = _USERS_HEADING if rule.is_users else _HEADING
    heading = words.of(language).format(files=_files(rule, paths, view), path=rule.path)
    return f"{heading}\n{body}\n{_END.of(language).format(path=rule.path)}"


def _files(rule: Guidance, paths: Iterable[str], view: View) -> str:
    relative = [path.removeprefix(view.root.rstrip("/") + "/") for path in paths]
    return ", ".join([path[:200] for path in relative if rule.is_about(path)][:3])


def _marks(rule: Guidance, event: ToolFinished) -> tuple[str, str]:
    """What is noted of a rule: where it lies and what it says; a copy of it, and a link to it, are the same.

    A subagent has not read what its caller was shown, nor the other way round.
    """
    agent = event.source.agent_mark
    place = hashlib.sha256(rule.real.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{agent} at {place}", f"{agent} is {hashlib.sha256(rule.text.encode('utf-8', 'replace')).hexdigest()[:16]}"


POLICY = Policy(
    name="show-rules-of-path",
    original="rules-injector",
    number=3,
    what=Words(
        "When the agent reads, writes or edits a file for which .cursor/rules, .claude/rules, .github/instructions or "
        ".github/copilot-instructions.md has rules, it is shown them: once in a session, the nearest first.",
        "代理读取、写入或编辑文件时，若 .cursor/rules、.claude/rules、.github/instructions 或 "
        ".github/copilot-instructions.md 中有针对该文件的规则，则展示给它：每个会话一次，最近的优先。",
    ),
    why=Words(
        "A project has its rules where another program reads them; this client does not.",
        "项目的规则写给了别的程序，而当前客户端不会读取。",
    ),
    silent=Words(
        "for a file that nobody has trusted (`upbeat trust`), for rules that the client reads itself, for one that was "
        "shown since the last compaction, and for rules that are shown only on request",
        "规则文件尚未被信任（`upbeat trust`）、客户端自己会读取、自上次压缩后已展示过，或仅按需展示的规则",
    ),
    on={ToolFinished: _finished},
    clients={
        ClientName.CLAUDE_CODE: Standing(Carries.WORKS, "it reads .claude/rules itself; the others come from here"),
        ClientName.CODEX_CLI: WORKS,
    },
    looks=_looks,
    rank=40,
)
