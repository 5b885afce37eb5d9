"""The messages of codex-auto in both languages."""

from __future__ import annotations

from upbeat.adapters.codex_auto.texts import load_texts

ENGLISH, CHINESE = load_texts("en"), load_texts("zh")
