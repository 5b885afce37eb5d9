"""What the words of a message say of a stage, when there is no marker.

Law: a doubt never makes a pass. What is denied, expected, past, repaired, conditional or shown in a fence or a
quotation says nothing; good and bad news about the same thing are unclear, unless the bad news has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..texts import verdict_phrases as phrases
from ..turn.lexicon import fold
from ..turn.mask import Voice, mask
from .marker import without
from .tallies import tallies

TESTS = "tests"
REVIEWS = "reviews"
RETRO = "retro"

_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$|[*_)\"'])|[。！？!?；;\n]+")
_CLAUSE_END = re.compile(
    r"[,，:：、()|]|\s[-–—]+\s|[-=]>|→|\b(?:but|however|and|while|whereas|though|although|yet|so)\b"
    r"|但是?|不过|然而|可是|并且|而且|因此|所以"
)
_DECORATION = re.compile(r"[*#✅❌✔✗✘🟢🔴☑\ufe0f]|(?<![\w])_+|_+(?!\w)|^[ \t]*[-+>][ \t]", re.MULTILINE)
_QUESTION = re.compile(r"[?？]\s*\Z|[吗呢]\s*[?？。]?\s*\Z")
_ALTERNATIVE = re.compile(r"(?:\bor|\bnor|或|/|\|)\s{0,2}\Z")
_GOOD_WORDS = {TESTS: ("pass",), REVIEWS: ("pass", "approve"), RETRO: ("pass",)}
_BAD_WORDS = {TESTS: ("fail",), REVIEWS: ("fail", "reject"), RETRO: ("fail", "issues")}
_NEAR = 400
"""Characters of a sentence that are looked at before and after what is said."""

MAX_SIGNS = 200
"""Of more, the last ones count."""

_ZH_REACH = 10
"""Characters that a Chinese denial reaches."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that is said. ``good`` is None for bad news that may be none: it keeps from a pass, no more."""

    good: bool | None
    start: int
    end: int
    is_whole: bool = False
    """It speaks of everything, as "all tests" do, or counts the failures too."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The outcome of the words: ``good`` is None when they are unclear; ``quote`` is the sentence that decided."""

    good: bool | None
    quote: str = ""


def fold_all(text: str) -> str:
    """``text`` for matching: lower case, simplified; nothing moves."""
    return fold(text).translate(_MORE)


_MORE = {ord(old): new for old, new in phrases.FOLDED_TOO.items()}


def hear(text: str, family: str) -> Heard:
    """What ``text`` (markers taken out) says of a stage of ``family``."""
    folded = _own_voice(text)
    found = signs(folded, family)
    good = [sign for sign in found if sign.good]
    bad = [sign for sign in found if sign.good is False]
    if bad and (not good or _has_last_word(folded, good, bad)):
        return Heard(False, sentence_at(text, bad[-1].start))
    if not good or len(good) + len(bad) < len(found):
        return Heard(None)
    if bad and not (good[-1].is_whole and _says(phrases.NOW, _sentence(folded, good[-1].start)[0])):
        return Heard(None)
    return Heard(True, sentence_at(text, good[-1].start))


def says_undone(text: str) -> str:
    """The sentence of ``text`` that says clearly that the work could not be done; empty when none does."""
    folded = _own_voice(text)
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(folded)), len(folded)):
        sentence = folded[start:end]
        lead = len(sentence) - len(sentence.lstrip())
        found = _pattern(phrases.UNDONE).search(sentence[lead:])
        if found and not _says(phrases.IF, sentence[: lead + found.start()]):
            before = sentence[: lead + found.start()]
            if not (_says(phrases.HISTORY, before) or _says(phrases.NEGATION, before)):
                return sentence_at(text, start + lead)
        start = end
    return ""


def gives_reason(folded: str) -> bool:
    """Whether a sentence has a word that says why."""
    return _says(phrases.REASONS, folded)


def sentence_at(text: str, at: int) -> str:
    """The sentence of ``text`` around offset ``at``, at most 200 characters of it."""
    return " ".join(_sentence(text, at)[0].split())[:200]


def signs(folded: str, family: str) -> tuple[Sign, ...]:
    """All that is said in ``folded``, what says nothing left out, in order."""
    return tuple(sorted(_signs(folded, family), key=lambda sign: sign.start))


def _signs(folded: str, family: str) -> Iterator[Sign]:
    taken = []
    if family == TESTS:
        counted = tallies(folded)
        none_failed = any(tally.good is None and tally.is_whole for tally in counted)
        for tally in counted[-MAX_SIGNS:]:
            taken.append((tally.start, tally.end))
            if tally.good is not None:
                sign = Sign(tally.good, tally.start, tally.end, tally.is_whole or none_failed)
                yield from _in_context(folded, sign, family)
        yield from _doubts(folded)
    folded = without(folded, taken)
    for good, words in ((False, _BAD_WORDS), (True, _GOOD_WORDS)):
        for found in _stated(words[family]).finditer(folded):
            if found.end() > found.start():
                yield Sign(good, found.start("said"), found.end(), is_whole=True)
        folded = without(folded, (found.span() for found in _stated(words[family]).finditer(folded)))
    for good, found in list(_phrased(folded, family))[-MAX_SIGNS:]:
        if not _ALTERNATIVE.search(folded[max(found.start() - 5, 0) : found.start()]):
            whole = _says(phrases.WHOLE, _clause(folded, *found.span())[0] + found[0])
            yield from _in_context(folded, Sign(good, found.start(), found.end(), whole), family)


