"""What is done about a thread that is too long, or whose history the provider does not take.

Law: each thing that is tried is said before it is done, counted, and switched off by its name in ``policies.off``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import sleep

from ....core.rescue import (
    COMPACTS,
    LEAVES,
    MAX_TRIES,
    RECOVERS,
    is_refused_history,
    pause_before,
    wants_compaction,
)
from .texts import Texts
from .transport import Ask, Completed, ContextUsed, Ending, Failed, Why

MAX_REPEATED = 2000
"""Characters of a prompt that are repeated to a thread that has it already, or had it."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What may be done to a conversation. ``thread_id`` is empty where it has none."""

    tell: Callable[[str], None]
    send: Callable[[Ask], Ending]
    compact: Callable[[], Ending | None]
    """Have Codex put a summary in the place of the thread; None where it cannot be told to."""
    leave: Callable[[str], None]
    """Go on without the thread; the reason is said."""
    anew: Callable[[Ask], str]
    """The context of a request for a thread that was shown nothing yet."""
    opening: Callable[[], str]
    """What a model is to be told that has just forgotten the conversation."""
    thread_id: Callable[[], str]
    has_worked: Callable[[], bool]
    """The model has done something in the turn that was sent last."""
    is_on: Callable[[str], bool]
    """Whether what has this name in ``policies.off`` is wanted."""


class Recovery:
    """The ways out, for one conversation."""

    def __init__(self, hands: Hands, texts: Texts, rest: Callable[[float], None] = sleep) -> None:
        self._hands = hands
        self._texts = texts
        self.rest = rest
        """Waits for so many seconds; a signal ends it."""
        self._is_tried = False
        """The thread was summarised because it was nearly full, and has not been smaller since."""

    def make_room(self, used: ContextUsed | None) -> bool:
        """Have a thread that is nearly full summarised before the next turn; whether that was tried."""
        if used is None or not wants_compaction(used.tokens, used.window):
            self._is_tried = False
            return False
        if self._is_tried or not self._hands.is_on(COMPACTS):
            return False
        self._is_tried = True
        self._hands.tell(self._texts.nearly_full.format(share=used.tokens / used.window))
        self._hands.compact()
        return True

    def after(self, ask: Ask, ending: Ending) -> Ending:
        """``ending`` of ``ask``, or that of what followed it."""
        return self._elsewhere(ask, self._shortened(ask, ending))

    def _shortened(self, ask: Ask, ending: Ending) -> Ending:
        """The app-server is told to make a summary; ``codex exec`` makes one before the next turn of such a thread."""
        hands, texts = self._hands, self._texts
        for attempt in range(MAX_TRIES):
            seconds = pause_before(attempt)
            is_full = isinstance(ending, Failed) and ending.why is Why.CONTEXT_FULL
            if not is_full or seconds is None or not hands.thread_id() or not hands.is_on(RECOVERS):
                break
            hands.tell(texts.no_room.format(attempt=attempt + 1, most=MAX_TRIES, seconds=seconds))
            self.rest(seconds)
            summary = hands.compact()
            if summary is not None and not isinstance(summary, Completed):
                break
            prompt = texts.go_on_shorter.format(prompt=_short(ask.prompt))
            guidance = hands.opening() or ask.guidance
            again = replace(ask, prompt=prompt, thread_id=hands.thread_id(), guidance=guidance)
            ending = hands.send(replace(again, context=hands.anew(ask)))
        return ending

    def _elsewhere(self, ask: Ask, ending: Ending) -> Ending:
        if not isinstance(ending, Failed) or ending.why is not Why.BAD_REQUEST or not ask.thread_id:
            return ending
        if not is_refused_history(ending.text) or not self._hands.is_on(LEAVES):
            return ending
        reason = " ".join(ending.text.split())[:160]
        prompt = ask.prompt
        if self._hands.has_worked():
            prompt = self._texts.go_on_elsewhere.format(prompt=_short(prompt))
        self._hands.leave(self._texts.refused_history.format(reason=reason))
        return self._hands.send(replace(ask, prompt=prompt, thread_id="", context=self._hands.anew(ask)))


def _short(prompt: str) -> str:
    return prompt if len(prompt) <= MAX_REPEATED else f"{prompt[:MAX_REPEATED]}…"
