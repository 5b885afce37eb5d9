"""Who is asked about an event beside the workflow: the policies that are on, and the rules of its user.

``Panel.of`` says who; ``informed`` looks up what they want to know, outside of any transaction; ``heard`` asks them on
the state as it is then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .contract.effect import Inject, Said
from .contract.event import AskingUser, Delegating, Origin, PromptSubmitted, SessionStarted, ToolStarting
from .happening import Happening, caps_of
from .merge import Merged, Room, Voice, merge
from .policies import POLICIES
from .policies.errand import Errand
from .policies.judge import Opinion, in_force, judge, looks
from .policies.look import Look
from .policies.policy import Policy, View, no_looks
from .rules import book
from .rules.rule import Rule
from .turn.truncate import Cap, measure
from .workflow.facts import ContextSpent, Fact, Noted
from .workflow.state import SessionState

_CALLS = (ToolStarting, AskingUser, Delegating)
"""Who drives a client without hooks hears of calls when they have happened: what policies would stop or change is
past then, and the world that they look at a later one. They only take note."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the panel says to one event."""

    voices: tuple[Voice, ...] = ()
    notes: tuple[Noted, ...] = ()
    errands: tuple[Errand, ...] = ()
    once: tuple[tuple[str, str], ...] = ()
    """(voice, mark) of what rules say once."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Who is asked, with what they know. ``is_held_out``: whatever they inject is left out this time."""

    policies: tuple[Policy, ...] = ()
    rules: tuple[Rule, ...] = ()
    found: Mapping[Look, Any] = field(default_factory=dict)
    is_held_out: bool = False

    @classmethod
    def of(cls, happening: Happening) -> Panel:
        """The policies and the rules that have something to say to the event."""
        settings, kind = happening.settings, type(happening.event)
        policies = in_force(POLICIES, settings.policies_on, settings.policies_off)
        share = settings.inject_hold_out
        drawn = bool(share) and int(happening.runtime.clock.nonce()[:8], 16) % 100 < share
        known = happening.runtime.rules.load(happening.situation.repository.root).rules
        rules = book.in_force(known, happening.event, settings.rules_hookify)
        return cls(tuple(one for one in policies if kind in one.on), rules, is_held_out=drawn)

    @property
    def looks_up(self) -> bool:
        """Whether the session's state is wanted before it is decided on: to say what has to be looked up."""
        return any(one.looks is not no_looks for one in self.policies)

    def informed(self, happening: Happening, state: SessionState) -> Panel:
        """The panel with what its members want to know."""
        wanted = looks(happening.event, state, self.policies)
        root, source = happening.situation.repository.root, happening.source
        found = {
            look: answer for look in wanted if (answer := happening.runtime.ground.look(look, source, root)) is not None
        }
        return replace(self, found=found)

    def heard(self, happening: Happening, state: SessionState) -> Heard:
        """What the members say."""
        answer = self._asked(happening, state)
        if not self.policies:
            return Heard(answer.voices, once=answer.once)
        runtime = happening.runtime
        view = View(
            state=state,
            at=runtime.clock.now().timestamp(),
            language=runtime.language,
            root=happening.situation.repository.root,
            nonce=runtime.clock.nonce(),
            found=self.found,
            caps=caps_of(happening.settings),
        )
        opinions = judge(happening.event, view, self.policies)
        if happening.request is not None and isinstance(happening.event, _CALLS):
            opinions = tuple(replace(one, word=replace(one.word, effects=(), because="")) for one in opinions)
        notes = tuple(
            Noted(one.policy.name, one.word.notes, one.policy.stays)
            for one in opinions
            if one.word.notes is not None and one.word.notes != state.notes(one.policy.name)
        )
        errands = tuple(errand for one in opinions for errand in one.word.errands)
        voices = (*answer.voices, *(self._voice(one, happening) for one in opinions))
        return Heard(voices, notes, errands, answer.once)

    def noted(self, heard: Heard, merged: Merged, state: SessionState) -> tuple[Fact, ...]:
        """What the members remember of what they said: what had no room was not said, and comes again."""
        notes = tuple(one for one in heard.notes if _part(one.policy) not in merged.crowded_out)
        marks = tuple(mark for part, mark in heard.once if part in merged.parts)
        return (*notes, Noted(book.PAGE, (*state.notes(book.PAGE), *marks))) if marks else notes

    def _asked(self, happening: Happening, state: SessionState) -> book.Answer:
        """What the rules say."""
        if not self.rules:
            return book.Answer()
        root, language = happening.situation.repository.root, happening.runtime.language
        notes = state.notes(book.PAGE)
        return book.ask(self.rules, happening.event, root, notes, language, is_held_out=self.is_held_out)

    def takes(self, happening: Happening, state: SessionState, cap: Cap) -> int:
        """Units of ``cap`` that the members will take with a prompt, as far as can be said before it is prepared."""
        if not isinstance(happening.event, PromptSubmitted) or self.is_held_out:
            return 0
        merged = merge(self.heard(happening, state).voices, self.room(happening, state, cap))
        return sum(measure(effect.text, cap.unit) + 1 for effect in merged.effects if isinstance(effect, Inject))

    def room(self, happening: Happening, state: SessionState, cap: Cap) -> Room:
        """How much context goes in."""
        settings = happening.settings
        turn = 0 if self._is_new_turn(happening) else state.spent_turn
        return Room(
            cap, max(settings.inject_max_chars_turn - turn, 0), max(settings.inject_max_chars_session - state.spent, 0)
        )

    def spent(self, happening: Happening, merged: Merged, state: SessionState) -> tuple[Fact, ...]:
        """What the members have spent of it; a new turn begins with all of its own."""
        is_new = self._is_new_turn(happening)
        return (ContextSpent(merged.spent, is_new),) if merged.spent or (is_new and state.spent_turn) else ()

    def _voice(self, opinion: Opinion, happening: Happening) -> Voice:
        policy, word = opinion.policy, opinion.word
        part = _part(policy.name)
        if opinion.failure:
            said = Said(part, "could not evaluate", opinion.failure)
        else:
            kinds = ", ".join(dict.fromkeys(type(effect).__name__ for effect in word.effects)) or "notes"
            looked = {"names": list(word.names)} if word.names else {}
            said = Said(part, kinds, word.because, looked, happening.settings.origins.get("policies.on", ""))
        words = (said,) if word.effects or opinion.failure or word.because else ()
        return Voice(part, word.effects, policy.rank, words, is_withheld=self.is_held_out)

    @staticmethod
    def _is_new_turn(happening: Happening) -> bool:
        event = happening.event
        return isinstance(event, SessionStarted) or (isinstance(event, PromptSubmitted) and event.origin is Origin.USER)


def _part(policy: str) -> str:
    return f"policy {policy}"


NOBODY = Panel()