def _doubts(folded: str) -> Iterator[Sign]:
    """What was not run, or ended oddly."""
    for found in list(_pattern(phrases.DOUBTS).finditer(folded))[-MAX_SIGNS:]:
        sentence, start = _sentence(folded, found.start())
        if not _says(phrases.DESCRIBING, sentence[: found.start() - start]):
            for sign in _in_context(folded, Sign(False, found.start(), found.end()), TESTS):
                yield Sign(None, sign.start, sign.end)


def _is_limited(sentence: str, before: str, later: str, family: str) -> bool:
    """Whether good news are only good for a part, or not yet."""
    if _says(phrases.LIMITED, before) or _says(phrases.EXCEPT, sentence) or _says(phrases.BUT, later):
        return True
    return family == REVIEWS and _says(phrases.LATER, sentence)


def _phrased(folded: str, family: str) -> Iterator[tuple[bool, re.Match[str]]]:
    """The phrases of the tables, apart; of two that overlap the one that begins first, then the longer one."""
    found = [
        (good, match)
        for good, table in ((False, phrases.BAD), (True, phrases.GOOD))
        for match in _pattern(table[family]).finditer(folded)
    ]
    at = 0
    for good, match in sorted(found, key=lambda one: (one[1].start(), -one[1].end())):
        if match.start() >= at:
            yield good, match
            at = match.end()


def _in_context(folded: str, sign: Sign, family: str) -> Iterator[Sign]:
    """``sign`` as it is meant there: itself, a doubt, or nothing."""
    before, after = _clause(folded, sign.start, sign.end)
    sentence, start = _sentence(folded, sign.start)
    earlier, later = sentence[: sign.start - start], sentence[sign.end - start :]
    if _QUESTION.search(sentence) or _says(phrases.IF, earlier) or _says(phrases.HYPOTHESIS, before):
        return
    if _is_denied(before) or (sign.good and _is_limited(sentence, before, later, family)):
        return
    if _says(phrases.IF, later):
        if not sign.good:
            yield Sign(None, sign.start, sign.end)
        return
    own = before + folded[sign.start : sign.end] + after
    is_present = _says(phrases.STILL, own)
    was = _last_end(phrases.HISTORY, earlier) > _last_end(phrases.NOW, earlier) or _says(phrases.HISTORY, after)
    if was and not is_present:
        return
    is_about = _says(phrases.DESCRIBING, before) or (
        folded.startswith("fail", sign.start) and _says(phrases.NAMING, before)
    )
    is_repaired = _says(phrases.REPAIRED, before) or _says(phrases.REPAIRED, later)
    if not sign.good and not is_present and (is_about or is_repaired):
        return
    yield sign


def _has_last_word(folded: str, good: list[Sign], bad: list[Sign]) -> bool:
    """Whether the bad news comes last, or in one sentence with the last good news."""
    last_good = _sentence(folded, good[-1].start)
    return bad[-1].start > good[-1].start or _sentence(folded, bad[-1].start) == last_good


def _own_voice(text: str) -> str:
    """``text`` folded, with spaces for what is fenced, quoted or decoration. Printed summaries stay."""
    shown = (Voice.FENCE, Voice.INLINE, Voice.QUOTE, Voice.URL)
    places = ((span.start, span.end) for span in mask(text).spans if span.voice in shown)
    return _DECORATION.sub(lambda found: " " * len(found[0]), fold_all(without(text, places)))


def _sentence(text: str, at: int) -> tuple[str, int]:
    """The sentence around ``at``, as far as it is near, and where it begins."""
    low, high = max(at - _NEAR, 0), min(at + _NEAR, len(text))
    ends = [low, *(found.end() for found in _SENTENCE_END.finditer(text, low, high)), high]
    start = max(end for end in ends if end <= at)
    return text[start : min((end for end in ends if end > at), default=high)], start


def _clause(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after a place in its clause."""
    sentence, offset = _sentence(text, start)
    low, high = start - offset, max(end - offset, 0)
    cuts = list(_CLAUSE_END.finditer(sentence))
    left = max((cut.end() for cut in cuts if cut.end() <= low), default=0)
    right = min((cut.start() for cut in cuts if cut.start() >= high), default=len(sentence))
    return sentence[left:low], sentence[high:right]


def _is_denied(before: str) -> bool:
    found = list(_pattern(phrases.NEGATION).finditer(before))
    if not found:
        return False
    last = found[-1]
    return last[0].isascii() or len(before) - last.end() <= _ZH_REACH


def _says(table: str, text: str) -> bool:
    return _pattern(table).search(text) is not None


def _last_end(table: str, text: str) -> int:
    return max((found.end() for found in _pattern(table).finditer(text)), default=-1)


@cache
def _pattern(table: str) -> re.Pattern[str]:
    """One pattern for all lines of a table; English lines match whole words."""
    parts = (rf"(?<![a-z0-9_]){one}(?![a-z0-9_])" if one.isascii() else one for one in phrases.patterns(table))
    return re.compile("|".join(f"(?:{part})" for part in parts), re.MULTILINE)


@cache
def _stated(words: tuple[str, ...]) -> re.Pattern[str]:
    """A verdict that stands alone on its line, or after a label and a colon, and is not one of several."""
    said = "|".join(one for word in words for one in phrases.patterns(phrases.SAID_OF_ANY[word]))
    labels = "|".join(phrases.patterns(phrases.LABELS))
    return re.compile(
        rf"(?:^[ \t]*|(?:{labels})\s{{0,3}}(?:[:：=—–-]+|\bis\b|是|为)\s{{0,4}})(?P<said>{said})"
        r"(?![a-z0-9_])(?=[ \t]*(?:[.!。！,，;；:：(（—–-]|$))(?!\s{0,3}(?:/|\||-\w|\bor\b|或))",
        re.MULTILINE,
    )
