"""The line below the prompt, as text. Law: pure, one line, never too wide; what matters most stands left."""

from __future__ import annotations

from collections.abc import Iterable

from ....core.settings import Settings
from ....core.turn.strip import strip
from .show import clip
from .texts import Texts
from .transport import ContextUsed


def joined(parts: Iterable[str], width: int) -> str:
    """``parts`` with dots between them in at most ``width`` columns, cut at the right."""
    flat = (" ".join(strip(part).split()) for part in parts)
    return clip(" " + " · ".join(part for part in flat if part), width)


def context(used: ContextUsed | None, texts: Texts) -> str:
    """How much of the model's window the thread takes, as far as that is known."""
    if used is None:
        return texts.bar_context.format(used="—")
    if not used.window:
        return texts.bar_context.format(used=counted(used.tokens))
    percent = min(round(100 * used.tokens / used.window), 100)
    return texts.bar_context.format(used=f"{counted(used.tokens)}/{counted(used.window)} ({percent}%)")


def budget(settings: Settings, texts: Texts) -> str:
    """What looking things up for a turn may take."""
    seconds = f"{settings.budget_wall_ms / 1000:g}"
    return texts.bar_budget.format(seconds=seconds, chars=counted(settings.budget_max_injected_chars))


def counted(number: int) -> str:
    """``number`` in at most five characters: 850, 12.3k, 258k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(number)
