"""The line that tells the user what was added to a turn: ``upbeat: 3 files · cart.py:17 total_price … · 46 ms``.

Invariant: it is for the user only, and says only what was injected after the merge. It is a message, so no model gets
it, and one line that fits a terminal of 100 columns in either language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from upbeat.core.contract.effect import InjectContext, NotifyUser
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted
from upbeat.core.engine.evaluate import EventContext
from upbeat.core.engine.merge import MergeResult
from upbeat.core.lazy_dataclass import replace
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.settings import Toggle

if TYPE_CHECKING:
    from upbeat.core.contract.report import Item, TurnReport  # only a turn pays for loading it

PART = "display"
"""The part of the effect in a record."""
MAX_NAME_CHARS = 40
MAX_PARTS = 2
"""Policies and rules that are named."""


def add_turn_line(merged: MergeResult, context: EventContext, report: TurnReport | None) -> MergeResult:
    """Return ``merged`` with the line, if it injects something into a turn of the user and the line is on.

    A program that drives the client shows its turns itself.
    """
    event, settings = context.event, context.repo_context.settings
    is_turn = isinstance(event, PromptSubmitted) and event.origin is PromptOrigin.USER and context.request is None
    if not is_turn or settings.display_turn_line is Toggle.OFF:
        return merged
    injected = zip(merged.effects, merged.parts, strict=True)
    sources = dict.fromkeys(part for effect, part in injected if isinstance(effect, InjectContext))
    if not sources:
        return merged
    items = report.fused_context.for_model.structured.items if report else []
    milliseconds = (context.runtime.clock.monotonic() - context.started_at) * 1000
    line = format_turn_line(tuple(sources), items, milliseconds, context.runtime.language)
    return replace(merged, effects=(*merged.effects, NotifyUser(line)), parts=(*merged.parts, PART))


def format_turn_line(sources: Sequence[str], items: Sequence[Item], milliseconds: float, language: str) -> str:
    """Return the line for context from the parts ``sources``; ``items`` are those of the part ``turn``."""
    texts = load_messages("display", language)
    shown = [*(_describe_items(items, language) if "turn" in sources else ())]
    others = [source for source in sources if source != "turn"]
    shown += [_describe_part(source, language) for source in others[:MAX_PARTS]]
    if len(others) > MAX_PARTS:
        shown.append("…")
    shown.append(texts["milliseconds"].format(count=round(milliseconds)))
    return texts["turn_line"].format(parts=" · ".join(shown))


def _describe_items(items: Sequence[Item], language: str) -> Iterator[str]:
    """Yield the number of files, and the first place."""
    files = len({item.path for item in items if item.path})
    yield format_count("file", files, language) if files else format_count("result", max(len(items), 1), language)
    if first := next((item for item in items if item.path), None):
        name = first.path.rstrip("/").rpartition("/")[2] + (f":{first.start_line}" if first.start_line else "")
        place = [sanitize_inline(text, MAX_NAME_CHARS) for text in (name, first.symbol) if text]
        yield " ".join([*place, "…"] if len(items) > 1 else place)


def _describe_part(part: str, language: str) -> str:
    """Return the part in words: ``rule use-decimal``, ``the workflow``."""
    kind, _, name = part.partition(" ")
    words = load_messages("display", language).group("parts")
    return words[kind].format(name=sanitize_inline(name, MAX_NAME_CHARS)) if kind in words else sanitize_inline(part)
