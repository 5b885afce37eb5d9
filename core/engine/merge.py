"""Merge proposals into one decision; the precedence of effects.

::

    a prompt     AnswerPrompt > InjectContext             no model gets what is answered
    a call       Deny > RequestApproval > ApproveCall, RewriteInput    what is denied or asked about is not rewritten
                 Deny > PrependPrompt                     a denied call gets no prompt
    an ending    EndTurn > ContinueTurn                   at most one of them: the first proposal's
    a result     RewriteOutput                            the first proposal's
    context      by rank, within the budget               what exceeds it is dropped whole, and recorded
    the user     everything                               equal texts once

Invariant: the same proposals in any order make the same decision. Control characters are stripped from every text
before it reaches a model, the user or the journal.
"""

from __future__ import annotations

from collections.abc import Iterable

from upbeat.core.contract import effect as effect_types
from upbeat.core.journal.record import DROPPED, DUPLICATE, HELD_OUT, OVER_BUDGET, OVER_CAP
from upbeat.core.lazy_dataclass import dataclass, field, replace
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import neutralize_frames
from upbeat.core.sanitize.truncate import LengthUnit, TextLimit, measure_text


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How much context may be injected: in all (the client's cap), and by policies and rules."""

    client_cap: TextLimit
    turn_chars: int = 10**9
    session_chars: int = 10**9


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The effects in order, with the part that each comes from; the explanations; the characters spent."""

    effects: tuple[effect_types.Effect, ...] = ()
    parts: tuple[str, ...] = ()
    explanations: tuple[effect_types.Explanation, ...] = ()
    spent_chars: int = 0
    dropped_parts: frozenset[str] = frozenset()
    """The parts whose context had no room."""


@dataclass(frozen=True, slots=True)
class _Admission:
    part: str
    effect: effect_types.Effect
    drop_reason: str = ""
    partial_drop_reason: str = ""
    """Why a part of the effect is left out."""


_SINGLE_EFFECTS = (effect_types.ContinueTurn, effect_types.RewriteOutput, effect_types.EndTurn)
_UNSEEN = (OVER_CAP, OVER_BUDGET, "overruled by AnswerPrompt")
"""Reasons for which context is dropped that is to be injected another time."""
_OVERRULED_BY: dict[type[effect_types.Effect], tuple[type[effect_types.Effect], ...]] = {
    effect_types.InjectContext: (effect_types.AnswerPrompt,),
    effect_types.RequestApproval: (effect_types.Deny,),
    effect_types.ApproveCall: (effect_types.Deny, effect_types.RequestApproval),
    effect_types.RewriteInput: (effect_types.Deny, effect_types.RequestApproval),
    effect_types.PrependPrompt: (effect_types.Deny,),
    effect_types.RelabelOptions: (effect_types.Deny,),
    effect_types.ContinueTurn: (effect_types.EndTurn,),
}


def merge_proposals(proposals: Iterable[effect_types.Proposal], budget: ContextBudget) -> MergeResult:
    """Merge ``proposals`` into one decision."""
    ranked = sorted(proposals, key=_sort_key)
    visible = [(proposal, _visible_effects(proposal)) for proposal in ranked]
    present = {type(effect) for _proposal, effects in visible for effect in effects}
    merge = _Merge(
        present, budget.client_cap.unit, budget.client_cap.max_length, min(budget.turn_chars, budget.session_chars)
    )
    kept: list[_Admission] = []
    explanations: list[effect_types.Explanation] = []
    dropped_parts: set[str] = set()
    for proposal, effects in visible:
        admissions = [merge.admit(proposal, effect) for effect in effects]
        kept += [admission for admission in admissions if not admission.drop_reason]
        dropped_parts |= {a.part for a in admissions if a.drop_reason in _UNSEEN}
        explanations += proposal.explanations
        reasons = [
            f"{type(admission.effect).__name__}: {reason}"
            for admission in admissions
            if (reason := admission.drop_reason or admission.partial_drop_reason)
        ]
        if reasons:
            explanations.append(effect_types.Explanation(proposal.part, DROPPED, "; ".join(reasons)))
    return MergeResult(
        effects=tuple(admission.effect for admission in kept),
        parts=tuple(admission.part for admission in kept),
        explanations=tuple(explanations),
        spent_chars=merge.spent_chars,
        dropped_parts=frozenset(dropped_parts),
    )


def _sort_key(proposal: effect_types.Proposal) -> tuple[object, ...]:
    """Order proposals by rank and part; two of one part by their content, whatever the input's order."""
    content = tuple((type(effect).__name__, effect.text) for effect in proposal.effects)
    return proposal.rank, proposal.part, content, tuple(e.config_location for e in proposal.explanations)


def _visible_effects(proposal: effect_types.Proposal) -> tuple[effect_types.Effect, ...]:
    """Return the effects with a text, without controls; the output of a tool cannot open or end a frame."""
    visible: list[effect_types.Effect] = []
    for effect in proposal.effects:
        text = strip_controls(effect.text)
        if isinstance(effect, effect_types.RewriteOutput):
            text = neutralize_frames(text)
        if text.strip():
            visible.append(effect if text == effect.text else replace(effect, text=text))
    return tuple(visible)


@dataclass(slots=True)
class _Merge:
    """The kinds of effects that are proposed, the rest of the budget, and what was taken so far."""

    present: set[type[effect_types.Effect]]
    unit: LengthUnit
    cap_units: int
    budget_chars: int
    spent_chars: int = 0
    taken: set[object] = field(default_factory=set)

    def admit(self, proposal: effect_types.Proposal, effect: effect_types.Effect) -> _Admission:
        """Return the effect, with the reason if it is dropped."""
        kind = type(effect)
        overruled = [over for over in _OVERRULED_BY.get(kind, ()) if over in self.present]
        key = (kind, "" if isinstance(effect, _SINGLE_EFFECTS) else effect.text)
        if overruled:
            return _Admission(proposal.part, effect, f"overruled by {overruled[0].__name__}")
        if isinstance(effect, effect_types.RewriteInput):
            return self._admit_rewrite(proposal, effect)
        if key in self.taken:
            return _Admission(proposal.part, effect, DUPLICATE)
        if isinstance(effect, effect_types.InjectContext) and (reason := self._charge(proposal, effect)):
            return _Admission(proposal.part, effect, reason)
        self.taken.add(key)
        return _Admission(proposal.part, effect)

    def _admit_rewrite(self, proposal: effect_types.Proposal, effect: effect_types.RewriteInput) -> _Admission:
        """Return the effect with the fields that no earlier proposal has rewritten."""
        fields = {
            name: new for name, new in effect.fields.items() if (effect_types.RewriteInput, name) not in self.taken
        }
        if not fields:
            return _Admission(proposal.part, effect, DUPLICATE)
        self.taken.update((effect_types.RewriteInput, name) for name in fields)
        lost = ", ".join(sorted(effect.fields.keys() - fields.keys()))
        return _Admission(
            proposal.part, replace(effect, fields=fields), partial_drop_reason=f"{lost}: {DUPLICATE}" if lost else ""
        )

    def _charge(self, proposal: effect_types.Proposal, effect: effect_types.InjectContext) -> str:
        """Return why the context is dropped; if it is not, charge its size to the budget."""
        if proposal.is_held_out:
            return HELD_OUT
        size = measure_text(effect.text, self.unit) + 1
        if size > self.cap_units:
            return OVER_CAP
        if proposal.is_budgeted:
            if len(effect.text) > self.budget_chars:
                return OVER_BUDGET
            self.budget_chars -= len(effect.text)
            self.spent_chars += len(effect.text)
        self.cap_units -= size
        return ""
