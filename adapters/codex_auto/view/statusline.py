"""The status line below the prompt: one line, never too wide, the most important fields first."""

from __future__ import annotations

from collections.abc import Iterable

from upbeat.adapters.codex.transport.base import WindowUsage
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import clip_to_width
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.settings import Settings


def join_segments(parts: Iterable[str], width: int) -> str:
    """Join the non-empty ``parts`` with dots in at most ``width`` columns, clipped at the right."""
    flat = (" ".join(strip_controls(part).split()) for part in parts)
    return clip_to_width(" " + " · ".join(part for part in flat if part), width)


def context_segment(window_usage: WindowUsage | None, texts: Texts) -> str:
    """Return how much of the context window the thread uses; empty if unknown."""
    if window_usage is None:
        return ""
    if not window_usage.window_tokens:
        return texts["statusline_context"].format(used=abbreviate_count(window_usage.used_tokens))
    percent = min(round(100 * window_usage.used_tokens / window_usage.window_tokens), 100)
    return texts["statusline_context"].format(
        used=f"{abbreviate_count(window_usage.used_tokens)}/{abbreviate_count(window_usage.window_tokens)} ({percent}%)"
    )


def budget_segment(settings: Settings, texts: Texts) -> str:
    """Return the time and length limits of the lookup for a turn."""
    seconds = f"{settings.budget_wall_ms / 1000:g}"
    return texts["statusline_budget"].format(
        seconds=seconds, chars=abbreviate_count(settings.budget_max_injected_chars)
    )


def abbreviate_count(number: int) -> str:
    """Return ``number`` in at most five characters: 850, 12.3k, 258k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(number)
