"""Asks one rule about one event. Law: pure, and never raises; what cannot be evaluated is the third outcome.

::

    matches               its effect; a file that nobody has trusted speaks in our words, and only tightens
    could not evaluate    nothing, or with ``fail: closed`` what the rule would do
"""

from __future__ import annotations

from ..contract.effect import Ask, Deny, Effect, Inject, KeepGoing, TellUser
from ..contract.event import AgentStopped, Event, Origin, PromptSubmitted, TurnEnding
from .rule import EVENTS, NO_MATCH, Action, Condition, Fail, Outcome, Owner, Rule, Verdict
from .seen import TOO_MUCH, Seen
from .words import UNCLEAR, UNKNOWN_TEXT, UNTRUSTED_TEXT, heading, shown_name

_TIGHTENS = (Action.DENY, Action.ASK)
_SHOWN = 120


def apply(rule: Rule, event: Event, root: str, *, language: str = "en", seen: Seen | None = None) -> Outcome:
    """What came of ``rule`` at ``event`` in the repository at ``root`` (real, absolute).

    ``seen`` is the event as looked at for other rules already.
    """
    if not is_about(rule, event):
        return NO_MATCH
    try:
        verdict, because = _judged(rule, seen or Seen(event, root))
    except Exception as error:  # the boundary of rules: what goes wrong in one is its third outcome
        verdict, because = Verdict.UNKNOWN, f"{type(error).__name__}: {error}"[:200]
    if verdict is Verdict.NO:
        return NO_MATCH
    return Outcome(verdict, _effect(rule, event, verdict, because, language), because)


def is_about(rule: Rule, event: Event) -> bool:
    """Whether the rule has anything to say of this kind of event, from this client and this tool."""
    if not rule.is_enabled or type(event) not in EVENTS[rule.event].events:
        return False
    if rule.clients and event.source.client not in rule.clients:
        return False
    if isinstance(event, PromptSubmitted) and event.origin is not Origin.USER:
        return False
    if isinstance(event, TurnEnding | AgentStopped) and event.continued and rule.action is Action.DENY:
        return False  # whoever was sent on once in this turn may end it
    return not rule.tools or _is_of_tool(rule, event)


def _is_of_tool(rule: Rule, event: Event) -> bool:
    call = getattr(event, "call", None)
    if call is None:
        return False
    if call.act.value in rule.tools or call.tool in rule.tools:
        return True
    return any(name.endswith("*") and call.tool.startswith(name[:-1]) for name in rule.tools)


def _judged(rule: Rule, seen: Seen) -> tuple[Verdict, str]:
    """Whether all that the rule says holds, and the sentence why."""
    if rule.problem:
        return Verdict.UNKNOWN, rule.problem
    because: list[str] = []
    gaps: list[str] = []
    for verdict, words in (_of_paths(rule, seen), *(_of_condition(rule, one, seen) for one in rule.conditions)):
        if verdict is Verdict.NO:
            return verdict, ""
        (gaps if verdict is Verdict.UNKNOWN else because).append(words)
    if gaps:
        return Verdict.UNKNOWN, "; ".join(gaps)
    return Verdict.YES, "; ".join(words for words in because if words) or f"every {rule.event}"


def _of_paths(rule: Rule, seen: Seen) -> tuple[Verdict, str]:
    if rule.paths is None:
        return Verdict.YES, ""
    found = seen.files()
    for path in found.paths:
        if not seen.affords(rule.paths.size, len(path), is_strangers=rule.owner is Owner.STRANGER):
            return Verdict.UNKNOWN, TOO_MUCH
        if rule.paths.match(path):
            return Verdict.YES, f"path: {path[:_SHOWN]}"
    return (Verdict.UNKNOWN, found.gap) if found.gap else (Verdict.NO, "")


def _of_condition(rule: Rule, condition: Condition, seen: Seen) -> tuple[Verdict, str]:
    found = seen.texts(condition.where)
    compiled = condition.pattern.compiled()
    for text in found.texts:
        if not seen.affords(compiled.size, len(text), is_strangers=rule.owner is Owner.STRANGER):
            return Verdict.UNKNOWN, TOO_MUCH
        if compiled.find(text):
            return (Verdict.NO, "") if condition.is_absent else (Verdict.YES, f"{condition.where}: {_shown(text)}")
    if found.gap:
        return Verdict.UNKNOWN, found.gap
    return (Verdict.YES, f"{condition.where}: not there") if condition.is_absent and found.texts else (Verdict.NO, "")


def _shown(text: bytes) -> str:
    return text[:_SHOWN].decode("utf-8", "replace")


def _effect(rule: Rule, event: Event, verdict: Verdict, because: str, language: str) -> Effect | None:
    """What follows from a verdict that is not no."""
    name = shown_name(rule)
    if verdict is Verdict.UNKNOWN:
        if rule.fail is Fail.OPEN or rule.action not in _TIGHTENS:
            return None
        why = UNCLEAR.of(language) if rule.owner is Owner.STRANGER else because
        return _said(rule, event, UNKNOWN_TEXT.of(language).format(rule=name, why=why))
    if rule.owner is Owner.STRANGER:
        return _said(rule, event, UNTRUSTED_TEXT.of(language).format(rule=name)) if rule.action in _TIGHTENS else None
    return _said(rule, event, heading(rule, language) + rule.text)


def _said(rule: Rule, event: Event, text: str) -> Effect:
    if rule.action is Action.DENY and isinstance(event, TurnEnding | AgentStopped):
        return KeepGoing(text)
    kinds: dict[Action, type[Effect]] = {
        Action.TELL: TellUser,
        Action.ASK: Ask,
        Action.DENY: Deny,
        Action.INJECT: Inject,
    }
    return kinds[rule.action](text)
