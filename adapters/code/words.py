"""From names and prose to the terms that are compared.

Law: a term of Latin letters is a prefix of the word it comes from, so that a plain substring search finds at
least every file that holds it. Chinese, Japanese and Korean text becomes pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 2
LONGEST_WORD = 80

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A word of code or prose."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """a about above actually after again all also although always am an and any are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn doing don done down
    during each either else even ever every few for from further get gets getting give given go goes going got
    had has hasn have haven having he hello help her here hi him his how however i if in instead into is isn it
    its itself just know let like ll look looks make makes making many may maybe me might more most much must my
    need needs new no nor not now of off ok on once one only onto or other otherwise our out over own per please
    put rather re really s said same say says see seem seems she should shouldn show since so some something
    still such sure t take than thank thanks that the their them then there these they thing things think this
    those though through thus to too try trying two under until up upon us use used uses using ve very via want
    wants was wasn way we well were what when where whether which while who whose why will with within without
    won would wouldn yes yet you your"""
)
"""Words that say nothing about which file is meant."""

NOISE_WORDS = _words(
    """actual add added adding allow argument behavior behaviour bug call called cause change changed check
    class code correct correctly crash current currently def default description error example exception
    expected fail failed failing fails failure file fix fixed fixes fixing function handle import incorrect
    incorrectly info instance int issue last line linux method module most none null object output pass passed
    possible problem project python raise raised raises recent related release report reproduce result results
    return returned returns run running self set setup step steps str string support test tested testing tests
    traceback true false type update updated user value values version versions windows work working works
    wrong"""
)
"""Words that most reports have; they count for less."""


def split_name(name: str) -> tuple[str, ...]:
    """The words that a name is made of, lower-cased: ``HTTPServer_v2`` gives http, server, v, 2."""
    return tuple(part.lower() for part in _PART.findall(name))


@lru_cache(maxsize=32768)
def terms_of(name: str) -> tuple[str, ...]:
    """The terms of a name, each once, without stop words; a name of several parts keeps its short ones out."""
    if len(name) > LONGEST_WORD:
        return ()
    parts = split_name(name)
    found = (stem(part) for part in parts if len(part) >= SHORTEST and part not in STOP_WORDS)
    return tuple(dict.fromkeys(term for term in found if not term.isdigit()))


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """A prefix of ``word`` (lower-case) that its inflected forms share: caching, cached, caches give cach."""
    if len(word) < 4 or not word.isascii():
        return word
    base = word
    if base.endswith(("ies", "ied")) and len(base) > 4:
        return base[:-3]
    if base.endswith("s") and not base.endswith(("ss", "us", "is")):
        base = base[:-1]
    for suffix, least in (("ing", 3), ("ed", 3), ("ion", 4), ("or", 4), ("er", 4)):
        left = base[: -len(suffix)]
        if not base.endswith(suffix) or len(left) < least or not _has_vowel(left):
            continue
        if suffix in ("ion", "or") and left[-1] not in "ts":
            continue
        is_doubled = len(left) > 3 and left[-1] == left[-2] and left[-1] not in "aeiouls"
        return left[:-1] if is_doubled else _without_end(left)
    return _without_end(base)


def _has_vowel(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)


def _without_end(base: str) -> str:
    """``base`` without the last vowel that its other forms lose (cache and caching, query and queries)."""
    if base.endswith("y") and len(base) > 4 and base[-2] not in "aeiou":
        return base[:-1]
    return base[:-1] if base.endswith("e") and len(base) > 3 else base


def cjk_runs(text: str) -> tuple[str, ...]:
    """The unbroken stretches of Chinese, Japanese or Korean writing in ``text``."""
    return tuple(_CJK.findall(text))


def cjk_pairs(text: str) -> tuple[str, ...]:
    """Neighbouring characters of every stretch, in order, each pair once; a lone character gives nothing."""
    pairs = (run[at : at + 2] for run in _CJK.findall(text) for at in range(len(run) - 1))
    return tuple(dict.fromkeys(pairs))


def joined_key(name: str) -> str:
    """What names have in common however they are joined: ``fileUploads``, ``FILE_UPLOAD`` give fileupload."""
    return name.lower().replace("_", "").replace("-", "").rstrip("s")
