"""Formats that many issuers share."""

from __future__ import annotations

from .rule import WORD, Rule, after, token

_PAYLOAD = rf"\.(?:eyJ{WORD}{{8,}}(?:\.{WORD}+)?|{WORD}*(?:\.{WORD}{{8,}}){{3}})"

SHARED: tuple[Rule, ...] = (
    Rule("jwt", "eyJ", rf"{WORD}{{8,}}{_PAYLOAD}", before="A-Za-z0-9_-", is_open=True),
    # Behind - and _ every few characters of a run could begin one: there it is bounded.
    Rule("jwt", "eyJ", rf"{WORD}{{8,300}}{_PAYLOAD}"),
    token("age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,}", free=True, size=58),
    token("age-key", "AGE-SECRET-KEY-PQ-1", "[0-9A-Z]{50,}", free=True),
    after("totp-secret", "otpauth://", "[a-z]{4}/[^\\s\"'<>`\\\\]{24,}"),
)
