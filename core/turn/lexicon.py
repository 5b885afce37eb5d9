"""Finds the phrases of ``core.texts.phrases`` in a prompt.

Law: the longest phrase at a place wins and takes its characters; each phrase may have several meanings.
Offsets into the folded text are offsets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..texts.phrases import PHRASES, TRADITIONAL, Tag, words


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase in the text. ``before`` is the English word, or the two Chinese characters, right before it."""

    phrase: str
    tags: frozenset[Tag]
    start: int
    end: int
    before: str = ""


def _folding() -> dict[int, str]:
    pairs = "".join(TRADITIONAL.split())
    table = {ord(old): new for old, new in zip(pairs[::2], pairs[1::2], strict=True)}
    # Full-width letters and brackets are the ASCII ones; these marks end a clause wherever they stand.
    table |= {0xFF01 + i: chr(0x21 + i) for i in range(94) if chr(0xFF01 + i) not in "，！？；："}
    table |= {ord("A") + i: chr(ord("a") + i) for i in range(26)}
    return table | {ord("’"): "'", 0x3000: " "}


def _meanings() -> dict[str, frozenset[Tag]]:
    meanings: dict[str, frozenset[Tag]] = {}
    for tag, phrases in PHRASES.items():
        for phrase in phrases.split(","):
            key = " ".join(phrase.split())
            meanings[key] = meanings.get(key, frozenset()) | {tag}
    crafts = frozenset({Tag.CRAFT1, Tag.CRAFT2, Tag.CRAFT3})
    for phrase, tags in list(meanings.items()):
        if tags & crafts and "a" <= phrase[-1] <= "z" and phrase[-1] != "s":
            meanings.setdefault(phrase + "s", tags & crafts)
    return meanings


_FOLDING = _folding()
_MEANINGS = _meanings()
_CHINESE = [phrase for phrase in _MEANINGS if phrase[0] > "\x7f"]
_LONGEST_FROM: dict[str, int] = {}
for _phrase in _CHINESE:
    _LONGEST_FROM[_phrase[0]] = max(_LONGEST_FROM.get(_phrase[0], 0), len(_phrase))
_WORDS_FROM: dict[str, int] = {}
for _phrase in _MEANINGS:
    if _phrase[0] <= "\x7f":
        _first, *_rest = _phrase.split()
        _WORDS_FROM[_first] = max(_WORDS_FROM.get(_first, 0), 1 + len(_rest))

_ARTICLES = words("the a an this that my our")
_TOKEN = re.compile(r"[a-z0-9]+(?:['/-][a-z0-9]+)*|[\u3400-\u9fff]+")


def fold(text: str) -> str:
    """``text`` in lower case, simplified characters and half-width letters, each character in its place."""
    return text.translate(_FOLDING)


def find_phrases(folded: str) -> tuple[Hit, ...]:
    """The phrases in ``folded``, in order and apart."""
    hits: list[Hit] = []
    tokens = list(_TOKEN.finditer(folded))
    at = 0
    for i, token in enumerate(tokens):
        if token.start() < at:
            continue
        if token[0] > "\x7f":
            hits += _chinese(folded, token)
        elif (hit := _english(folded, tokens, i)) and not _is_cut_short(folded, tokens, i, hit):
            hits.append(hit)
        if hits:
            at = hits[-1].end
    return tuple(hits)


def _english(folded: str, tokens: list[re.Match[str]], i: int) -> Hit | None:
    """The longest phrase that begins with token ``i``; its words stand at most two characters apart."""
    words = _WORDS_FROM.get(tokens[i][0], 0)
    if not words:
        return None
    start, end = tokens[i].span()
    ends = [end]
    for j in range(i + 1, min(i + words, len(tokens))):
        if not 0 < tokens[j].start() - end <= 2:
            break
        end = tokens[j].end()
        ends.append(end)
    before = tokens[i - 1][0] if i and start - tokens[i - 1].end() == 1 else ""
    for end in reversed(ends):
        phrase = " ".join(folded[start:end].split())
        if phrase in _MEANINGS:
            return Hit(phrase, _MEANINGS[phrase], start, end, before)
    return None


def _is_cut_short(folded: str, tokens: list[re.Match[str]], i: int, hit: Hit) -> bool:
    """Whether a phrase begins inside ``hit``, after its article, and goes on behind it: the | error handler."""
    if tokens[i][0] not in _ARTICLES or hit.end == tokens[i].end():
        return False
    inner = _english(folded, tokens, i + 1)
    return inner is not None and inner.end > hit.end


def _chinese(folded: str, token: re.Match[str]) -> Iterator[Hit]:
    """The longest phrases of a run of characters; a phrase may end in a Latin word, as 修bug does."""
    at = token.start()
    while at < token.end():
        for length in range(_LONGEST_FROM.get(folded[at], 0), 0, -1):
            phrase = folded[at : at + length]
            if phrase in _MEANINGS:
                yield Hit(phrase, _MEANINGS[phrase], at, at + len(phrase), folded[max(at - 2, 0) : at])
                at += len(phrase)
                break
        else:
            at += 1
